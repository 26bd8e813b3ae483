"""``sbert train`` from its arguments to the run's folder, in this process and as real ones."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
import torch
from commandline import failure, process, sbert
from safetensors.torch import load_file

from sbert.models.bi import BiEncoder
from sbert.train.callbacks import Event

PAIRS = [
    ("한 남자가 기타를 친다.", "사람이 악기를 연주한다.", 4.5),
    ("Two dogs run.", "The dogs sleep.", 1.0),
    ("고양이가 잔다.", "기차가 늦는다.", 0.2),
    ("A man eats.", "Someone has a meal.", 4.8),
    ("비가 온다.", "비가 내린다.", 5.0),
    ("A train leaves.", "The train stays.", 1.2),
]
# The process interrupts itself, as a user would, at a moment that no clock could hit.
INTERRUPTED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from sbert.cli.main import main
from sbert.train.update import Update
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with SIGINT ignored
steps, times, sys.argv = int(sys.argv[1]), int(sys.argv[2]), ["sbert", *sys.argv[3:]]
plain = Update.__call__
def interrupted(self, number, batches):
    if number == steps:
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
    return plain(self, number, batches)
Update.__call__ = interrupted
main()
"""

STOPPING = "stopping after this step, its evaluation and its checkpoint; press Ctrl-C again to stop at once\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SBERT_DATA", raising=False)
    rows = "".join(f"{a}\t{b}\t{score}\n" for a, b, score in PAIRS)
    Path("쌍.tsv").write_text("sentence1\tsentence2\tscore\n" + rows, encoding="utf-8")
    return tmp_path


@pytest.fixture
def base(folder, tiny_folder) -> list[object]:
    model = tiny_folder("bert")
    return ["train", "-m", model, "--data", "쌍.tsv", "--loss", "cosine", "-o", "runs/쌍", "--batch-size", 2]


def test_options_alone(base, folder):
    result = sbert(*base, "--dev", "쌍.tsv", "--epochs", 2)
    first, model, curve, use = result.stdout.splitlines()
    assert re.fullmatch(r"6 steps in [\d.]+ s; best spearman_cosine -?[\d.]+ after step \d", first)
    assert model == f"model   {Path('runs/쌍/model')}"
    page = Path("runs/쌍/run.html").read_text(encoding="utf-8")
    assert f"<p>Model {base[2]}, loss cosine, evaluated on 쌍.tsv.</p>" in page
    assert Path(curve.split()[1]).is_file()
    assert use.startswith("use it  sbert similarity -m runs/쌍 ")
    assert float(sbert("similarity", "-m", "runs/쌍", "비가 온다.", "비가 내린다.").stdout) <= 1


def test_json(base):
    result = json.loads(sbert(*base, "--json").stdout)
    assert {**result, "seconds": 0} == {
        "steps": 3,
        "best_score": None,
        "best_step": 0,
        "seconds": 0,
        "model": "runs/쌍/model",
        "steps_before": 0,
        "metric": None,
    }


def test_options_win_over_the_file_and_set_over_both(folder, tiny_folder):
    Path("실행.toml").write_text(
        '[data]\ntrain = ["쌍.tsv"]\n[loss]\nname = "cosent"\n'
        '[train]\noutput_dir = "runs/a"\nbatch_size = 2\nseed = 1\nepochs = 5\nweight_decay = 0.5\n',
        encoding="utf-8",
    )
    flags = ["--limit", 4, "--epochs", 2, "--learning-rate", 1e-3, "--warmup-ratio", 0.5, "--eval-every", 2]
    more = ["--checkpoint-every", 3, "-m", tiny_folder("bert"), "-o", "runs/b", "--seed", 7, "--split", "none"]
    sbert("train", "실행.toml", *flags, *more, "--set", "train.epochs=1", "--set", "loss.scale=30")
    run = json.loads(Path("runs/b/run.json").read_text(encoding="utf-8"))
    wanted = {"epochs": 1, "batch_size": 2, "seed": 7, "weight_decay": 0.5, "learning_rate": 1e-3, "warmup_ratio": 0.5}
    wanted |= {"eval_steps": 2, "checkpoint_steps": 3, "output_dir": "runs/b"}
    assert {key: run["config"][key] for key in wanted} == wanted
    assert (run["steps"], run["data"][0]["rows"]) == (2, 4)
    assert not Path("runs/a").exists()


def test_folder_of_the_data(base, folder, monkeypatch):
    (folder / "자료").mkdir()
    Path("쌍.tsv").rename("자료/다른.tsv")
    line = failure(*base)
    assert "there is no file '쌍.tsv' in the current folder; put it there, or name its folder" in line
    monkeypatch.setenv("SBERT_DATA", str(folder / "자료"))
    assert (
        json.loads(sbert(*base, "--data", "다른.tsv", "--set", "data.train=['다른.tsv']", "--json").stdout)["steps"]
        == 3
    )
    assert "in the data folder '밖'" in failure(*base, "--set", "data.folder=밖")
    line = failure(*base)
    assert f"there is no file '쌍.tsv', neither in the current folder nor in the data folder '{folder}/자료'" in line


def test_a_typed_file_is_found_where_it_was_typed(base, folder, monkeypatch):
    monkeypatch.setenv("SBERT_DATA", str(folder / "없음"))
    assert json.loads(sbert(*base, "--dev", "쌍.tsv", "--json").stdout)["metric"] == "spearman_cosine"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--loss", "softmax"], "쌍.tsv: softmax got two text columns and a score"),
        (["-m", "./없음"], "there is no folder ./없음"),
        (["--dev", "없음.tsv"], "there is no file '없음.tsv'"),
    ],
)
def test_errors_are_one_sentence(base, more, sentence):
    assert sentence in failure(*base, *more)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--loss", "cosin"], "--loss is 'cosin'"),
        (["--kind", "by"], "--kind is 'by'"),
        (["--set", "train"], "a setting is written as table.key=value"),
    ],
)
def test_a_value_that_does_not_exist_is_wrong_usage(base, more, sentence):
    Path("실행.toml").write_text('[data]\ntrain = ["쌍.tsv"]\n[train]\noutput_dir = "runs/쌍"\n', encoding="utf-8")
    assert sentence in failure(*base, *more, code=2)
    assert sentence in failure("train", "실행.toml", *more, code=2)
    assert not Path("runs").exists()


def test_where_all_is_typed_every_setting_is_usage(base):
    assert "a key of train is 'epoch'" in failure(*base, "--set", "train.epoch=2", code=2)
    assert "epochs is 0, but must be at least 1" in failure(*base, "--set", "train.epochs=0", code=2)
    Path("실행.toml").write_text("[data]\ntrain = []\n[train]\nepochs = 0\noutput_dir = 'a'\n", encoding="utf-8")
    typed = ["train", "실행.toml", "--set", "data.train=['쌍.tsv']"]
    assert "epochs is 0" in failure(*typed)
    assert "train.epochs is 'x'" in failure(*typed, "--set", "train.epochs=x", code=2)


@pytest.mark.parametrize(
    "option",
    ["--epochs", "--batch-size", "--limit", "--eval-every", "--checkpoint-every", "--learning-rate", "--seed"],
)
def test_a_number_that_cannot_be_meant_is_wrong_usage(base, option):
    assert f"{option} is -1, but must be at least " in failure(*base, option, -1, code=2)
    assert not Path("runs").exists()


def test_wrong_usage():
    for arguments in (["train"], ["train", "--data", "a.tsv"], ["train", "--epochs", "twice"], ["train", "a", "b"]):
        assert sbert(*arguments, code=2).stdout == ""
    assert "name a run file, or at least --data and --output" in sbert("train", code=2).stderr


def test_a_file_as_output_is_refused_before_any_work(base):
    for place in ("쌍.tsv", "쌍.tsv/실행"):
        line = failure(*base, "--data", "없음.tsv", "-o", place)
        assert "쌍.tsv is a file, but a folder is needed there; remove it, or name another output" in line


def test_a_run_is_not_overwritten(base):
    sbert(*base, "--resume")  # a fresh folder simply starts
    assert "already contains a run; continue it with --resume" in failure(*base)
    found = json.loads(sbert(*base, "--resume", "--json").stdout)
    assert (found["steps"], found["steps_before"]) == (3, 3)
    first, model, *_ = sbert(*base, "--resume").stdout.splitlines()
    assert first == "the run in runs/쌍 is complete (3 steps); nothing to do"
    assert model == "model   runs/쌍/model"
    assert "batch_size was 2, is 4" in failure(*base, "--resume", "--batch-size", 4)


def test_a_run_file_without_its_tables(base, folder, monkeypatch):
    Path("틀림.toml").write_text("data = 3\n", encoding="utf-8")
    assert "data is 3, but must be a table" in failure("train", "틀림.toml")
    monkeypatch.setenv("SBERT_DATA", str(folder))
    assert "data is 3 and not a table" in failure("train", "틀림.toml")


def test_a_run_file_in_another_encoding(folder):
    Path("실행.toml").write_text('[data]\ntrain = ["쌍.tsv"]\n', encoding="utf-16")
    assert "실행.toml: byte 1 (0xff) is not UTF-8; it looks like UTF-16" in failure("train", "실행.toml")


def test_explain(base, folder):
    found = sbert(*base, "--dev", "쌍.tsv", "--explain")
    assert "쌍.tsv: 6 rows for cosine; duplicate rows 0" in found.stdout
    assert "한 남자가 기타를 친다." in found.stdout
    assert "scores from 0.04 to 1.00, mean 0.56; first row 0.9" in found.stdout
    assert "3 (1 epoch in batches of 2), with a warm-up of 0 steps" in found.stdout
    assert "estimated from 2 steps" in found.stdout
    assert os.listdir() == ["쌍.tsv"]
    facts = json.loads(sbert(*base, "--explain", "--json").stdout)
    assert [column["role"] for column in facts["data"][0]["columns"]] == ["sentence1", "sentence2"]


def test_dev_rows_that_are_training_rows_are_warned_of(base, folder):
    shared = "warning: 6 of the 6 rows of 쌍.tsv are also training rows, so the scores are too high"
    for more in ((), ("--explain",), ("--explain", "--json")):
        assert shared in sbert(*base, "--dev", "쌍.tsv", *more).stderr
    header, first, *_ = Path("쌍.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("남.tsv").write_text(f"{header}{first}눈\t비\t3\n", encoding="utf-8")
    assert "1 of the 2 rows of 남.tsv are also" in sbert(*base, "--dev", "남.tsv", "--explain").stderr
    Path("남.tsv").write_text(f"{header}눈\t비\t3\n해\t달\t1\n", encoding="utf-8")
    assert "also training rows" not in sbert(*base, "--dev", "남.tsv", "--explain").stderr


def test_splits_of_one_file(base, folder):
    rows = "".join(f"{'열' if row % 2 else '둘'}\t{a}\t{b}\t{score}\n" for row, (a, b, score) in enumerate(PAIRS))
    Path("나눔.tsv").write_text("split\tsentence1\tsentence2\tscore\n" + rows, encoding="utf-8")
    named = [*base, "--set", "data.train=['나눔.tsv']", "--dev", "나눔.tsv", "--split", "열", "--dev-split", "둘"]
    found = sbert(*named, "--explain")
    assert "나눔.tsv: 3 rows for cosine" in found.stdout
    assert found.stderr == ""
    assert "no rows of the split 'dev'" in failure(*named[:-1], "dev")


def test_a_split_of_a_file_without_splits_is_refused(base):
    for more in (["--split", "train"], ["--dev", "쌍.tsv", "--dev-split", "dev"], ["--set", "data.split=train"]):
        assert "was requested, but there is no field 'split'" in failure(*base, *more)
    Path("실행.toml").write_text('[data]\nsplit = "train"\n', encoding="utf-8")
    assert "was requested, but there is no field 'split'" in failure(base[0], "실행.toml", *base[1:])
    assert "data.split is 3, but must be text or 'none'" in failure(*base, "--set", "data.split=3", code=2)
    assert not Path("runs").exists()
    assert json.loads(sbert(*base, "--split", "none", "--json").stdout)["steps"] == 3


def test_columns_and_label_of_other_names(base, folder):
    Path("우리말.tsv").write_text("문장1\t문장2\t판정\n비\t눈\t예\n해\t달\t아니요\n", encoding="utf-8")
    named = ["train", *base[1:3], "--data", "우리말.tsv", "--kind", "cross", "-o", "runs/우리말"]
    assert "'문장1', '문장2', '판정', but needs" in failure(*named)
    found = sbert(*named, "--columns", "문장2, 문장1", "--label", "판정", "--explain", "--json")
    facts = json.loads(found.stdout)["data"][0]
    assert [column["name"] for column in facts["columns"]] == ["문장2", "문장1"]
    assert facts["balance"] == {"아니요": 1, "예": 1}
    assert "--columns names '문장1' twice" in failure(*named, "--columns", "문장1,문장1", code=2)
    wrong = failure(*named, "--set", "data.columns=문장1,문장2", code=2)
    assert wrong.endswith("""or 'none'; write it as in --set 'data.columns=["문장1", "문장2"]'\n""")


def test_numbers_as_labels_are_scores_or_say_how_to_be(base, folder):
    rows = "문장1\t문장2\t점수\n비\t눈\t{}\n해\t달\t1.0\n별\t꽃\t4\n산\t강\t0\n"
    Path("소수.tsv").write_text(rows.format("4.5"), encoding="utf-8")
    Path("정수.tsv").write_text(rows.format("5").replace("1.0", "1"), encoding="utf-8")
    named = ["train", *base[1:3], "-o", "runs/수", "--columns", "문장1,문장2", "--label", "점수", "--explain"]
    cross, choice = [*named, "--kind", "cross"], "if '0', '1', '4', '5' are scores, add --set data.label_kind=score"
    found = sbert(*cross, "--data", "소수.tsv", "--dev", "정수.tsv")
    assert "starts with a new head: score" in found.stderr
    assert "data.label_kind" not in found.stderr
    assert "metric     spearman" in found.stdout
    found = sbert(*cross, "--data", "정수.tsv")
    assert "starts with a new head: 0, 1, 4, 5" in found.stderr
    assert f"정수.tsv: the labels are read as classes; {choice}\n" in found.stderr
    assert "read as classes" not in sbert(*cross, "--data", "정수.tsv", "--set", "data.label_kind=class").stderr
    assert "a new head: score" in sbert(*cross, "--data", "정수.tsv", "--set", "data.label_kind=score").stderr
    assert f"; {choice}\n" in failure(*named, "--data", "정수.tsv", "--loss", "cosine")
    wrong = failure(*named, "--data", "소수.tsv", "--loss", "softmax")
    assert wrong.endswith("; if the labels are classes, add --set data.label_kind=class\n")


def test_device(base):
    assert json.loads(sbert(*base, "--device", "cpu", "--json").stdout)["steps"] == 3
    assert "'meta-tensor'" in failure(*base, "--device", "meta-tensor", "-o", "runs/b", code=2)


def test_explain_warns(base, folder):
    Path("질문.tsv").write_text("question\tanswer\n" + "비?\t예\n눈?\t예\n해?\t아니\n", encoding="utf-8")
    found = sbert(*base, "--set", "data.train=['질문.tsv']", "--loss", "info-nce", "--explain")
    assert "negatives  1 for each anchor" in found.stdout
    assert "warning: 질문.tsv: 1 repeated text, and equal texts in one batch" in found.stderr


def test_classes_are_counted(base, folder):
    Path("관계.tsv").write_text(
        "premise\thypothesis\tgold_label\nA\tB\tneutral\n비\t눈\tentailment\nA\tC\t-\n", "utf-8"
    )
    found = sbert(*base, "--set", "data.train=['관계.tsv']", "--loss", "softmax", "--explain").stdout
    assert "2 rows for softmax, 1 more without a gold label skipped" in found
    assert "class: entailment 1 (50.0%), neutral 1 (50.0%)" in found


def test_a_cross_encoder_needs_its_kind_and_no_loss(base, tiny_folder):
    bare = ["train", "-m", tiny_folder("bert"), "--data", "쌍.tsv", "-o", "runs/교차", "--batch-size", 2]
    assert "a bi-encoder needs one, such as cosine, cosent, angle, which 쌍.tsv suits; set loss.name" in failure(*bare)
    found = sbert(*bare, "--kind", "cross", "--explain").stdout
    assert "6 rows for mse" in found
    assert "the model reads pairs, sentence1 with each other column" in found
    result = sbert(*bare, "--kind", "cross", "--dev", "쌍.tsv")
    assert result.stdout.splitlines()[-1] == "use it  sbert predict runs/교차 pairs.tsv"
    assert "starts with a new head: score" in result.stderr
    rows = [json.loads(line) for line in sbert("predict", "runs/교차", "쌍.tsv").stdout.splitlines()]
    assert [row["sentence1"] for row in rows] == [pair[0] for pair in PAIRS]
    assert "쌍.tsv: cosine is for bi-encoders; for a cross-encoder choose cosent, mse, bce" in failure(
        *base, "--kind", "cross"
    )
    assert "--kind is 'crss'" in failure(*bare, "--kind", "crss", code=2)


def test_a_new_head_is_announced_where_it_is_new(folder, tiny_folder):
    told = "starts with a new head: score"
    run = ["train", "-m", tiny_folder("bert"), "--kind", "cross", "--data", "쌍.tsv", "-o", "runs/교차", "--resume"]
    assert told in sbert(*run).stderr  # nothing to resume yet
    assert told not in sbert(*run).stderr
    trained = [*run[:2], "runs/교차", *run[3:7], "-o", "runs/더"]
    assert told not in sbert(*trained).stderr


def test_tensorboard_is_asked_for_by_name(base, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    assert "run: pip install tensorboard" in failure(*base, "--tensorboard")


def test_tensorboard(base):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    sbert(*base, "--dev", "쌍.tsv", "--tensorboard")
    events = EventAccumulator("runs/쌍/tensorboard").Reload()
    assert [event.step for event in events.Scalars("train/loss")] == [1, 2, 3]
    assert [event.step for event in events.Scalars("dev/spearman_cosine")] == [3]


def test_tensorboard_forgets_what_is_done_again(folder):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from sbert.train.callbacks import tensorboard

    for start in (1, 3):  # killed after step 4, gone on from the checkpoint of step 2
        write = tensorboard(folder / "figures")
        assert (folder / "figures").exists() == (start > 1)
        for step in range(start, 5):
            write(Event("step", step, {"loss": 10.0 * start + step}))
        write(Event("checkpoint", 4))
    losses = EventAccumulator(str(folder / "figures")).Reload().Scalars("train/loss")
    assert [(event.step, event.value) for event in losses] == [(1, 11), (2, 12), (3, 33), (4, 34)]


@pytest.fixture
def one_thread():
    """As many as the processes below have: sums over threads are rounded by their number."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
def test_interrupted_and_resumed_is_the_same_run(base, one_thread):
    Path("다른.tsv").write_text("sentence1\tsentence2\tscore\n눈\t비\t3\n해\t달\t1\nA\tB\t5\n", encoding="utf-8")
    more = ["--epochs", 4, "--set", "train.eval_steps=2", "--dev", "다른.tsv"]
    done = process(5, 1, *base, *more, start=["-c", INTERRUPTED])
    assert done.returncode == 130, done.stderr
    said = "interrupted after step 6 of 12, which is saved; continue with the same command and --resume\n"
    assert (done.stdout, done.stderr) == ("", STOPPING + said)
    assert sbert(*base, *more, "--resume").stdout.startswith("12 steps, the last 6 in ")
    sbert(*base, *more, "-o", "runs/straight")
    broken, straight = (
        load_file(next(Path(f"runs/{run}/checkpoints").glob("step-*12-*"))) for run in ("쌍", "straight")
    )
    assert broken.keys() == straight.keys()
    assert all(torch.equal(broken[name], straight[name]) for name in broken)


@pytest.mark.skipif(os.name != "posix", reason="no such signals")
def test_interrupted_twice_stops_at_once(base):
    done = process(1, 2, *base, start=["-c", INTERRUPTED])
    assert done.returncode == 130, done.stderr
    said = "interrupted after step 1 of 3, before anything was saved; the same command starts again\n"
    assert done.stderr == STOPPING + said


def test_several_processes_speak_with_one_voice(base):
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "sbert"]
    done = process(*base, "--dev", "쌍.tsv", "--json", start=start)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 3  # one JSON value, not two
    BiEncoder.from_pretrained("runs/쌍")
    done = process(*base, "--set", "train.epoch=1", start=start)
    assert done.returncode != 0
    assert done.stderr.count("error: a key of train is 'epoch'") == 1
