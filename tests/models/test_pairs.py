"""What is said of pairs beforehand is what becomes of them when they are scored."""

from __future__ import annotations

import pytest

from sbert import Backbone, BiEncoder, CrossEncoder, PolyEncoder
from sbert.errors import TextTooLong

PAIRS = [("고양이가 앉아 있다.", "A cat sits."), ("네.", "No.")]


@pytest.fixture
def prompted(tiny_folder):
    """With prompts that leave room for no more than the shortest texts."""
    prompts = {"query": "찾을 글은 다음과 같다: ", "document": "a text that may be found: "}
    model = BiEncoder(Backbone.from_pretrained(tiny_folder("bert")), prompts=prompts, default_prompt_name="query")
    model.max_seq_length = len(model.tokenize([prompts["query"]]).ids) + 3
    assert not BiEncoder(Backbone(model.tokenizer, model.transformer)).pair_truncation([PAIRS]).truncated
    return model


def test_a_default_prompt_takes_room(prompted):
    account = prompted.pair_truncation([PAIRS])
    assert account.truncated > 0
    with pytest.raises(TextTooLong, match=f"^{account.truncated} of 4 texts .* the longest has {account.longest};"):
        prompted.encode([text for pair in PAIRS for text in pair], on_truncate="raise")


def test_so_do_the_prompts_of_queries_and_documents(prompted):
    poly = PolyEncoder(prompted, 2)
    account = poly.pair_truncation([PAIRS[:1], PAIRS[1:]])
    queries, documents = zip(*PAIRS, strict=True)
    lost = 0
    for texts, encode in ((queries, poly.encode_query), (documents, poly.encode_document)):
        for text in texts:
            try:
                encode(text, on_truncate="raise")
            except TextTooLong:
                lost += 1
    assert account.truncated == lost > 0


def test_pairs_are_read_without_prompts(tiny_folder):
    model = CrossEncoder.from_pretrained(tiny_folder("bert"), max_seq_length=12)
    account = model.pair_truncation([PAIRS])
    assert (account.unit, account.texts) == ("pairs", 2)
    with pytest.raises(TextTooLong, match=f"^{account.truncated} of 2 pairs"):
        model.predict(PAIRS, on_truncate="raise")
