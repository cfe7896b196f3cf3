"""What a report says of synthetic rows: from released files alone, recomputed by verify, right where pandas is."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.core import Neighbours
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.frames import read_frame
from dpcore.data.product import is_table
from dpcore.mechanisms.tables import rows_release
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Preview
from dprelease.certificate import certificate, verify
from dprelease.downloads import downloads_of, faults_of_files
from dprelease.downloads.report import report
from dprelease.downloads.synthetic_rows import noise_distance, shuffled, total_variation, usefulness
from dprelease.ledger.records import Stored
from dprelease.requests import synthetic_files, tables
from dprelease.requests.parts import Request
from dprelease.requests.synthetic_files import blank_release, read_measured
from tests import ROOT
from tests.dprelease.test_other_computer import PLAINEST
from tests.kit.ledgers import released_in, request_of

TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(high=80, bits=3, missing=True)),
        DeclaredColumn(name="town", on=Labels(labels=("=n", "s"))),
        DeclaredColumn(name="pay", on=Number(high=160, bits=4, missing=True)),
    )
)
N = 4_000
ADDED = Neighbours.ADD_REMOVE_ONE


def people(n: int = N, *, seed: int = 1) -> pd.DataFrame:
    """Pay goes up by 1 for each year of age; the town has nothing to do with either."""
    draw = np.random.default_rng(seed)
    age = draw.uniform(0, 80, n)
    pay = np.clip(40 + age + draw.normal(0, 20, n), 0, 160)
    pay[draw.random(n) < 0.1] = np.nan
    return pd.DataFrame({"age": age, "town": draw.choice(["=n", "s"], n), "pay": pay})


def request(**changed: Any) -> Request:
    reading = TABLE.whole()
    assert is_table(reading.domain)
    queries = Marginals(domain=reading.domain, ways=2)
    values = {"epsilon": 1.0, "delta": 1e-6, "rule": False, **changed.pop("values", {})}
    settings = {"n": N, "neighbours": ADDED, "entry_key": "whole-table", **changed}
    return request_of(reading=reading, queries=queries, values=values, **settings)


def released(folder: Path, asked: Request, frame: pd.DataFrame | None = None) -> Stored:
    rows = read_frame(people() if frame is None else frame)
    stored = released_in(
        folder, asked, epsilon=20.0, delta=1e-5, rows=rows, neighbours=ADDED, public_n=N,
        person_column=asked.person, rows_a_person=asked.rows_a_person,
    )  # fmt: skip
    assert verify(certificate(stored), stored.files) == []
    return stored


def section(stored: Stored) -> str:
    """The section's text; it ends before the record."""
    text = report(stored).decode().partition("<h4>What these rows are good for</h4>")[2].partition("<h2>")[0]
    assert text
    return text


def test_a_forged_section_is_refused_and_the_genuine_one_has_no_true_row(tmp_path: Path) -> None:
    stored = released(tmp_path, request())
    files = downloads_of(stored)
    certified = files.pop("certificate.json")
    assert faults_of_files(certified, files) == []
    text = section(stored)
    assert "No true row was read." in text and "town" in text
    numbers = re.findall(r"([\d.]+)%</td>", text)
    for forged in (text.replace(f"{numbers[0]}%</td>", "0.001%</td>", 1), text.replace("No true row", "No row"), ""):
        changed = files | {"report.html": files["report.html"].replace(text.encode(), forged.encode())}
        assert changed != files
        assert faults_of_files(certified, changed) == ["The file report.html does not belong to this certificate."]


@pytest.mark.slow
def test_another_processor_writes_the_same_section(tmp_path: Path) -> None:
    """Whose matrices are added up in another order; the section has three digits of each number."""
    stored = released(tmp_path / "ledger", request())
    for name, contents in stored.files.items():
        (tmp_path / name).write_bytes(contents)
    program = (
        "from pathlib import Path; from tests.dprelease.downloads.test_synthetic_rows import request, usefulness; "
        f"files = {{each.name: each.read_bytes() for each in Path({str(tmp_path)!r}).glob('*.csv')}}; "
        "print(''.join(usefulness(request().parts[0], files, person_rows=1)))"
    )
    run = [sys.executable, "-c", program]
    elsewhere = subprocess.run(run, cwd=ROOT, env=os.environ | PLAINEST, stdout=-1, check=True).stdout.decode()
    [part] = request().parts
    assert elsewhere.strip() == "".join(usefulness(part, stored.files, person_rows=1)).strip()


def test_shares_of_tables_are_those_of_the_files_and_follow_from_them_alone(tmp_path: Path) -> None:
    """Recomputed by pandas: of pairs of a number with a label; the ledger's rows are other ones by then."""
    asked = request()
    stored = released(tmp_path, asked)
    rows = pd.read_csv(io.BytesIO(stored.files["rows_of_nobody.csv"]))
    measured = pd.read_csv(io.BytesIO(stored.files["measured_tables.csv"]), keep_default_na=False)
    one = measured[measured["table"] == "age × town"]["rows"].to_numpy().reshape(9, 3)
    cells = np.where(rows["age"].isna(), 8, rows["age"] // 10).astype(int)
    made = np.zeros((9, 3))
    towns = rows["town"].map({"'=n": 0, "s": 1}).fillna(2).to_numpy().astype(int)
    np.add.at(made, (cells, towns), 1)
    apart = np.abs(made - one).sum() / 2 / len(rows)
    alone = made.sum(axis=1)[:, None] * made.sum(axis=0)[None] / len(rows)
    mixed = np.abs(alone - one).sum() / 2 / len(rows)
    [line] = re.findall(r"<tr><td>age × town</td>(.*)</tr>", section(stored))
    shares = [float(each) for each in re.findall(r"([\d.]+)%", line)]
    assert shares[0] == pytest.approx(100 * apart, rel=6e-3) and shares[2] == pytest.approx(100 * mixed, rel=6e-3)
    [part] = asked.parts
    again = "".join(usefulness(part, stored.files, person_rows=1))
    assert again.partition("</h4>")[2].strip() == section(stored).replace("\n", "").strip()


def test_noise_alone_is_the_mean_distance_of_the_true_table_from_released_ones() -> None:
    """200 releases: within 5%; half of the noise is not."""
    [part] = request().parts
    data = part.reading.from_frame(people())
    blank = blank_release(part)
    drawn = part.mechanism.run(part.mechanism.prepare(data, part.problem), Preview(1), 200)
    assert isinstance(drawn, rows_release.RowsRelease)
    records = np.asarray(data.records, dtype=np.int64)
    for chosen in ((0, 1), (0, 2)):
        truth = rows_release.count_cells(records, chosen, tuple(drawn.domain.sizes[a] for a in chosen))
        away = np.mean([total_variation(truth, table) for table in drawn.unbiased(chosen)])
        expected = noise_distance(blank, chosen, drawn.measured(), rows=N)
        assert away == pytest.approx(expected, rel=0.05) and away != pytest.approx(expected / 2, rel=0.05)


def test_shuffled_columns_have_the_product_of_the_columns() -> None:
    found = shuffled(np.array([[4, 0], [2, 2]]))
    np.testing.assert_allclose(found, [[3.0, 1.0], [3.0, 1.0]])
    assert total_variation(found, np.array([[3.0, 1.0], [1.0, 3.0]])) == 0.25


@pytest.mark.slow
def test_slopes_from_the_released_tables_hold_where_those_of_the_rows_do_not(tmp_path: Path) -> None:
    """60 releases of samples at ε = 0.3: pay goes up by 1 a year, but for the width of cells."""
    asked = request(values={"epsilon": 0.3})
    [part] = asked.parts
    truth, held = slope(people(400_000, seed=0)), np.zeros((2, 60))
    for seed in range(60):
        data = part.reading.from_frame(people(seed=seed + 1))
        drawn = part.mechanism.run(part.mechanism.prepare(data, part.problem), Preview(seed), 1)
        files = tables.csv_files(drawn, part.mechanism, digest="")
        text = "".join(usefulness(part, files, person_rows=1))
        [line] = re.findall(r"<tr><td>pay for one more of age</td>(.*?)</tr>", text)
        for kind, (low, high) in enumerate(re.findall(r"\((\S+) to (\S+)\)", line)):
            held[kind, seed] = float(low) <= truth <= float(high)
    as_real, from_table = held.mean(axis=1)
    assert as_real < 0.7 and from_table > 0.85, held.mean(axis=1)


def slope(frame: pd.DataFrame) -> float:
    """The slope of pay given age, at the middles of cells."""
    known = frame.dropna()
    age, pay = known["age"] // 10 * 10 + 5, np.minimum(known["pay"] // 10, 15) * 10 + 5
    return float(np.cov(age, pay)[0, 1] / np.var(age, ddof=1))


def test_what_cannot_be_said_is_not_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that hides the slope; persons with several rows; no pairs; chosen pairs; tables too large for a file."""
    assert "With this noise nothing can be said." in section(
        released(tmp_path / "1", request(values={"epsilon": 0.01}))
    )
    frame = people().assign(who=np.arange(N) // 2)
    persons = released(tmp_path / "2", replace(request(), person="who", rows_a_person=2), frame)
    assert "No slopes are computed, because a person has several rows" in section(persons)
    ruled = released(tmp_path / "3", request(values={"epsilon": 0.005, "rule": True}))
    assert "Only single columns were measured." in section(ruled)
    chosen = released(tmp_path / "4", request(values={"epsilon": 0.1, "rule": True}))
    [part] = request(values={"epsilon": 0.1, "rule": True}).parts
    assert isinstance(blank_release(part), rows_release.ChosenPairsRelease)
    assert "noise decided which pairs are measured" in section(chosen)
    monkeypatch.setattr(tables, "MAX_MEASURED_CELLS", 100)
    large = released(tmp_path / "5", request())
    assert set(large.files) == {"rows_of_nobody.csv", "distances.csv"}
    assert "the measured tables are not among them" in section(large) and "No true row" not in section(large)


def test_measured_tables_are_read_as_they_were_written_and_other_lines_are_none(tmp_path: Path) -> None:
    [part] = request().parts
    data = part.reading.from_frame(people())
    drawn = part.mechanism.run(part.mechanism.prepare(data, part.problem), Preview(1), 1)
    assert isinstance(drawn, rows_release.RowsRelease)
    files = tables.csv_files(drawn, part.mechanism, digest="")
    lines = pd.read_csv(io.BytesIO(files["measured_tables.csv"]), dtype=str, keep_default_na=False).to_numpy().tolist()
    read = read_measured(blank_release(part), lines)
    assert read is not None and list(read) == list(drawn.measured())
    assert all((table == read[chosen]).all() for chosen, table in drawn.measured().items())
    for other in (lines[1:], [*lines, lines[0]], [lines[1], lines[0], *lines[2:]]):
        assert read_measured(blank_release(part), other) is None
    blocks = pd.read_csv(io.BytesIO(files["rows_of_nobody.csv"]), dtype=str, keep_default_na=False).to_numpy().tolist()
    counts = synthetic_files.count_rows(drawn.domain, [blocks[:7], [], blocks[7:]], list(read))
    for chosen, table in counts.items():
        np.testing.assert_array_equal(table, rows_release.count_cells(drawn.rows(), chosen, table.shape))
