"""An engine that lies, hangs, breaks off or quotes records: one sentence of ours, and nothing of its words."""

from __future__ import annotations

import importlib
import logging
import math
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from dpcore.core import DataError, ParameterError
from dpcore.data.columns import Labels, Number
from dprelease.engines.configuration import WRONG, engine_of, read_configurations
from dprelease.engines.counts import Encoding, TableColumn
from dprelease.engines.embedded import Embedded
from dprelease.engines.engine import NOT_COUNTS, Allowance, Engine
from dprelease.engines.postgres import Postgres
from dprelease.engines.spark import Spark
from dprelease.engines.tables import from_engine, open_table
from tests.dprelease.engines.values import NASTY, SECRET

ibis: Any = importlib.import_module("ibis")
sqlglot: Any = importlib.import_module("sqlglot")
queries: Any = importlib.import_module("dprelease.engines.queries")
AGES = Number(low=0, high=100, bins=100, missing=True)
SECONDS = 0.3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Hostile(Engine):
    """Answers whatever it is told to."""

    compiler: ClassVar[str] = "DuckDBCompiler"
    place: ClassVar[str] = "$p{}"
    answer: Callable[[], Any]

    @property
    def table(self) -> Sequence[str]:
        return ("people",)

    def described(self) -> list[tuple[str, str]]:
        return [("age", "INTEGER"), (f"<script>{SECRET}</script>", "INTEGER")]

    def ask(self, query: str, texts: list[list[str]], *, width: int) -> Any:
        return [(10,)] if width == 1 else self.answer()

    def interrupt(self) -> None:
        raise OSError(SECRET)

    def close(self) -> None:
        raise OSError(SECRET)


def raising() -> Any:
    try:
        raise ValueError(f"near {SECRET}")
    except ValueError as error:
        raise ConnectionResetError(f"postgres://root:{SECRET}@host: {NASTY}") from error


def slow() -> Any:
    time.sleep(2 * SECONDS)
    return [(1, 2)]


def slow_and_raising() -> Any:
    slow()
    raising()


LIES: dict[str, tuple[Callable[[], Any], str]] = {
    "drops the connection": (raising, "The engine could not answer."),
    "is slow, and cannot be interrupted": (slow, ""),
    "hangs, then breaks off": (slow_and_raising, "The engine took longer"),
    "texts for numbers": (lambda: [(SECRET, 3)], NOT_COUNTS),
    "fractions": (lambda: [(1.5, 3)], NOT_COUNTS),
    "truths": (lambda: [(True, 3)], NOT_COUNTS),
    "a missing cell**": (lambda: [(None, 3)], NOT_COUNTS),
    "a cell too many": (lambda: [(101, 3)], NOT_COUNTS),
    "a cell below": (lambda: [(-1, 3)], NOT_COUNTS),
    "a negative count": (lambda: [(1, -3)], NOT_COUNTS),
    "a count beyond all": (lambda: [(1, 2**62)], NOT_COUNTS),
    "a count beyond 64 bits": (lambda: [(1, 2**80)], NOT_COUNTS),
    "counts that wrap together": (lambda: [(1, 2**62)] * 4, NOT_COUNTS),
    "short rows": (lambda: [(1,), (2,)], NOT_COUNTS),
    "long rows": (lambda: [(1, 2, 3)], NOT_COUNTS),
    "no rows at all": (lambda: 7, NOT_COUNTS),
    "fractions in an array": (lambda: np.array([[1.0, 3.0]]), NOT_COUNTS),
    "more rows than cells allow": (lambda: [(1, 1)] * 5, "More than 4 combinations of cells"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_hostile_engine_gets_one_sentence(lie: str, caplog: pytest.LogCaptureFixture) -> None:
    answer, sentence = LIES[lie]
    caplog.set_level(logging.DEBUG)
    seconds = SECONDS if answer in (slow, slow_and_raising) else 60.0  # a busy machine is no slow engine
    table = open_table(Hostile(answer=answer, allowance=Allowance(seconds=seconds, answers=4)), name="people")
    if not sentence:  # it answered in the end, and truly
        assert from_engine(table, "age", AGES).n == 2
        return
    with pytest.raises(DataError) as problem:
        from_engine(table, "age", AGES)
    assert str(problem.value).startswith(sentence)
    told = "".join(traceback.format_exception(problem.value)) + caplog.text + repr(table)
    assert SECRET not in told
    assert "script" not in told
    assert problem.value.__cause__ is problem.value.__context__ is None


def test_a_column_of_the_engine_cannot_be_called_what_a_page_obeys() -> None:
    table = open_table(Hostile(answer=list), name="<b>people</b>")
    assert table.name == "b_people_/b"
    assert table.columns == ("age", f"script_{SECRET}_/script")


DIALECTS: dict[type[Engine], str] = {Embedded: "duckdb", Postgres: "postgres", Spark: "spark"}


@pytest.mark.parametrize("engine", DIALECTS)
def test_a_label_stays_out_of_the_query_and_a_name_stays_a_name(engine: type[Engine]) -> None:
    odd = f'{NASTY}; DROP TABLE "people" -- `%s $p3 :p3 \\'
    columns = [TableColumn(name=odd, kind=ibis.dtype("string"))]
    expression, texts = queries.build_query((odd, odd), open_parts(SECRET), columns, max_rows=10)
    query = queries.render_sql(expression, compiler=engine.compiler, place=engine.place)
    assert texts == [[SECRET]] and SECRET not in query and query.count(engine.place.format(1)) == 1
    names = {each.name for each in sqlglot.parse_one(query, read=DIALECTS[engine]).find_all(sqlglot.exp.Identifier)}
    assert {each for each in names if len(each) > 3} == {odd}
    assert query.count("script") == 2 * 3  # the name of schema, table and column
    with pytest.raises(ParameterError, match="more than surrounding spaces"):
        queries.build_query(("people",), open_parts(NASTY, f" {NASTY}"), columns, max_rows=10)


def open_parts(*labels: str) -> tuple[Encoding, ...]:
    return (Encoding(column="job", on=Labels(labels=labels)),)


@pytest.mark.parametrize(
    "told",
    [
        {}, {"kind": "oracle"}, {"kind": "duckdb"}, {"kind": "duckdb", "path": 5},
        {"kind": "postgres", "address": SECRET}, {"kind": "postgres", "address": SECRET, "table": "t", "extra": SECRET},
        {"kind": "duckdb", "path": "/tmp", "seconds": 0}, {"kind": "duckdb", "path": "/tmp", "seconds": SECRET},
        *({"kind": "duckdb", "path": "/tmp", "seconds": each} for each in (math.nan, math.inf, "nan", 1e300, -1)),
    ],
)  # fmt: skip
def test_wrong_settings_get_one_sentence(told: dict[str, Any]) -> None:
    with pytest.raises(DataError) as problem:
        engine_of(told)
    assert str(problem.value) == WRONG


def test_an_engine_is_private_unless_its_section_says_otherwise() -> None:
    found = read_configurations(
        {"a": {"kind": "duckdb", "password": SECRET}, "b": {"private": False, "title": "<i>"}, "c": {"private": "no"}}
    )
    assert [each.private for each in found.values()] == [True, False, True]
    assert SECRET not in repr(found)
    assert found["b"].name == "i"


@pytest.mark.parametrize(
    ("engine", "module", "extra"),
    [
        (Postgres(address="", name="people"), "psycopg", "engines"),
        (Postgres(address="", name="people"), "dprelease.engines.queries", "engines"),
        (Spark(name="people"), "pyspark.sql", "spark"),
    ],
)
def test_without_its_driver_an_engine_says_so(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=f"has no driver.*“{extra}”"):
        open_table(engine, name="people")
