"""Published files are read as they are, and everything that cannot be used is named with its line."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.data.readers import Default, read
from sbert.errors import BadInput, BadOption, SbertError

PREMISES = ["한 남자가 기타를 친다.", 'She said "yes" and left', "비가 온다, 많이."]
HYPOTHESES = ["사람이 악기를 연주한다.", "Nobody spoke.", "날씨가 흐리다 😀"]
GOLD = ["entailment", "contradiction", "neutral"]
NLI = list(zip(PREMISES, HYPOTHESES, GOLD, strict=True))
SNLI_HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\tsentence1\tsentence2"
    "\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\n"
)


def tsv(header: str, rows: list[tuple[str, ...]], end: str = "\n") -> str:
    return header.replace(" ", "\t") + end + "".join("\t".join(row) + end for row in rows)


def klue(premise: str, hypothesis: str, gold: str) -> dict[str, object]:
    return {"guid": "klue-nli", "premise": premise, "hypothesis": hypothesis, "gold_label": gold, "label2": "neutral"}


PUBLISHED = {
    "snli_1.0_train.jsonl": "".join(
        json.dumps({"annotator_labels": [g], "gold_label": g, "sentence1": p, "sentence2": h}) + "\n"
        for p, h, g in NLI
    ),
    # The second row has no trailing fields: only some rows have five annotators.
    "snli_1.0_train.txt": SNLI_HEADER
    + "".join(
        "\t".join(
            [g, "(", "(", "(ROOT", "(ROOT", p, h, "a.jpg#0", "a.jpg#0r1n", g, *["neutral"] * (4 * (number != 1))]
        )
        + "\n"
        for number, (p, h, g) in enumerate(NLI)
    ),
    "multinli.train.ko.tsv": tsv("sentence1 sentence2 gold_label", NLI),
    "klue-nli-v1.1_train.json": json.dumps([klue(*row) for row in NLI], ensure_ascii=False, indent=2),
    "nli.tsv": tsv("split label premise hypothesis", [("train", g, p, h) for p, h, g in NLI]),
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_nli_as_published(write, name, packed):
    columns = read(write(name + packed, PUBLISHED[name]))
    assert list(columns.texts.values()) == [PREMISES, HYPOTHESES]
    assert columns.label_kind == "class"
    assert columns.label_names == ("contradiction", "entailment", "neutral")
    assert columns.labels.tolist() == [1, 0, 2]
    assert columns.labels.dtype == np.int64
    assert columns.skipped == 0


def test_order_of_the_texts_is_that_of_the_shape(write):
    columns = read(write("a.tsv", tsv("hypothesis label premise", [("가설", "neutral", "전제")])))
    assert columns.texts == {"premise": ["전제"], "hypothesis": ["가설"]}


@pytest.mark.parametrize(("end", "start"), [("\r\n", ""), ("\n", "\ufeff"), ("\r\n", "\ufeff")])
def test_line_ends_byte_order_mark_and_quotation_marks(write, end, start):
    rows = [('"하나', '둘"', "neutral"), ("'셋'", '""', "entailment")]
    columns = read(write("a.tsv", start + tsv("sentence1 sentence2 gold_label", rows, end)))
    assert columns.texts == {"sentence1": ['"하나', "'셋'"], "sentence2": ['둘"', '""']}
    assert columns.labels.tolist() == [2, 1]


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv"])
def test_rows_without_gold_label_are_counted_and_said(write, caplog, name):
    rows = [("가", "나", "neutral"), ("다", "라", "-"), ("마", "바", ""), ("사", "아", "entailment")]
    keys = ("sentence1", "sentence2", "gold_label")
    lines = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)
    with caplog.at_level(logging.WARNING):
        columns = read(write(name, lines if name == "a.jsonl" else tsv(" ".join(keys), rows)))
    assert columns.texts["sentence1"] == ["가", "사"]
    assert (columns.skipped, columns.labels.tolist()) == (2, [2, 1])
    assert [record.getMessage() for record in caplog.records] == [
        f"{columns.name}: 2 rows without a gold label were left out"
    ]


def test_parquet_of_the_hub_marks_a_missing_gold_label_with_minus_one(tmp_path):
    table = {"premise": ["가", "나", "다"], "hypothesis": ["라", "마", "바"], "label": [0, -1, 2]}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    names = {"0": "entailment", "1": "neutral", "2": "contradiction"}
    columns = read(tmp_path / "a.parquet", label_map=names)
    assert columns.texts["premise"] == ["가", "다"]
    assert [columns.label_names[number] for number in columns.labels] == ["entailment", "contradiction"]
    assert columns.skipped == 1


STSB = [
    (
        "main-captions",
        "MSRvid",
        "2012test",
        "0001",
        "5.000",
        "A plane is taking off.",
        'An air "plane" is taking off.',
    ),
    ("main-news", "headlines", "2015", "0002", "0", '"비행기가 뜬다', "배가 간다", "http://a.b", "license, 2"),
    ("main-forums", "deft", "2014", "0003", "2.5", "셋", "넷"),
]


def test_sts_benchmark_as_published(write):
    columns = read(write("sts-train.csv", "".join("\t".join(row) + "\n" for row in STSB)))
    assert columns.texts == {"sentence1": [row[5] for row in STSB], "sentence2": [row[6] for row in STSB]}
    assert (columns.label_kind, columns.labels.dtype, columns.labels.tolist()) == (
        "score",
        np.float32,
        [1.0, 0.0, 0.5],
    )


def test_korsts_and_tables_with_subsets(write):
    korsts = tsv("genre filename year id score sentence1 sentence2", [row[:7] for row in STSB])
    subset = tsv("split subset score sentence1 sentence2", [("train", "가", *row[4:7]) for row in STSB])
    first, second = read(write("sts-train.tsv", korsts)), read(write("stsb.tsv.gz", subset))
    assert first.fingerprint == second.fingerprint
    assert first.labels.tolist() == [1.0, 0.0, 0.5]


def test_score_range(write):
    path = write("a.csv", 'sentence1,sentence2,score\n"하나, 둘",셋,-1\n넷,다섯,1\n여섯,일곱,0\n')
    assert read(path, score_range=(-1, 1)).labels.tolist() == [0.0, 1.0, 0.5]


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ("anchor positive negative", ["anchor", "positive", "negative"]),
        ("negative_10 negative_2 positive other anchor", ["anchor", "positive", "negative_2", "negative_10"]),
        ("query positive negative negative_1", ["query", "positive", "negative", "negative_1"]),
        ("Sentence1 Sentence2 Sentence3", ["Sentence1", "Sentence2", "Sentence3"]),
        ("positive anchor", ["anchor", "positive"]),
        ("id query positive", ["query", "positive"]),
        ("answer question", ["question", "answer"]),
        ("sentence", ["sentence"]),
    ],
)
def test_triplets_and_pairs_have_no_labels(write, header, texts):
    names = header.split()
    columns = read(write("a.tsv", tsv(header, [tuple(f"{name} 하나" for name in names)])))
    assert columns.texts == {name: [f"{name} 하나"] for name in texts}
    assert (columns.label_kind, columns.labels) == ("none", None)


def test_a_mistyped_label_of_nli_is_no_class(write):
    rows = [("비가 온다", "날씨가 궂다", "entailment"), ("A cat", "A dog", "entailmnt")]
    path = write("a.tsv", tsv("premise hypothesis label", rows))
    with pytest.raises(BadInput, match="line 3: the label is 'entailmnt', but must be one of 'contradiction'"):
        read(path)
    two = write("b.tsv", tsv("premise hypothesis label", [("가", "나", "entailment"), ("다", "라", "not_entailment")]))
    assert read(two).label_names == ("entailment", "not_entailment")


def test_texts_with_labels_number_by_number_or_name_by_name(write):
    numbers = read(write("a.tsv", tsv("label text", [("10", "가"), ("9", "나"), ("2", "다")])))
    assert (numbers.label_names, numbers.labels.tolist()) == (("2", "9", "10"), [2, 1, 0])
    names = read(write("b.tsv", tsv("label text", [("정치", "가"), ("경제", "나"), ("neutral", "다")])))
    assert (names.label_names, names.labels.tolist()) == (("neutral", "경제", "정치"), [2, 1, 0])


@pytest.mark.parametrize("header", ["sentence1 sentence2 label", "text text2 label", "question answer label"])
def test_zero_and_one_beside_two_texts_are_binary(write, header):
    path = write("a.tsv", tsv(header, [("가", "나", "1"), ("다", "라", "0"), ("마", "바", "1")]))
    columns = read(path)
    assert (columns.label_kind, columns.label_names, columns.labels.tolist()) == ("binary", (), [1, 0, 1])
    forced = read(path, label_kind="class")
    assert (forced.label_kind, forced.label_names, forced.labels.tolist()) == ("class", ("0", "1"), [1, 0, 1])
    assert read(path, label_kind="score", score_range=(0, 1)).labels.dtype == np.float32
    assert read(path, label_kind="none").labels is None


SCORED = "문장1,문장2,점수\n비,눈,4.5\n해,달,1.0\n별,꽃,4\n산,강,0\n"
NAMED = {"columns": ["문장1", "문장2"], "label": "점수"}


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.txt", "a.tsv.gz"])
def test_numbers_with_a_decimal_point_are_scores_in_text_formats(write, name):
    path = write(name, SCORED if ".csv" in name else SCORED.replace(",", "\t"))
    columns = read(path, **NAMED)
    assert (columns.label_kind, columns.label_names) == ("score", ())
    assert columns.labels.tolist() == pytest.approx([0.9, 0.2, 0.8, 0.0])
    assert read(path, **NAMED, label_kind="class").label_names == ("0", "1.0", "4", "4.5")
    assert read(path, **NAMED, label_map={"0": 0, "1.0": 0, "4": 1, "4.5": 1}).label_kind == "class"


@pytest.mark.parametrize("first", ["4", "4.5a", "4.5_0", "nan", "v4.5", "inf"])
def test_other_labels_in_text_formats_stay_classes(write, first):
    assert read(write("a.csv", SCORED.replace("4.5", first).replace("1.0", "1")), **NAMED).label_kind == "class"


def test_a_text_with_a_decimal_point_in_json_is_a_class(write):
    rows = [{"text": "가", "label": label} for label in ("3.10", "3.11")]
    assert read(write("a.json", json.dumps(rows))).label_names == ("3.10", "3.11")


def test_numbers_of_a_teacher(write):
    rows = [{"query": "가", "positive": "나", "negative": "다", "margins": [1.5, 2]}] * 2
    path = write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    columns = read(path, label="margins", label_kind="scores")
    assert (columns.label_kind, columns.labels.dtype, columns.labels.tolist()) == (
        "scores",
        np.float32,
        [[1.5, 2]] * 2,
    )
    with pytest.raises(BadInput, match=r"line 1: the label is a list; say what it is with label_kind 'vector'"):
        read(path, label="margins")


def test_columns_and_label_of_other_names(write):
    path = write("a.tsv", tsv("제목 본문 판정", [("가", "나", "yes"), ("다", "라", "no")]))
    columns = read(path, columns=["본문", "제목"], label="판정")
    assert columns.texts == {"본문": ["나", "라"], "제목": ["가", "다"]}
    assert (columns.label_kind, columns.label_names) == ("class", ("no", "yes"))
    assert read(path, columns=["본문", "제목"]).label_kind == "none"
    assert list(read(path, columns=["제목", "판정", "본문"]).texts) == ["제목", "판정", "본문"]
    assert read(path, columns=["본문"], label="판정").labels.tolist() == [1, 0]


@pytest.mark.parametrize(("typed", "written"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_in_another_unicode_form_is_found(write, typed, written):
    path = write("a.tsv", normalize(written, tsv("제목 본문 판정", [("가", "나", "yes"), ("다", "라", "no")])))
    columns = read(path, columns=[normalize(typed, name) for name in ("본문", "제목")], label=normalize(typed, "판정"))
    assert list(columns.texts) == [normalize(written, name) for name in ("본문", "제목")]
    assert columns.label_names == ("no", "yes")
    with pytest.raises(BadOption, match="is '제목들', but must be one of '제목', '본문', '판정'; did you mean '제목'"):
        read(path, columns=[normalize(typed, "제목들")])


def test_names_that_differ_only_in_their_unicode_form_are_refused(write):
    names = [normalize("NFC", "제목"), normalize("NFD", "제목")]
    message = "has more than one column '제목' in other Unicode forms; give every column its own name"
    for path in (
        write("a.tsv", "\t".join(names) + "\n가\t나\n"),
        write("a.json", json.dumps([dict.fromkeys(names, "가")])),
    ):
        with pytest.raises(BadInput, match=message):
            read(path, columns=names[:1])
    rows = write("a.jsonl", "".join(json.dumps({name: "가"}) + "\n" for name in names))
    with pytest.raises(
        BadInput, match="line 2: the name of the field '제목' has another Unicode form than in the rows be"
    ):
        read(rows, columns=names[:1])


@pytest.mark.parametrize("second", ["제목", normalize("NFD", "제목")])
def test_a_column_is_named_once(write, second):
    path = write("a.tsv", tsv("제목 본문", [("가", "나")]))
    with pytest.raises(
        BadInput, match="columns names '제목' twice, but each text has a column of its own; name it once"
    ):
        read(path, columns=["제목", second])


@pytest.mark.parametrize(
    ("label_map", "names", "labels"),
    [
        ({"entailment": 2, "neutral": 1, "contradiction": 0}, ("contradiction", "neutral", "entailment"), [2, 0, 1]),
        ({"entailment": "yes", "neutral": "no", "contradiction": "no"}, ("no", "yes"), [1, 0, 0]),
        (
            {"entailment": 1, "neutral": 0, "contradiction": 0, "unused": 2},
            ("neutral", "entailment", "unused"),
            [1, 0, 0],
        ),
    ],
)
def test_label_maps(write, label_map, names, labels):
    columns = read(write("a.tsv", PUBLISHED["multinli.train.ko.tsv"]), label_map=label_map)
    assert (columns.label_names, columns.labels.tolist()) == (names, labels)


def test_binary_by_a_map(write):
    path = write("a.tsv", PUBLISHED["multinli.train.ko.tsv"])
    binary = {"entailment": 1, "neutral": 0, "contradiction": 0}
    columns = read(path, label_map=binary, label_kind="binary")
    assert (columns.label_kind, columns.labels.tolist()) == ("binary", [1, 0, 0])
    with pytest.raises(BadInput, match=r"line 3: the label is 'contradiction', but must be one of 'entailment'"):
        read(path, label_map={"entailment": 1}, label_kind="binary")
    with pytest.raises(BadInput, match="binary labels are 0 and 1"):
        read(path, label_map=binary | {"neutral": 2}, label_kind="binary")


@pytest.mark.parametrize("label_map", [{"0": 0, "1": 1}, {0: 0, 1: 1}, {"0": 1, "1": 0}])
def test_a_map_keeps_binary_labels_binary(write, label_map):
    path = write("a.tsv", tsv("text text2 label", [("가", "나", "1"), ("다", "라", "0")]))
    columns = read(path, label_map=label_map)
    expected = [int(label_map.get("1", label_map.get(1))), int(label_map.get("0", label_map.get(0)))]
    assert (columns.label_kind, columns.labels.tolist()) == ("binary", expected)


def test_a_map_with_integer_keys(write):
    path = write("a.jsonl", "".join(f'{{"text": "가", "label": {number}}}\n' for number in (2, 0, 1)))
    columns = read(path, label_map={0: "low", 1: "middle", 2: "top"})
    assert [columns.label_names[number] for number in columns.labels] == ["top", "low", "middle"]


@pytest.mark.parametrize("label_map", [{}, {"entailment": 1}, {"entailment": 0, "neutral": "no"}])
def test_label_maps_that_number_no_classes(write, label_map):
    with pytest.raises(BadInput, match="names, or the ids 0, 1, 2"):
        read(write("a.tsv", PUBLISHED["multinli.train.ko.tsv"]), label_map=label_map)


SPLITS = ["train", "train_subset", "dev", "dev_matched", "validation", "valid", "dev_mismatched", "test"]


@pytest.mark.parametrize(
    ("split", "taken"),
    [("train", [0, 1]), ("dev", [2, 3, 4, 5]), ("dev_mismatched", [6]), ("test", [7]), (None, range(8))],
)
def test_splits(write, split, taken):
    path = write("a.tsv", tsv("split text", [(name, f"글 {row}") for row, name in enumerate(SPLITS)]))
    assert read(path, split=split).texts["text"] == [f"글 {row}" for row in taken]


def test_a_split_that_is_named_needs_a_column(write):
    path = write("a.tsv", tsv("text", [("가",), ("나",)]))
    for split in ("train", "dev", "test"):
        with pytest.raises(BadInput, match=f"a.tsv, line 2: the split '{split}' was requested, but there is no field"):
            read(path, split=split)
    assert len(read(path)) == len(read(path, split=None)) == len(read(path, split=Default.DEV)) == 2


def test_limit_counts_the_rows_taken(write):
    rows = [("test", "neutral", "가", "나"), ("train", "-", "다", "라"), ("train", "neutral", "마", "바")]
    path = write("a.tsv", tsv("split label premise hypothesis", [*rows, *rows]))
    columns = read(path, limit=1)
    assert (columns.texts["premise"], columns.skipped) == (["마"], 1)
    assert columns.label_names == ("contradiction", "entailment", "neutral")  # as if all had been read
    assert len(read(path, limit=99)) == 2


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.tsv", "", {}, "is empty, but at least one row"),
        ("a.tsv", "text\tlabel\n", {}, "is empty"),
        ("a.json", "[]", {}, "is empty"),
        ("a.jsonl", "", {}, "is empty"),
        ("a.csv", "", {}, "is empty"),
        (
            "a.tsv",
            "제목\t본문\n가\t나\n",
            {},
            r"columns '제목', '본문', but .*sts \(premise/hypothesis/score or .*; or name them with columns and "
            r"label \(--columns and --label\)$",
        ),
        ("a.tsv", "premise\thypothesis\n가\t나\n", {}, r"nli \(premise/hypothesis/label or"),
        ("a.tsv", "text\n가\n", {"shape": "sts"}, r"needs those of a shape: sts \([^;]*\); or name them"),
        (
            "a.tsv",
            "text\n가\n",
            {"label_kind": "class"},
            "label_kind is 'class', but .* no column of labels; name one with label=, or --label$",
        ),
        ("a.tsv", "text\ttext2\tlabel\n가\t나\n", {}, "line 2: 2 fields, but the header has 3"),
        ("a.txt", "text\tlabel\n가\t나\t다\n", {}, "line 2: 3 fields, but the header has 2"),
        ("a.txt", "text\tlabel\n가\tx\n나\n", {}, "line 3: there is no field 'label', but 'text'"),
        (
            "sts-dev.csv",
            "a\tb\tc\td\t1.0\t가\t나\n\na\tb\tc\td\t1.0\t가\n",
            {},
            "line 3: 6 fields, but the STS benchmark has 7",
        ),
        ("a.tsv", "split\ttext\ntest\t가\ndev\t나\n", {}, r"no rows of the split 'train', but of 'dev', 'test'"),
        ("a.tsv", "premise\thypothesis\tlabel\n가\t나\t-\n", {}, "no gold label in any of 1 rows"),
        ("a.tsv", "sentence1\tsentence2\tscore\n가\t나\t5.01\n", {}, "line 2: the score is 5.01, but .* from 0 to 5"),
        ("a.tsv", "sentence1\tsentence2\tscore\n가\t나\t5\n가\t나\t-0.1\n", {}, "line 3: the score is -0.1"),
        (
            "a.tsv",
            "sentence1\tsentence2\tscore\n가\t나\t많이\n",
            {},
            "line 2: the score is '많이', but must be a number",
        ),
        ("a.tsv", "sentence1\tsentence2\tscore\n가\t나\t\n", {}, "line 2: the score is '', but must be a number"),
        ("a.tsv", "sentence1\tsentence2\tscore\n가\t나\tnan\n", {}, "line 2: the score is 'nan'"),
        ("a.tsv", "sentence1\tsentence2\tscore\n가\t나\t1\n", {"score_range": (5, 0)}, "from a lower to a higher"),
        (
            "a.tsv",
            "text\tlabel\n가\tx\n\n나\ty\n",
            {"label_map": {"x": 0}},
            r"line 4: the label is 'y', but must be one of 'x'",
        ),
        (
            "a.tsv",
            PUBLISHED["nli.tsv"] + "train\tentailmnet\t가\t나\n",
            {},
            "line 5: the label is 'entailmnet', but .*'neutral'",
        ),
        ("a.tsv", "text\n가\n", {"limit": 0}, "limit is 0"),
        (
            "a.jsonl",
            '{"text": "가", "label": "x"}\n{"text": null, "label": "x"}\n',
            {},
            "line 2: field 'text' is null",
        ),
        ("a.jsonl", '{"text": "가", "label": "x"}\n{"text": "나"}\n', {}, "line 2: there is no field 'label'"),
        (
            "a.jsonl",
            '{"text": "가", "v": [1, 2]}\n{"text": "나", "v": [1]}\n',
            {"label": "v", "label_kind": "vector"},
            "line 2: .* no list of 2",
        ),
        (
            "a.jsonl",
            '{"text": "가", "v": [1, "x"]}\n',
            {"label": "v", "label_kind": "vector"},
            "line 1: the score is 'x'",
        ),
        ("a.json", '[{"text": "가"}, 3]', {}, "row 1: JSON int, but an object"),
        ("a.json", '{"text": "가"}', {}, "JSON dict, but a list of objects"),
        ("a.json", "[", {}, "is not JSON"),
        ("a.json", b'[{"text": "\xb0\xa1"}]', {}, r"a\.json: byte 12 \(0xb0\) is not UTF-8"),
        ("a.docx", "", {}, r"'\.docx', but must end in \.txt, .*\.json, \.parquet \(all but"),
    ],
)
def test_what_cannot_be_used_is_named(write, name, content, options, message):
    path = write(name, content)
    with pytest.raises(BadInput, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value) or "score_range" in options or "limit" in options


@pytest.mark.parametrize(
    "options", [{"columns": ["글"]}, {"label": "라벨"}, {"shape": "triplet"}, {"label_kind": "classes"}]
)
def test_options_that_do_not_exist(write, options):
    with pytest.raises(BadOption, match="must be one of"):
        read(write("a.tsv", "text\n가\n"), **options)


PAGE = Path(__file__).parents[2] / "docs" / "data.md"


@pytest.mark.parametrize(
    ("shape", "kind", "texts"),
    [("triplets", "none", 3), ("sts", "score", 2), ("nli", "class", 2), ("pairs", "none", 2), ("texts", "class", 1)],
)
def test_examples_of_the_page(write, shape, kind, texts):
    example = PAGE.read_text(encoding="utf-8").split(f"**`{shape}`**")[1].split("```\n")[1]
    columns = read(write("a.tsv", example))
    assert (len(columns), columns.label_kind, len(columns.texts)) == (2, kind, texts)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.txt", "a.jsonl", "a.json", "a.jsonl.gz"])
@pytest.mark.parametrize(
    ("encoding", "mark", "named"),
    [
        ("utf-16-le", b"\xff\xfe", "it looks like UTF-16: convert the file with: iconv -f UTF-16 -t UTF-8"),
        ("utf-16-be", b"\xfe\xff", "it looks like UTF-16: convert the file with: iconv -f UTF-16 -t UTF-8"),
        ("cp949", b"", "it looks like CP949: convert the file with: iconv -f CP949 -t UTF-8"),
    ],
)
def test_another_encoding_is_named_with_the_way_out(write, name, encoding, mark, named):
    text = '[{"text": "똠방각하가 왔다"}]' if name == "a.json" else '{"text": "똠방각하가 왔다"}\n'
    with pytest.raises(BadInput, match=rf"\(0x..\) is not UTF-8; {named}$"):
        read(write(name, mark + text.encode(encoding)))


def test_an_encoding_that_is_not_known_is_not_guessed(write):
    with pytest.raises(BadInput, match=r"line 2: byte 4 \(0xe9\) .*; convert .* with: iconv -f ENCODING -t UTF-8"):
        read(write("a.tsv", "text\ncafé au lait\n".encode("latin-1")))


@given(st.binary(max_size=150), st.sampled_from(["txt", "tsv", "csv", "jsonl", "json", "parquet"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, kind):
    path = tmp_path_factory.getbasetemp() / f"any.{kind}"
    path.write_bytes((b"text\n" if kind in ("txt", "tsv", "csv") else b"") + content)
    try:
        columns = read(path)
    except SbertError:
        return
    assert len(columns) > 0
