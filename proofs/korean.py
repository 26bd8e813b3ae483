"""Korean from nothing: a WordPiece vocabulary and a small ELECTRA with random weights, taught KLUE-NLI, then KorSTS.

No Korean checkpoint comes with this project, so this proves the path, not a state of the art: a model that never saw
more than 25,000 pairs of sentences is far from one pretrained on gigabytes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from sidebyside import data_folder, finish
from sidebyside.tasks import similarity
from tokenizers import BertWordPieceTokenizer
from tokenizers.processors import BertProcessing
from transformers import ElectraConfig, ElectraModel, PreTrainedTokenizerFast

from sbert import BiEncoder, Columns, TrainConfig, Trainer, losses
from sbert.data import read


def raw_model(texts: list[str], folder: Path) -> BiEncoder:
    """A small ELECTRA that knows the letters and frequent pieces of ``texts``, and nothing of their meaning."""
    tokenizer = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    tokenizer.train_from_iterator(texts, vocab_size=8000, show_progress=False)
    sep, cls = ((token, tokenizer.token_to_id(token)) for token in ("[SEP]", "[CLS]"))
    tokenizer._tokenizer.post_processor = BertProcessing(sep, cls)
    roles = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokens = {f"{role}_token": token for role, token in roles.items()}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer, model_max_length=128, **tokens).save_pretrained(
        folder
    )
    torch.manual_seed(0)
    sizes = {"embedding_size": 128, "hidden_size": 192, "num_hidden_layers": 3, "num_attention_heads": 4}
    config = ElectraConfig(
        vocab_size=tokenizer.get_vocab_size(), intermediate_size=768, max_position_embeddings=128, **sizes
    )
    ElectraModel(config).save_pretrained(folder)
    return BiEncoder.from_pretrained(folder)


def train(model: BiEncoder, data: Columns, loss: object, folder: Path, epochs: int) -> None:
    config = TrainConfig(output_dir=str(folder), epochs=epochs, batch_size=32, learning_rate=5e-4, eval_steps=400)
    Trainer(model, config, train=data, loss=loss, evaluator=similarity("korsts", "dev")).train(True, True)


def main() -> None:
    nli, sts = read(data_folder() / "klue_nli.tsv.gz"), read(data_folder() / "korsts.tsv.gz")
    test = similarity("korsts", "test")
    texts = [text for columns in (nli, sts) for column in columns.texts.values() for text in column]
    with tempfile.TemporaryDirectory() as place:
        model = raw_model(texts, Path(place) / "raw")
        scores = {"random": test(model)["spearman_cosine"]}
        torch.manual_seed(0)
        objective = losses.SoftmaxClassifier(model.embedding_dimension, nli.label_names)
        train(model, nli, objective, Path(place) / "nli", epochs=1)
        scores["KLUE-NLI"] = test(model)["spearman_cosine"]
        train(model, sts, losses.cosine_mse, Path(place) / "sts", epochs=3)
        scores["KLUE-NLI, then KorSTS"] = test(model)["spearman_cosine"]
    print("KorSTS test:", ", ".join(f"{name} {score:.2f}" for name, score in scores.items()))
    finish(
        "prove-korean",
        {"korean_gain_over_random": (scores["KLUE-NLI, then KorSTS"] - scores["random"], 0.0)},
        {"korsts_spearman": scores},
    )


if __name__ == "__main__":
    main()
