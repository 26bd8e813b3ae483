"""Tokenizers read without transformers give what AutoTokenizer gives."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from itertools import chain

import pytest
from transformers import AutoTokenizer

from sbert import hub
from sbert.errors import BadModel

ARCHITECTURES = [
    *("bert", "roberta", "xlm-roberta", "electra", "distilbert"),
    *("mpnet", "modernbert", "deberta-v2", "albert"),
]


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, "bundled"])
def test_same_ids_as_auto_tokenizer(tiny_folder, sentences, architecture):
    folder = hub.resolve() if architecture == "bundled" else tiny_folder(architecture)
    tokenizer, _ = hub.read_backbone(folder)
    expected = AutoTokenizer.from_pretrained(folder)(sentences, truncation=True, max_length=tokenizer.max_length)
    tokens = tokenizer(sentences)
    assert tokens.ids.tolist() == list(chain(*expected["input_ids"]))
    assert tokens.lengths.tolist() == [len(ids) for ids in expected["input_ids"]]
    assert tokens.truncation.truncated > 0


def test_vocab_txt_alone(tmp_path, sentences):
    folder = shutil.copytree(hub.resolve(), tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    expected, _ = hub.read_backbone(hub.resolve())
    got, _ = hub.read_backbone(folder)
    assert got(sentences).ids.tolist() == expected(sentences).ids.tolist()


def test_inputs_that_are_not_said_are_the_usual_ones(tmp_path):
    folder = shutil.copytree(hub.resolve(), tmp_path / "m")
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "model_input_names": None}))
    assert hub.read_backbone(folder)[0].pairs([("비가 온다.", "It rains.")]).types is not None


def test_no_vocabulary_at_all(tmp_path):
    folder = shutil.copytree(
        hub.resolve(), tmp_path / "m", ignore=shutil.ignore_patterns("vocab.txt", "tokenizer.json")
    )
    with pytest.raises(BadModel, match="gives no tokenizer"):
        hub.read(folder)


def test_no_code_is_run_for_a_tokenizer(tmp_path):
    folder = shutil.copytree(hub.resolve(), tmp_path / "m")
    (folder / "tokenizer.json").unlink()
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'trap')!r}, 'w')\n")
    path = folder / "tokenizer_config.json"
    changed = {**json.loads(path.read_text()), "auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}}
    for kind in ("BertTokenizer", "EvilTokenizer"):
        path.write_text(json.dumps({**changed, "tokenizer_class": kind}))
        with suppress(BadModel):
            hub.read_backbone(folder)
    assert not (tmp_path / "trap").exists()
