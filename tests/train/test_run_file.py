"""Run files and recipes: from TOML to a trainer that is ready to go."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from scipy.stats import spearmanr

from sbert import BiEncoder, CrossEncoder, Dense, Normalize, PolyEncoder, load, losses
from sbert.errors import BadInput, BadModel, BadOption
from sbert.evaluate import Similarity, Triplets
from sbert.train.run import settings
from sbert.train.run.build import assemble
from sbert.train.run.file import RunFile

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
PAIRS = [
    ("한 남자가 기타를 친다.", "사람이 악기를 연주한다.", "entailment", 4.5),
    ("Two dogs run.", "The dogs sleep.", "contradiction", 1.0),
    ("고양이가 잔다.", "기차가 늦는다.", "neutral", 0.2),
    ("A man eats.", "Someone has a meal.", "entailment", 4.8),
    ("비가 온다.", "비가 내린다.", "entailment", 5.0),
    ("A train leaves.", "The train stays.", "contradiction", 1.2),
]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Where the run is: small files under the names that publishers and we use."""
    monkeypatch.chdir(tmp_path)
    nli = [{"gold_label": label, "sentence1": a, "sentence2": b} for a, b, label, _ in PAIRS]
    nli.append({"gold_label": "-", "sentence1": "A", "sentence2": "B"})
    for name in ("snli_1.0/snli_1.0_train.jsonl", "multinli_1.0_train.jsonl"):
        write(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in nli))
    sts = "".join(f"main\tMSRvid\t2012\t{row}\t{score}\t{a}\t{b}\n" for row, (a, b, _, score) in enumerate(PAIRS))
    write("stsbenchmark/sts-train.csv", sts)
    write("stsbenchmark/sts-dev.csv", sts)
    write("nli.tsv", "premise\thypothesis\tlabel\n" + "".join(f"{a}\t{b}\t{label}\n" for a, b, label, _ in PAIRS))
    write("sts.tsv", "sentence1\tsentence2\tscore\n" + "".join(f"{a}\t{b}\t{score}\n" for a, b, _, score in PAIRS))
    write("triplets.tsv", "anchor\tpositive\tnegative\n" + "".join(f"{a}\t{b}\t{a[::-1]}\n" for a, b, *_ in PAIRS))
    return tmp_path


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


@pytest.fixture
def run(folder, tiny_folder) -> Callable[..., RunFile]:
    """``run("data.train=['sts.tsv']", "loss.name=cosine")``: a run of a tiny model."""
    start = {"model": {"name": str(tiny_folder("bert"))}, "train": {"output_dir": "runs/a", "batch_size": 2}}

    def make(*overrides: str) -> RunFile:
        tables = start
        for assignment in overrides:
            tables = settings.override(tables, assignment)
        return RunFile.of(tables)

    return make


def test_reads_a_file_with_overrides(folder):
    write(
        "실행.toml",
        '[data]\ntrain = ["a.tsv"]\n[loss]\nname = "triplet"\nmargin = 2\n[train]\noutput_dir = "runs/a"\n',
    )
    read = RunFile.read("실행.toml", ["train.epochs=3", "loss.distance=cosine", "data.label_map={yes = 1, no = 0}"])
    assert read.data.train == ("a.tsv",)
    assert (read.loss.name, read.loss.options) == ("triplet", {"margin": 2, "distance": "cosine"})
    assert (read.train.epochs, read.model.name) == (3, None)
    assert read.data.label_map == {"yes": 1, "no": 0}


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("modle.name=a", "a table of the run file is 'modle', but .* did you mean 'model'"),
        ("data.trian=[]", "a key of data is 'trian', .* did you mean 'train'"),
        ("data.train=[]", "data.train names no file"),
        ("data.train=a.tsv", r"data\.train is 'a\.tsv', but must be a list, each text or a list of texts"),
        ("model=bert", "model is 'bert', but must be a table"),
        ("loss.dims=[1.5]", r"loss\.dims is \[1\.5\], but must be a list of whole numbers or 'none'"),
        ("train.epochs=0", "epochs is 0, but must be at least 1"),
        ("train.epochs=twice", r"train\.epochs is 'twice', but must be a whole number"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(override, sentence):
    tables = {"data": {"train": ["a.tsv"]}, "loss": {"name": "cosine"}, "train": {"output_dir": "a"}}
    with pytest.raises(BadInput, match=f"^{sentence}"):
        RunFile.of(settings.override(tables, override))


def test_every_part_is_needed():
    with pytest.raises(BadInput, match=r"^data\.train is missing; set data\.train$"):
        RunFile.of({})
    with pytest.raises(BadInput, match=r"set train\.output_dir$"):
        RunFile.of({"data": {"train": ["a.tsv"]}, "loss": {"name": "cosine"}})


def test_trainer_of_nli(run):
    nli = run("data.train=['nli.tsv']", "data.dev=sts.tsv", "loss.name=softmax", "loss.concat=['u', 'v']")
    trainer = assemble(nli)
    softmax = trainer.losses[0]
    assert isinstance(softmax, losses.SoftmaxClassifier)
    assert (softmax.labels, softmax.concat) == (("contradiction", "entailment", "neutral"), ("u", "v"))
    assert isinstance(trainer.evaluator, Similarity)
    assert trainer.total_steps == 3
    assert not Path("runs").exists()


def test_new_weights_follow_from_the_seed(run):
    def weights(seed: int) -> torch.Tensor:
        torch.rand(seed)  # whatever came before
        made = assemble(run("data.train=['nli.tsv']", "loss.name=softmax", f"train.seed={seed}"))
        return made.losses[0].linear.weight

    before = torch.get_rng_state()
    assemble(run("data.train=['nli.tsv']", "loss.name=softmax"))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(weights(7), weights(7))
    assert not torch.equal(weights(7), weights(8))


def test_several_files_share_one_objective(run):
    trainer = assemble(run("data.train=['nli.tsv', 'multinli_1.0_train.jsonl']", "loss.name=softmax"))
    assert [len(data) for data in trainer.datasets] == [6, 6]
    assert trainer.datasets[1].skipped == 1
    assert trainer.losses[0] is trainer.losses[1]
    write("other.tsv", "premise\thypothesis\tlabel\nA\tB\t예\nC\tD\t아니\n")
    with pytest.raises(
        BadInput, match=r"^nli\.tsv has the classes contradiction, .* but other\.tsv has 아니, 예; make"
    ):
        assemble(run("data.train=['nli.tsv', 'other.tsv']", "loss.name=softmax"))


def test_first_alternative_that_exists(run):
    trainer = assemble(run("data.train=[['sts-train.csv', 'sts.tsv', 'nli.tsv']]", "loss.name=cosine"))
    assert trainer.datasets[0].name == "sts.tsv"
    twice = assemble(run("data.train=[['a.tsv', 'sts.tsv'], ['b.tsv', 'sts.tsv']]", "loss.name=cosine"))
    assert len(twice.datasets) == 1
    with pytest.raises(BadInput, match=r"^there is none of 'a', 'b' in the current folder; put it there, or name its"):
        assemble(run("data.train=[['a', 'b']]", "loss.name=cosine"))


def test_folder_of_the_data(run, folder):
    trainer = assemble(run("data.train=['sts-train.csv']", "data.folder=stsbenchmark", "loss.name=cosine"))
    assert len(trainer.datasets[0]) == 6
    absolute = json.dumps([str(folder / "sts.tsv")])
    assert len(assemble(run(f"data.train={absolute}", "data.folder=x", "loss.name=cosine")).datasets[0]) == 6
    with pytest.raises(BadInput, match=r"^there is no file 'sts\.tsv' in the folder 'stsbenchmark'"):
        assemble(run("data.train=['sts.tsv']", "data.folder=stsbenchmark", "loss.name=cosine"))


def test_settings_of_the_data_reach_the_reader(run):
    write("평가.jsonl", "".join(json.dumps({"글": a, "짝": b, "점수": score}) + "\n" for a, b, _, score in PAIRS))
    named = ["data.columns=['글', '짝']", "data.label=점수", "data.label_kind=score", "data.score_range=[0, 10]"]
    trainer = assemble(
        run("data.train=['평가.jsonl']", "data.dev=평가.jsonl", *named, "data.limit=4", "loss.name=cosent")
    )
    assert trainer.datasets[0].labels.max() == pytest.approx(0.48)
    assert len(trainer.datasets[0]) == 4
    assert len(trainer.evaluator.gold) == 6


def test_evaluator_that_fits_the_dev_file(run, caplog):
    base = ["data.train=['triplets.tsv']", "loss.name=triplet"]
    assert isinstance(assemble(run(*base, "data.dev=triplets.tsv")).evaluator, Triplets)
    assert assemble(run(*base)).evaluator is None
    with caplog.at_level(logging.WARNING, "sbert"):
        assert assemble(run(*base, "data.dev=nli.tsv")).evaluator is None
    assert "nli.tsv contains neither pairs with scores nor triplets, so nothing is evaluated" in caplog.text


def test_loss_that_does_not_fit_names_the_file(run):
    with pytest.raises(BadInput, match=r"^sts\.tsv: softmax got two text columns and a score .* suits cosine"):
        assemble(run("data.train=['sts.tsv']", "loss.name=softmax"))
    with pytest.raises(BadOption, match="did you mean 'cosine'"):
        assemble(run("data.train=['sts.tsv']", "loss.name=cosin"))
    with pytest.raises(BadOption, match=r"an option of triplet is 'margn', .* did you mean 'margin'"):
        assemble(run("data.train=['triplets.tsv']", "loss.name=triplet", "loss.margn=1"))


def test_matryoshka(run):
    loss = assemble(run("data.train=['sts.tsv']", "loss.name=cosine", "loss.dims=[32, 8]")).losses[0]
    assert loss.keywords["dims"] == (32, 8)


def test_pooling_of_a_bare_encoder(run):
    base = ["data.train=['sts.tsv']", "loss.name=cosine"]
    assert assemble(run(*base)).model.pooling == ("mean",)
    assert assemble(run(*base, "model.pooling=cls")).model.pooling == ("cls",)
    both = assemble(run(*base, "model.pooling=['mean', 'max']", "model.max_seq_length=20")).model
    assert (both.pooling, both.embedding_dimension, both.max_seq_length) == (("mean", "max"), 64, 20)
    with pytest.raises(BadOption, match="did you mean 'mean'"):
        assemble(run(*base, "model.pooling=meen"))


def test_a_whole_model_keeps_its_pooling(run, tiny_folder):
    bare = BiEncoder.from_pretrained(tiny_folder("bert"))
    bare.heads.extend([Dense(32, 16), Normalize()])
    bare.truncate_dim = 4
    bare.save_pretrained("모형")
    base = ["data.train=['nli.tsv']", "loss.name=softmax", "model.name=모형"]
    trainer = assemble(run(*base, "model.pooling=mean"))
    assert len(trainer.model.heads) == 2
    assert trainer.losses[0].linear.in_features == 3 * 16  # what the network gives, not what users of the model see
    with pytest.raises(BadInput, match=r"^model\.pooling is cls, but 모형 has layers after its own pooling \(mean\)"):
        assemble(run(*base, "model.pooling=cls"))


def test_a_cross_encoder_of_scores(run):
    trainer = assemble(run("data.train=['sts.tsv']", "data.dev=sts.tsv", "model.kind=cross", "train.epochs=2"))
    model = trainer.model
    assert (type(model), model.labels, model.scale) == (CrossEncoder, ("score",), "sigmoid")
    assert trainer.losses[0].func is losses.mse
    result = trainer.train()
    assert -100 <= result.best_score <= 100
    scores = load("runs/a").predict([(a, b) for a, b, *_ in PAIRS])
    figures = Similarity(*zip(*[(a, b) for a, b, *_ in PAIRS], strict=True), [row[3] for row in PAIRS])(model)
    assert figures["spearman"] == pytest.approx(100 * spearmanr(scores, [row[3] for row in PAIRS]).statistic)
    assert result.best_score == figures["spearman"]


def test_a_cross_encoder_of_classes(run):
    trainer = assemble(run("data.train=['nli.tsv']", "data.dev=nli.tsv", "model.kind=cross", "train.epochs=2"))
    assert trainer.losses[0].func is losses.cross_entropy
    assert trainer.metric == "accuracy"
    assert trainer.model.labels == ("contradiction", "entailment", "neutral")
    trainer.train()
    found = load("runs/a").predict([(a, b) for a, b, *_ in PAIRS]).argmax(axis=1)
    right = [trainer.model.labels[place] == row[2] for place, row in zip(found, PAIRS, strict=True)]
    assert trainer.evaluator(trainer.model)["accuracy"] == pytest.approx(100 * sum(right) / 6)


def test_the_kind_is_what_the_folder_holds(run):
    base = ["data.train=['nli.tsv']", "loss.name=cross-entropy"]
    assemble(run(*base, "model.kind=cross", "train.output_dir=runs/cross")).train()
    again = assemble(run(*base, "model.name=runs/cross")).model
    assert isinstance(again, CrossEncoder)
    first = CrossEncoder.from_pretrained("runs/cross")
    assert torch.equal(again.head.projection.weight, first.head.projection.weight)  # no new head
    with pytest.raises(
        BadInput, match=r"^sts\.tsv: cosine is for bi-encoders; for a cross-encoder choose cosent, mse, bce"
    ):
        assemble(run("data.train=['sts.tsv']", "loss.name=cosine", "model.name=runs/cross"))
    with pytest.raises(
        BadInput, match=r"labels contradiction, entailment, neutral, but the loss learns one score .*; use data"
    ):
        assemble(run("data.train=['sts.tsv']", "model.name=runs/cross"))
    write("other.tsv", "premise\thypothesis\tlabel\nA\tB\t예\nC\tD\t아니\n")
    with pytest.raises(BadInput, match=r"^the model has the labels contra.* the data has the classes 아니, 예; make"):
        assemble(run("data.train=['other.tsv']", "model.name=runs/cross"))
    with pytest.raises(
        BadModel, match=r"cross/model holds a CrossEncoder, but a bi-encoder .*, or name another model$"
    ):
        assemble(run("data.train=['sts.tsv']", "loss.name=cosine", "model.name=runs/cross", "model.kind=bi"))
    with pytest.raises(
        BadModel, match=r"cross/model holds a CrossEncoder, but a bi-encoder .*, or name another model$"
    ):
        assemble(run("data.train=['sts.tsv']", "model.name=runs/cross", "model.kind=poly"))


def test_classes_name_outputs_that_have_no_names(run, tiny_classifier):
    model = assemble(run("data.train=['nli.tsv']", f"model.name={tiny_classifier('bert', 3)}")).model
    assert model.labels == ("contradiction", "entailment", "neutral")


def test_a_new_head_follows_from_the_seed_and_takes_the_body(run, tiny_folder):
    def head(seed: int, name: str = "") -> CrossEncoder:
        named = [f"model.name={name}"] if name else []
        return assemble(run("data.train=['sts.tsv']", "model.kind=cross", f"train.seed={seed}", *named)).model

    direct = CrossEncoder.from_pretrained(tiny_folder("bert"), seed=7)
    pairs = [("비가 온다", "눈이 온다"), ("A cat", "")]
    assert head(7).predict(pairs).tolist() == direct.predict(pairs).tolist()
    assert head(8).predict(pairs).tolist() != direct.predict(pairs).tolist()
    BiEncoder.from_pretrained(tiny_folder("bert")).save_pretrained("이중")  # asked for by name, so no surprise
    assert head(7, "이중").labels == ("score",)


def test_what_a_cross_encoder_has_no_use_for(run):
    base = ["data.train=['sts.tsv']", "model.kind=cross"]
    with pytest.raises(BadInput, match=r"^model\.pooling is for bi-encoders"):
        assemble(run(*base, "model.pooling=cls"))
    with pytest.raises(BadInput, match="only a bi-encoder's vectors have sizes"):
        assemble(run(*base, "loss.dims=[8, 4]"))
    with pytest.raises(BadInput, match=r"^model\.kind is 'crss', .* did you mean 'cross'"):
        assemble(run("data.train=['sts.tsv']", "model.kind=crss"))


def test_a_loss_is_only_left_out_where_it_is_plain(run):
    with pytest.raises(BadInput, match=r"a bi-encoder needs one, such as cosine, cosent, angle, which sts\.tsv suits"):
        assemble(run("data.train=['sts.tsv']"))
    with pytest.raises(BadInput, match=r"^triplets\.tsv has three text columns and no label, but no loss"):
        assemble(run("data.train=['triplets.tsv']", "model.kind=cross"))


def test_dev_data_that_a_cross_encoder_cannot_be_measured_on(run, caplog):
    with caplog.at_level(logging.WARNING, "sbert"):
        made = assemble(run("data.train=['nli.tsv']", "data.dev=sts.tsv", "model.kind=cross"))
    assert made.evaluator is None
    assert "sts.tsv contains neither pairs with scores nor pairs with the model's classes" in caplog.text


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_a_run_file(path):
    read = RunFile.read(path)
    assert read.train.output_dir == f"runs/{path.stem}"
    assert (read.train.batch_size, read.train.learning_rate, read.train.warmup_ratio) == (16, 2e-5, 0.1)
    assert read.loss.name in losses.OBJECTIVES
    losses.make(read.loss.name, read.loss.options, dim=8, labels=("a", "b"), kind=read.model.kind or "bi")


def test_the_recipes():
    paper = {"nli", "stsb", "nli-then-stsb", "sections", "kornli", "korsts"}
    cross = {"cross-stsb", "cross-nli", "cross-korsts", "cross-klue-nli"}
    assert {path.stem for path in RECIPES} == paper | cross | {"augmented-stsb"}
    assert {path.stem for path in RECIPES if RunFile.read(path).model.kind == "cross"} == cross


@pytest.mark.parametrize(
    "path", [path for path in RECIPES if path.stem != "augmented-stsb"], ids=lambda path: path.stem
)
def test_every_recipe_finds_its_packaged_data(path, shared_data, tiny_folder):
    overrides = [f"data.folder={shared_data}", "data.limit=20", f"model.name={tiny_folder('bert')}"]
    if path.stem == "sections":  # as its header says
        overrides += ["data.split=valid", "data.dev_split=test"]
    trainer = assemble(RunFile.read(path, overrides))
    assert {len(data) for data in trainer.datasets} == {20}
    assert trainer.evaluator is not None


def test_recipe_of_nli_from_end_to_end(folder, tiny_folder):
    recipe = next(path for path in RECIPES if path.stem == "nli")
    trainer = assemble(RunFile.read(recipe, [f"model.name={tiny_folder('bert')}", "train.batch_size=4"]))
    assert [Path(data.name).name for data in trainer.datasets] == ["snli_1.0_train.jsonl", "multinli_1.0_train.jsonl"]
    result = trainer.train()
    assert result.steps == 4
    assert -100 <= result.best_score <= 100
    trained = BiEncoder.from_pretrained("runs/nli")
    assert (trained.pooling, trained.max_seq_length) == (("mean",), 128)
    assert Path("runs/nli/model/modules.json").is_file()


def test_a_unicode_form_becomes_part_of_the_model(run):
    trainer = assemble(run("data.train=['sts.tsv']", "loss.name=cosine", "model.unicode_form=NFKC"))
    assert '"NFKC"' in trainer.model.tokenizer.backend.to_str()


def test_recipe_after_recipe(folder, tiny_folder):
    start = [f"model.name={tiny_folder('bert')}", "train.epochs=1"]
    nli, then = (next(path for path in RECIPES if path.stem == name) for name in ("nli", "nli-then-stsb"))
    assemble(RunFile.read(nli, [*start, "data.limit=2"])).train()
    second = assemble(RunFile.read(then, ["train.epochs=1"]))
    assert torch.equal(
        second.model.transformer.state_dict()["words.weight"],
        BiEncoder.from_pretrained("runs/nli/model").transformer.state_dict()["words.weight"],
    )


def test_recipe_of_gold_and_silver(folder, tiny_folder):
    write("silver.tsv", "sentence1\tsentence2\tscore\n비가 온다.\t비가 내린다.\t4.5\n고양이\tA train\t0.25\n")
    recipe = next(path for path in RECIPES if path.stem == "augmented-stsb")
    trainer = assemble(RunFile.read(recipe, [f"model.name={tiny_folder('bert')}"]))
    assert [Path(data.name).name for data in trainer.datasets] == ["sts-train.csv", "silver.tsv"]
    assert trainer.datasets[1].labels.tolist() == pytest.approx([0.9, 0.05])  # on the scale of the gold ones


def test_the_run_file_of_the_page_works_with_the_packaged_data(folder, shared_data, tiny_folder):
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    Path("쪽.toml").write_text(block, encoding="utf-8")
    overrides = [f"data.folder={shared_data}", f"model.name={tiny_folder('bert')}", "data.limit=20"]
    read = RunFile.read("쪽.toml", overrides)
    assert read.data.train == (("KorNLI/multinli.train.ko.tsv", "klue_nli.tsv.gz"),)
    trainer = assemble(read)
    assert (len(trainer.datasets[0]), trainer.metric) == (20, "spearman_cosine")
    assert read.loss.options == {"concat": ["u", "v", "|u-v|"]}
    assert [path.name for path in RECIPES if f"`recipes/{path.name}`" not in page] == []


def test_a_poly_encoder_of_questions_and_answers(run):
    write("answers.tsv", "question\tanswer\n" + "".join(f"{a}\t{b}\n" for a, b, *_ in PAIRS))
    base = ["data.train=['answers.tsv']", "data.dev=answers.tsv", "model.kind=poly", "model.num_codes=4"]
    trainer = assemble(run(*base, "model.towers=separate", "train.epochs=2"))
    assert (trainer.model.num_codes, trainer.model.tower is None) == (4, False)
    assert trainer.losses[0].func is losses.poly_nce
    assert [len(sample.negative) for sample in trainer.evaluator.samples] == [5] * 6
    result = trainer.train()
    again = load("runs/a")
    assert isinstance(again, PolyEncoder)
    assert trainer.evaluator(again)["ndcg@10"] == result.best_score


def test_a_poly_encoder_of_scores(run):
    base = ["data.train=['sts.tsv']", "data.dev=sts.tsv", "model.kind=poly", "model.codes=first"]
    trainer = assemble(run(*base))
    assert (trainer.model.codes, trainer.metric) == (None, "spearman")
    assert trainer.losses[0].keywords["loss"].func is losses.cosent_scores
    trainer.train()
    assert load("runs/a").codes is None
    named = assemble(run("data.train=['sts.tsv']", "loss.name=mse", "model.name=runs/a"))  # it is one already
    assert named.losses[0].keywords["loss"].func is losses.mse


def test_what_a_poly_encoder_has_no_use_for(run):
    base = ["data.train=['sts.tsv']", "model.kind=poly"]
    with pytest.raises(BadInput, match=r"^model\.pooling is for bi-encoders, but a poly-encoder"):
        assemble(run(*base, "model.pooling=cls"))
    with pytest.raises(
        BadInput, match=r"^sts\.tsv: cosine is for bi-encoders; for a poly-encoder choose cosent, mse, bce"
    ):
        assemble(run(*base, "loss.name=cosine"))
    with pytest.raises(BadInput, match=r"^model\.num_codes, codes and towers are for poly-encoders, but the kind is"):
        run("data.train=['sts.tsv']", "model.kind=cross", "model.num_codes=3")
