"""The programs of a zip run away from this project, and say what is true."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprelease.release as releases
from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.product import Product
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.readings import Columns
from dpcore.limits.bounds.low_bits import naive_laplace, score
from dpcore.queries.ranges import Cells, Intervals, Rectangles, Thresholds
from dprelease.downloads import NOTEBOOK, OPENDP, PROGRAM, downloads_of
from dprelease.downloads.programs import ANALYSIS
from dprelease.ledger.records import Registration
from dprelease.requests.parts import Request
from tests.cases import one_relation
from tests.kit.ledgers import NOMINAL, few_rows, plan_of, question_of, registered, request_of, stored_release
from tests.kit.statistics import HARDLY_EVER

QUIET = 20.0
"""At this epsilon noise of a whole row has chance 10^-8 or so, and 10^-4 or so where two counts share it."""

ATTEMPTS = 3
"""Releases in a row that must show noise before a test fails: with chance 10^-9 at most."""


def unpacked(folder: Path, asked: Any, **changed: Any) -> Path:
    """The files of a release in a folder of their own."""
    rows = changed.setdefault("rows", few_rows())
    ledger, dataset_id = registered(folder / "ledger", **{"epsilon": 1000.0, "delta": 0.1} | changed)
    stored = stored_release(ledger, dataset_id, asked, rows)
    (folder / "else").mkdir()
    for name, contents in downloads_of(stored).items():
        (folder / "else" / name).write_bytes(contents)
    return folder / "else"


def cells_of(folder: Path) -> list[str]:
    """The notebook's code."""
    document = json.loads((folder / NOTEBOOK).read_bytes())
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"]) > 3
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def executed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the notebook's cells in order in the folder, and return their variables."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells_of(folder):
        exec(compile(cell, NOTEBOOK, "exec"), names)
    return names


def test_the_notebook_holds_the_script_cell_by_cell(tmp_path: Path) -> None:
    folder = unpacked(tmp_path, request_of())
    script = (folder / PROGRAM).read_text()
    assert script == ANALYSIS and "".join(cells_of(folder)).split() == script.replace("# %%", "#").split()


@pytest.mark.parametrize("changed", ["nothing", "a count", "the certificate"])
def test_the_program_refuses_files_that_were_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    folder = unpacked(tmp_path, request_of())
    file, text = folder / "counts.csv", folder / "certificate.json"
    if changed == "nothing":
        assert "counts.csv" in executed(folder, monkeypatch)["tables"]
        return
    if changed == "a count":
        file.write_bytes(file.read_bytes() + b" ")
        message = "counts.csv is not the file that was released."
    else:
        body = json.loads(text.read_text(encoding="utf-8"))
        body["guarantee"]["epsilon"] = "0.1"
        text.write_text(json.dumps(body), encoding="utf-8")
        message = "The certificate was changed."
    with pytest.raises(SystemExit, match=f"^{message}$"):
        executed(folder, monkeypatch)


def test_the_notebook_reads_labels_of_digits_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = ("01", "2", "3.50")
    domain = Labels(labels=codes, missing=False)
    request = request_of(reading=Columns(names=("code",), on=domain), queries=Cells(domain=domain))
    rows = read_table("\n".join(["code", *codes * 20]).encode(), name="x.csv", header=True)
    tables = executed(unpacked(tmp_path, request, rows=rows), monkeypatch)["tables"]
    assert codes in map(tuple, tables["counts.csv"].T.values.tolist())


@pytest.mark.parametrize("kind", [Cells, Thresholds, Intervals])
def test_the_notebook_answers_with_error_bars_that_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    n = 3000
    ages = np.random.Generator(np.random.PCG64(5)).integers(0, 20, n)
    domain = Number(high=20.0, bins=20)
    request = request_of(reading=Columns(names=("age",), on=domain), queries=kind(domain=domain), n=n, epsilon=1.0)
    folder = unpacked(tmp_path, request, rows=few_rows(ages.tolist()), public_n=n)
    results = executed(folder, monkeypatch)["results"]["counts.csv"]
    assert len(results) == 4
    for _, row in results.iterrows():
        if kind is Cells:
            true = int((ages == int(row["question"]["value"])).sum())
        else:
            true = int((ages <= float(row["question"].removeprefix("at most "))).sum())
        assert 0 < row["guaranteed error"] < n / 4
        assert abs(row["rows"] - true) <= 4 * row["guaranteed error"], "fails with chance below 10⁻⁹"


def test_the_notebook_knows_when_nothing_is_promised_and_every_kind_of_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = executed(unpacked(tmp_path, plan_of().request()), monkeypatch)["results"]
    assert list(results) == ["01-counts.csv", "02-counts.csv"]
    intervals, cells = results.values()
    assert intervals["guaranteed error"].isna().all() and (cells["guaranteed error"] < NOMINAL).all()
    assert len(intervals) == len(cells) == 4


@pytest.mark.slow
def test_labels_that_look_like_something_else_are_read_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = ("a\rb", "NA", "c\nd", '"', "1", "x" * 200_000)
    domain = Labels(labels=labels)
    request = request_of(reading=Columns(names=("person",), on=domain), queries=Cells(domain=domain))
    rows = read_table(b"person\nNA\n1\n", name="x.csv", header=True)
    folder = unpacked(tmp_path, request, rows=rows)
    table = executed(folder, monkeypatch)["tables"]["counts.csv"]
    assert table["value"][:6].tolist() == list(labels) and table["value"].isna().tolist() == [False] * 6 + [True]


def opendp_ran(folder: Path, data: str) -> str:
    """Run the OpenDP program away from this project, and return its output."""
    (folder / "data.csv").write_text(data)
    command = [sys.executable, "-P", str(folder / OPENDP), str(folder / "data.csv")]
    done = subprocess.run(command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
def test_without_a_file_the_opendp_program_says_how_it_is_used(tmp_path: Path) -> None:
    domain = Number(high=20.0, bits=2)
    asked = request_of(reading=Columns(names=("age",), on=domain), queries=Intervals(domain=domain))
    command = [sys.executable, "-P", str(unpacked(tmp_path, asked) / OPENDP)]
    for arguments in ([], ["a.csv", "b.csv"]):
        done = subprocess.run([*command, *arguments], cwd="/", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "Usage: python3 with_opendp.py DATA.csv\n")


def compared(folder: Path, same: Callable[[Path], bool], asked: Any, data: str, **changed: Any) -> str:
    """Run the OpenDP program until its result equals the release, and return its output; fail if it never does."""
    for attempt in range(ATTEMPTS):
        place = unpacked(folder / str(attempt), asked, **changed)
        output = opendp_ran(place, data)
        if same(place):
            return output
    pytest.fail(f"{ATTEMPTS} releases in a row differ from what OpenDP makes of the same rows")


AGES = [0, 1, 1.5, 4.999, 5, 19, 20, 25, -3, "", "x", 12.5, 7.25]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "neighbours"),
    [
        (Number(high=20.0, bits=2), Neighbours.REPLACE_ONE),
        (Number(high=20.0, bins=7, missing=True), Neighbours.ADD_REMOVE_ONE),
        (Number(low=1.0, high=19.0, bins=5, missing=True, clamp=False), Neighbours.ADD_REMOVE_ONE),
        (Number(high=20.0), Neighbours.ADD_REMOVE_ONE),
    ],
    ids=["replaced", "bins", "unclamped", "usual"],
)
def test_opendp_alone_counts_the_same_and_says_the_same_epsilon(
    tmp_path: Path, domain: Number, neighbours: Neighbours
) -> None:
    data = "age\n" + "".join(f'"{age}"\n' for age in AGES)
    rows = read_table(data.encode(), name="x.csv", header=True)
    request = request_of(
        epsilon=QUIET,
        reading=Columns(names=("age",), on=domain),
        queries=Intervals(domain=domain),
        n=len(AGES),
        neighbours=neighbours,
    )

    def same(folder: Path) -> bool:
        ours, theirs = pd.read_csv(folder / "counts.csv"), pd.read_csv(folder / "with-opendp-1.csv")
        assert theirs["value"].dropna().tolist() == pytest.approx(ours["value"].dropna().tolist())
        # A row in another cell changes two counts; noise hardly any.
        return bool((ours["rows"] != theirs["rows"]).sum() <= 1 and abs(theirs["rows"].sum() - len(AGES)) <= 1)

    output = compared(tmp_path, same, request, data, rows=rows, neighbours=neighbours, public_n=len(AGES))
    assert "epsilon = 20 by OpenDP's own account" in output


@pytest.mark.slow
def test_opendp_alone_releases_labels_quantiles_and_gaussian_counts_of_persons(tmp_path: Path) -> None:
    line, jobs = Number(high=20.0, bits=2), Labels(labels=("cook", "nurse, night"))
    age, job = Columns(names=("age",), on=line), Columns(names=("job",), on=jobs)
    quiet = {"epsilon": QUIET, "delta": 1e-3}
    parts = (
        question_of(epsilon=QUIET, reading=job, queries=Cells(domain=jobs)),
        question_of(key="gaussian", values=quiet, reading=age, queries=Cells(domain=line)),
        question_of(key="exponential_median", values={"epsilon": QUIET}, reading=age, queries=Thresholds(domain=line)),
        question_of(key="stable_median", values={"epsilon": QUIET}, reading=age, queries=Thresholds(domain=line)),
    )
    lines = [f'{place // 5},{12 if place % 5 < 2 else 1},"nurse, night"' for place in range(100)]
    data = "\n".join(["person,age,job", *lines, ",3,cook", ""])
    rows = read_table(data.encode(), name="x.csv", header=True)
    request = Request(parts=parts[:1] + parts[2:3], person="person", rows_a_person=2)

    def same(folder: Path) -> bool:
        counts, theirs, ours = (
            pd.read_csv(folder / name) for name in ("with-opendp-1.csv", "with-opendp-2.csv", "02-value.csv")
        )
        cells = theirs["cell"].tolist(), ours["cell"].tolist()
        return bool(counts["rows"].tolist() == [0, 40, 0] and cells == ([2], [2]))

    output = compared(tmp_path / "1", same, request, data, rows=rows, person_column="person", rows_a_person=2)
    assert f"with-opendp-1.csv: epsilon = {2 * QUIET:g}" in output, "of two rows"
    folder = unpacked(tmp_path / "2", Request(parts=parts), rows=rows)
    output = opendp_ran(folder, data)
    assert "rho (zero-concentrated)" in output and "with-opendp-4" not in output
    counts = pd.read_csv(folder / "with-opendp-2.csv")["rows"]
    assert (counts - [61, 0, 40, 0]).abs().max() <= 8


@pytest.mark.slow
@one_relation
@pytest.mark.parametrize(
    ("key", "kind"), [("named-queries", Intervals), ("named-queries", Cells), ("counted-mean", Thresholds)]
)
def test_opendp_alone_answers_named_queries_and_means_of_persons(
    tmp_path: Path, key: str, kind: Any, neighbours: Neighbours
) -> None:
    domain = Number(low=1.0, high=19.0, bins=5, missing=True, clamp=False)
    persons = 2 if neighbours is Neighbours.ADD_REMOVE_ONE else 1
    data = "person,age\n" + "".join(f'{place // persons},"{age}"\n' for place, age in enumerate(AGES))
    rows = read_table(data.encode(), name="x.csv", header=True)
    values = {"epsilon": QUIET} | ({"named": 2} if key == "named-queries" else {})
    reading = Columns(names=("age",), on=domain)
    part = question_of(
        key=key, values=values, reading=reading, queries=kind(domain=domain), n=len(AGES), neighbours=neighbours
    )
    person: dict[str, Any] = {"person": "person", "rows_a_person": 2} if persons == 2 else {}
    registered_as: dict[str, Any] = {"person_column": "person", "rows_a_person": 2} if persons == 2 else {}
    registered_as |= {"neighbours": neighbours, "public_n": len(AGES)}

    def same(folder: Path) -> bool:
        [ours] = [
            pd.read_csv(folder / name) for name in json.loads((folder / "certificate.json").read_bytes())["files"]
        ]
        theirs = pd.read_csv(folder / "with-opendp-1.csv")
        if key == "counted-mean":
            fits = rows.numbers("age")[domain.encode(rows.numbers("age")) < domain.ordered]
            return all(
                abs(found["rows"].item() - len(fits)) < 1.5
                and abs(found["mean"].item() - fits.mean()) < 3  # of cells 3.6 wide
                for found in (ours, theirs)
            )
        assert ours["cell"].tolist() == theirs["cell"].tolist()
        return bool(theirs["rows"].tolist() == pytest.approx(ours["rows"].tolist()))

    output = compared(tmp_path, same, Request(parts=(part,), **person), data, rows=rows, **registered_as)
    assert f"epsilon = {persons * QUIET:g} by OpenDP's own account" in output


@pytest.mark.slow
def test_opendp_alone_releases_the_same_clipped_mean(tmp_path: Path) -> None:
    domain = Number(low=1.0, high=19.0, bins=5)
    numbers = [age for age in AGES if isinstance(age, float | int)]
    data = "age\n" + "".join(f"{age}\n" for age in numbers)
    request = request_of(
        key="clipped_mean", values={"epsilon": QUIET}, reading=Columns(names=("age",), on=domain), n=len(numbers),
        queries=Thresholds(domain=domain), neighbours=Neighbours.REPLACE_ONE,
    )  # fmt: skip
    rows = read_table(data.encode(), name="x.csv", header=True)

    def same(folder: Path) -> bool:
        """The sum is far from where its mean is rounded up."""
        ours, theirs = pd.read_csv(folder / "value.csv"), pd.read_csv(folder / "with-opendp-1.csv")
        return bool(ours["cell"].tolist() == theirs["cell"].tolist())

    output = compared(
        tmp_path, same, request, data, rows=rows, neighbours=Neighbours.REPLACE_ONE, public_n=len(numbers)
    )
    assert f"epsilon = {QUIET:g} by OpenDP's own account" in output


@pytest.mark.slow
def test_opendp_alone_counts_pairs_the_same(tmp_path: Path) -> None:
    domain = Product.map(Number(high=20.0, bits=2), Number(high=20.0, bits=1, missing=True, clamp=False))
    data = "age,pay\n" + "".join(f'"{age}","{pay}"\n' for age, pay in zip(AGES, reversed(AGES), strict=True))
    reading = Columns(names=("age", "pay"), on=domain)
    request = request_of(epsilon=QUIET, reading=reading, queries=Rectangles(domain=domain))
    folder = unpacked(tmp_path, request, rows=read_table(data.encode(), name="x.csv", header=True))
    assert "epsilon = 20 by OpenDP's own account" in opendp_ran(folder, data)
    ours, theirs = pd.read_csv(folder / "counts.csv"), pd.read_csv(folder / "with-opendp-1.csv")
    assert len(ours) == len(theirs) == domain.size and (ours["rows"] != theirs["rows"]).sum() <= 1
    assert abs(theirs["rows"].sum() - len(AGES)) <= 1 and (theirs["rows"] > 0).sum() > 3


def test_where_opendp_has_no_equivalent_there_is_no_program(tmp_path: Path) -> None:
    domain = Number(high=20.0, bits=2)
    request = request_of(key="stable_median", values={"epsilon": 1.0}, queries=Thresholds(domain=domain))
    assert not (unpacked(tmp_path, request) / OPENDP).exists()


@pytest.mark.slow
def test_the_attack_on_low_bits_fails_on_released_files() -> None:
    asked, trials = request_of(epsilon=0.5), 400
    truth: list[tuple[float, ...]] = [(), (1.0,)]

    registration = Registration(name="x", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=NOMINAL)

    def first_count(rows: Table) -> float:
        [contents] = releases._draw_files(asked, registration, rows).values()
        return float(contents.decode().splitlines()[1].split(",")[-1])

    ours = [np.array([first_count(few_rows(ages)) for _ in range(trials)]) for ages in truth]
    verdict = score(*ours, low=0, high=1, epsilon=0.5, confidence=1 - HARDLY_EVER)
    assert not verdict.broken
    naive = [naive_laplace(len(ages), scale=2.0, trials=trials, seed=len(ages)) for ages in truth]
    assert score(*naive, low=0, high=1, epsilon=0.5).broken, "the same attack breaks floating-point noise"
