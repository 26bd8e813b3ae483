"""Filters: expressions and mappings, their meaning, their errors, and that SQLite selects the same rows as Python."""

from __future__ import annotations

import json
import sqlite3
import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert.errors import BadInput
from sbert.search.filters import POSTGRES, SQLITE, And, Comparison, Not, Or, read_filter, to_sql

ROWS = [
    {"lang": "ko", "year": 2021, "tags": ["결제", "환불"], "author": {"name": "김"}},
    {"lang": "en", "year": 2019, "tags": ["a"], "open": True},
    {"lang": "ko", "year": "2021", "tags": "결제 오류", "open": False},
    {"year": 2020.5, "lang": None},
    {},
]


def chosen(filter):
    condition = read_filter(filter)
    return [row for row, metadata in enumerate(ROWS) if condition.matches(metadata)]


@pytest.mark.parametrize(
    ("expression", "mapping", "rows"),
    [
        ('lang = "ko"', {"lang": "ko"}, [0, 2]),
        ("lang != 'ko'", {"lang": {"$ne": "ko"}}, [1, 3, 4]),
        ("year >= 2020", {"year": {"$gte": 2020}}, [0, 3]),
        ("year > 2019 and year < 2021", {"year": {"$gt": 2019, "$lt": 2021}}, [3]),
        ('year <= "2021"', {"year": {"$lte": "2021"}}, [2]),
        ("year in (2019, 2021)", {"year": [2019, 2021]}, [0, 1]),
        ("year not in (2019, 2021)", {"year": {"$nin": [2019, 2021]}}, [2, 3, 4]),
        ('tags contains "결제"', {"tags": {"$contains": "결제"}}, [0, 2]),
        ("author exists", {"author": {"$exists": True}}, [0]),
        ("not author exists", {"author": {"$exists": False}}, [1, 2, 3, 4]),
        ('author.name = "김"', {"author.name": "김"}, [0]),
        ("open = true", {"open": True}, [1]),
        ("open in (true, false)", {"open": {"$in": [True, False]}}, [1, 2]),
        ("lang = null", {"lang": None}, [3]),
        (
            '(lang = "en" or lang = "ko") and not (year = 2019)',
            {"$and": [{"$or": [{"lang": "en"}, {"lang": "ko"}]}, {"$not": {"year": 2019}}]},
            [0, 2],
        ),
        (
            'lang = "ko" and year > 1 or open = true',
            {"$or": [{"lang": "ko", "year": {"$gt": 1}}, {"open": True}]},
            [0, 1],
        ),
    ],
)
def test_an_expression_and_a_mapping_mean_the_same(expression, mapping, rows):
    assert chosen(expression) == chosen(mapping) == rows
    assert read_filter(expression) == read_filter(mapping)


def test_a_condition_is_a_filter_already():
    condition = And((Comparison(("년도",), ">", (2020,)), Not(Or(()))))
    assert read_filter(condition) is condition


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "the filter has the end at character 1, but a field, 'not' or '(' is expected there"),
        ("lang", "the filter has the end at character 5, but '=', '!=', '<'"),
        ('lang = "ko', "the filter has '\"' at character 8, but a field, an operator or a value is expected there"),
        ("lang = ko", "the filter has 'ko' at character 8, but a value: \"text\" in quotes"),
        ('lang = "ko" year', "the filter has 'year' at character 13, but 'and', 'or' or the end of the filter"),
        ('(lang = "ko"', "the filter has the end at character 13, but ')' is expected there"),
        ("lang in ()", "the filter has ')' at character 10, but a value"),
        ("lang not = 1", "the filter has '=' at character 10, but 'in' is expected there"),
        ("연도 >= true", "the filter compares 연도 by >= with True, but only numbers and texts have an order"),
        ("and = 1", "the filter has 'and' at character 1, but a field"),
        ("year = 99999999999999999999999", None),
        ("year = 9999999999999999999", "a number of at most 64 bits"),
        ("a = 1e999", "a number of at most 64 bits"),
        ("(" * 60 + "a = 1" + ")" * 60, "nested more than 50 levels deep"),
        ("not " * 60 + "a = 1", "nested more than 50 levels deep"),
        ("`a\\b` = 1", "a name has no quotes"),
        ({}, "the filter holds {}, but a mapping"),
        ({"a": {}}, "the field 'a' has no operator"),
        ({"a": {"$gte": [1]}}, "the filter compares with"),
        ({"a": {"$greater": 1}}, "the operator of a is '$greater', but must be one of"),
        ({"a": {"$in": "x"}}, "$in has 'x', but needs a list of values"),
        ({"$or": []}, "$or has [], but needs a list of filters"),
        ({"a": "\0"}, "which holds NUL or a lone surrogate"),
        ({"a": "\ud800"}, "which holds NUL or a lone surrogate"),
        ({"a": float("nan")}, "the filter compares with nan"),
        ({'a"': 1}, "a name has no quotes"),
        ({"a": list(range(5001))}, "compares with 5,001 values, but at most 5,000 are possible; divide it"),
        ({"$or": [{"a": [1, 2, 3]}] * 2000}, "compares with 6,000 values, but at most 5,000"),
        (5, "the filter is 5, but must be an expression or a mapping"),
    ],
)
def test_a_wrong_filter_is_one_sentence(expression, message):
    if message is None:
        read_filter(expression)
        return
    with pytest.raises(BadInput) as caught:
        read_filter(expression)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_quotes_and_backslashes_can_be_written():
    assert read_filter(r'a = "그는 \"네\" \\ 했다"') == Comparison(("a",), "in", ('그는 "네" \\ 했다',))
    assert read_filter(r"a = 'it\'s'") == Comparison(("a",), "in", ("it's",))
    assert read_filter("`two words` = -1.5e3") == Comparison(("two words",), "in", (-1500.0,))


names = st.sampled_from(["a", "b", "나라", "c.d", "a.0"])
texts = st.text(st.sampled_from("ab가'\"%;-- \\_"), max_size=4)
numbers = (
    st.integers(-3, 3) | st.floats(-3, 3, allow_nan=False).map(lambda value: round(value, 1)) | st.just(0.1 + 0.2)
)
scalars = texts | numbers | st.booleans() | st.none()
metadata = st.fixed_dictionaries(
    {},
    optional={
        "a": scalars | st.lists(scalars, max_size=3),
        "b": scalars,
        "나라": scalars | st.lists(scalars, max_size=2),
        "c": st.fixed_dictionaries({}, optional={"d": scalars}) | scalars,
    },
)
fields = names.map(lambda name: tuple(name.split(".")))
tests = st.one_of(
    st.builds(Comparison, fields, st.just("in"), st.lists(scalars, max_size=3).map(tuple)),
    st.builds(Comparison, fields, st.sampled_from(["<", "<=", ">", ">="]), st.tuples(texts | numbers)),
    st.builds(Comparison, fields, st.just("contains"), st.tuples(scalars)),
    st.builds(Comparison, fields, st.just("exists")),
)
conditions = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(conditions, st.lists(metadata, min_size=1, max_size=8))
def test_sqlite_selects_the_rows_that_python_selects(condition, rows):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE rows (key INTEGER PRIMARY KEY, metadata TEXT)")
    connection.executemany(
        "INSERT INTO rows (metadata) VALUES (?)", [(json.dumps(row, ensure_ascii=False),) for row in rows]
    )
    text, parameters = to_sql(condition, SQLITE)
    selected = [key for (key,) in connection.execute(f"SELECT key FROM rows WHERE {text} ORDER BY key", parameters)]
    connection.close()
    assert selected == [key for key, row in enumerate(rows, 1) if condition.matches(row)]


@pytest.fixture(scope="module")
def connection(postgres):
    import psycopg

    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


@given(condition=conditions, rows=st.lists(metadata, min_size=1, max_size=8))
def test_postgres_selects_the_rows_that_python_selects(connection, condition, rows):
    text, parameters = to_sql(condition, POSTGRES)
    query = (
        "SELECT key FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY AS rows (metadata, key) "
        f"WHERE {text} ORDER BY key"
    )
    selected = [key for (key,) in connection.execute(query, (json.dumps(rows), *parameters))]
    assert selected == [key for key, row in enumerate(rows, 1) if condition.matches(row)]


@given(st.text(st.sampled_from(string.ascii_letters + "가나 ()=<>!,\"'`\\0123456789.-"), max_size=30))
def test_any_text_is_a_filter_or_one_sentence(text):
    with suppress(BadInput):
        read_filter(text)


@pytest.mark.parametrize("value", ["'; DROP TABLE rows; --", '" OR 1=1 --', "%s ?", "$.a"])
def test_values_and_names_are_never_sql(value):
    condition = Comparison((value.replace('"', ""), "b"), "in", (value,))
    text, parameters = to_sql(condition, SQLITE)
    assert value not in text
    assert value in parameters
    text, parameters = to_sql(condition, POSTGRES)
    assert value not in text
    assert [json.dumps(value)] in parameters
