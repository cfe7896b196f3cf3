"""No CSV that leaves holds a text that a spreadsheet would run, and our own programs read the texts as they were."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Blocks, DataRelease, Problem
from dpcore.core.safe_csv import (
    ROWS_A_STEP,
    escape_formula,
    escape_frame,
    frame_csv,
    is_formula,
    program_source,
    unescape_formula,
    write_frame,
)
from dpcore.core.safe_csv import rows_csv as raw_rows_csv
from dpcore.data.columns import Labels
from dpcore.data.product import Product
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.queries.ranges import Cells
from dplab.synthetic import synthetic_csv
from dprelease.downloads import CERTIFICATE, PROGRAM, REPORT, downloads_of
from dprelease.ledger.records import Stored
from dprelease.release import release
from pages.charts import component
from pages.charts.picture import Axis, Picture
from pages.data.grid import NO_FILE
from pages.shell.downloads import synthetic_table
from pages.tables.marginals.rows import labelled
from tests import PACKAGES, ROOT
from tests.kit.ledgers import ANALYST, registered, request_of
from tests.kit.problems import counts_release

FORMULAS = (
    '=HYPERLINK("http://127.0.0.1","x")', "=1+1", "+1+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1",
    "\u00a0\u2003=1", "\ufeff=1", "\u200b=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20A1", "\ufe66 1", "\u22121", "+1",
    "-", "=", "-1 to 5", "\tx",
    "\u3164=1", "\uffa0+1", "\u115f\u1160-2", "\u2800@A1", "\ufe0f=1", "\u034f=1", "\u20dd=1",
)  # fmt: skip
HARMLESS = (
    "", "x", "a=b", "5", "-5", "-1.5e-07", "1e+20", "'", "'quoted'", "nurse", "3 - 4", "#N/A", " x", "\u3164x",
    "e\u0301=1",
)  # fmt: skip
DIVIDED = ("x;=1+1", "x; =1", "a\t@b", "a\r+1", "5\n-cmd", "x;'=1", "'=1;''+2", "\t=1;=2", "a;b;-5", "\x0b\n=1")
"""Formulas behind what some spreadsheet or setting takes for the end of a cell, and numbers and apostrophes there."""
QUOTED = ("'=1", "''=1", "'-5", "' =1")
TEXTS = (*FORMULAS, *HARMLESS, *QUOTED, *DIVIDED)


@pytest.mark.parametrize("text", [text for text in TEXTS if text not in DIVIDED])
def test_a_text_is_escaped_only_where_it_may_run_and_comes_back(text: str) -> None:
    escaped = escape_formula(text)
    assert is_formula(text) == (text in FORMULAS) and not is_formula(escaped) and unescape_formula(escaped) == text
    assert (escaped == text) == (text not in FORMULAS and not is_formula(text.lstrip("'")))


@pytest.mark.parametrize("text", DIVIDED)
def test_no_part_of_a_divided_text_runs_and_it_comes_back(text: str) -> None:
    """A semicolon ends a cell where numbers have decimal commas; tabs and line ends do where quotes are not heeded."""
    escaped = escape_formula(text)
    assert not any(is_formula(part) for part in re.split(r"[;\t\r\n]", escaped) if part), escaped
    assert unescape_formula(escaped) == text


def test_a_line_end_within_a_cell_is_quoted_by_both_writers() -> None:
    for written in (frame_csv(pd.DataFrame({"a": ["x\r=1"]})), raw_rows_csv(["a"], [["x\r=1"]])):
        assert list(csv.reader(io.StringIO(written, newline=""))) == [["a"], ["x\r'=1"]]
        assert '"x\r\'=1"' in written


@pytest.mark.parametrize("label", ["x", "x\r=1", "=1"])
def test_a_long_table_is_written_in_steps_as_at_once(label: str) -> None:
    frame = pd.DataFrame({"a": [label] * (2 * ROWS_A_STEP + 3), "n": np.arange(2 * ROWS_A_STEP + 3)})
    work = Blocks(write_frame(frame))
    shares = list(work)
    passes = 2 if "\r" in label else 1
    assert shares == pytest.approx([0, 0.5, 1] * passes, abs=1e-3) and max(shares) < 1
    quoting = csv.QUOTE_NONNUMERIC if "\r" in label else csv.QUOTE_MINIMAL
    assert work.result == escape_frame(frame).to_csv(index=False, lineterminator="\n", quoting=quoting)


def test_the_head_of_an_empty_synthetic_table_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that refuses leaves a table without rows."""
    offered = list[str]()
    monkeypatch.setattr("streamlit.download_button", lambda *_, data, **__: offered.append(data()))
    source = SimpleNamespace(provenance=SimpleNamespace(is_private=False), value_columns=("=1+1", "a,b"))
    mechanism = SimpleNamespace(run=lambda *_, **__: None)
    recipe: Any = SimpleNamespace(source=source, entry_key="any", seed=1, mechanism=lambda: mechanism)
    state: Any = None
    synthetic_table(recipe, state, key="test")
    assert offered == ['\'=1+1,"a,b"\n']


def test_no_two_texts_are_written_alike() -> None:
    assert len({escape_formula(text) for text in TEXTS}) == len(set(TEXTS))


def test_a_program_without_dpcore_reads_texts_as_they_were() -> None:
    names: dict[str, Any] = {}
    exec("import re\nimport unicodedata\n" + program_source(), names)
    for text in TEXTS:
        assert names["escape_formula"](text) == escape_formula(text)
        assert names["unescape_formula"](escape_formula(text)) == text


def unsafe(text: str) -> list[str]:
    """Cells of a CSV that a spreadsheet may run."""
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row if is_formula(cell)]


def test_numbers_stay_and_names_labels_and_texts_are_escaped() -> None:
    frame = pd.DataFrame({
        "=name": pd.Series(["=1", None, "x"], dtype=object),
        "rows": [-1.5, 2.0, -3e-9],
        "label": pd.Categorical(["+1", "b", "b"], ["+1", "b"]),
        "text": pd.array(["@a", "b", "c"], dtype="string"),
        "whole": pd.array([-1, None, 2], dtype="Int64"),
    })  # fmt: skip
    written = frame_csv(frame)
    assert unsafe(written) == [] and written.startswith("'=name,rows,label,text,whole\n'=1,-1.5,'+1,'@a,-1\n")
    assert list(frame["label"].cat.categories) == ["+1", "b"] and frame.columns[0] == "=name", "a copy must be"
    assert list(escape_frame(frame)["whole"].isna()) == [False, True, False]


def _texts(node: Any, *, among: tuple[str, ...]) -> Iterator[str]:
    """Yield the labels that a certificate holds as texts of their own."""
    if isinstance(node, str):
        yield from (node,) if node in among else ()
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _texts(each, among=among)


def test_every_released_file_is_escaped_and_report_and_analysis_show_the_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = ('=HYPERLINK("http://127.0.0.1")', "+1+1", "@SUM(1)", "-2+3", "\uff1d1", "-5", "nurse", "'=quoted")
    name = "job"
    contents = io.StringIO()
    csv.writer(contents).writerows([[name], *([label] for label in labels)])
    table = read_table(contents.getvalue().encode(), name="jobs.csv", header=True)
    on = Labels(labels=labels)
    request = request_of(reading=Columns(names=(name,), on=on), queries=Cells(domain=on), epsilon=20.0)
    ledger, dataset_id = registered(tmp_path, epsilon=60.0, rows=table)
    came = release(ledger, dataset_id, request, table, ANALYST)
    assert isinstance(came, Stored)
    files = downloads_of(came)
    written = files["counts.csv"].decode()
    assert unsafe(written) == [] and "'=HYPERLINK" in written and ",-5," in written
    assert "&#x27;=HYPERLINK" not in files[REPORT].decode() and "=HYPERLINK" in files[REPORT].decode()
    assert list(_texts(json.loads(files[CERTIFICATE]), among=labels)) == list(labels), "exact in JSON, and in order"
    assert "'=HYPERLINK" not in files[CERTIFICATE].decode()
    for each, bytes_of_file in files.items():
        (tmp_path / each).write_bytes(bytes_of_file)
    names: dict[str, Any] = {"__file__": str(tmp_path / PROGRAM)}
    exec(compile(files[PROGRAM], PROGRAM, "exec"), names)
    read = names["tables"]["counts.csv"]
    assert [str(each) for each in read["value"].iloc[: len(labels)]] == list(labels)


def test_synthetic_and_simulated_rows_are_escaped() -> None:
    on = Labels(labels=("=1+1", "\uff20x", "\ttab", "-5", "plain"))
    problem = Problem(domain=on, queries=Cells(domain=on), n=5)
    release: DataRelease = counts_release(problem, np.array([[1, 1, 1, 1, 1, 0]]))
    for written in (
        synthetic_csv(release, columns=["@job"]),
        frame_csv(labelled(Product(names=("@job",), columns=(on,)), np.arange(5)[:, None])),
    ):
        assert unsafe(written) == []
        read = [unescape_formula(cell) for (cell,) in csv.reader(io.StringIO(written, newline=""))]
        assert read[0] == "@job" and set(on.labels) <= set(read)


def test_the_table_below_a_chart_offers_itself_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser writes the file of ``st.dataframe`` itself, from what it is given."""
    given = list[pd.DataFrame]()

    class Opened(nullcontext[None]):
        open = True

    monkeypatch.setattr("streamlit.expander", lambda *_, **__: Opened())
    monkeypatch.setattr("streamlit.dataframe", lambda frame, **_: given.append(frame))
    axis = Axis(title="x")
    picture = Picture(title="t", x=axis, y=axis, marks=[], sentence="s.", table={"=a": ["=1", "x"], "n": [-1, 2]})
    component.show_numbers(picture, title="t", key="k")
    assert unsafe(given[0].to_csv(index=False)) == [] and given[0]["n"].tolist() == [-1, 2]


INSIDE = {
    "dprelease/plan/predicates.py",
    "dpcore/data/reading/intake.py",
    "dpcore/data/reading/conversion_process.py",
    "dprelease/requests/file_checks.py",
}
"""A line of a plan's text, the scratch files of a reader and of a conversion, and what compares a released file with
the same rows written again."""


def test_no_other_module_writes_csv_or_shows_a_table_unescaped() -> None:
    kinds_of_rows = set()
    files = [each for top in (*PACKAGES, "pages") for each in (ROOT / top).rglob("*.py")]
    for path in [*files, ROOT / "app.py", ROOT / "run.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and (
                node.attr in ("to_csv", "DictWriter")
                or (node.attr == "writer" and isinstance(node.value, ast.Name) and node.value.id == "csv")
            ):
                kinds_of_rows.add(path.relative_to(ROOT).as_posix())
    assert kinds_of_rows - INSIDE == {"dpcore/core/safe_csv.py"}
    shown = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pages").rglob("*.py")
        if ".dataframe(" in path.read_text()
    }
    assert shown == {
        "pages/charts/component.py", "pages/plan/preview.py", "pages/plan/synthetic_table.py",
        "pages/play/details.py", "pages/release/cards.py",  # a released file as it is, escaped
        "pages/learn/lowbits/lesson.py",  # numbers and words of the lesson
    }  # fmt: skip


def test_the_grid_of_a_declaration_offers_no_file() -> None:
    """Its names and labels are a file's, and stand in its cells as they are: the browser would write them so."""
    edited = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in (ROOT / "pages").rglob("*.py")
        if ".data_editor(" in path.read_text(encoding="utf-8")
    }
    assert set(edited) == {"pages/data/grid.py"}
    source = edited["pages/data/grid.py"]
    assert source.count(".data_editor(") == source.count("    _offer_no_file(")
    assert "Download" in NO_FILE and "display: none" in NO_FILE
