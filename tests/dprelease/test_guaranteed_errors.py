"""An error bound says the same, in its own unit, wherever it is read, and nothing where it says nothing."""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtrc

import dpcore
from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Dataset,
    ErrorUnit,
    Neighbours,
    Provenance,
    ProvenanceKind,
    describe_error,
)
from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import Product, is_table
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.mechanisms.tables.rows_release import RowsRelease
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import Intervals, Thresholds
from dpcore.randomness import Preview
from dplab.limits.data_independent_summary import promised_error
from dprelease.certificate import certificate, unreleasable, verify
from dprelease.downloads import PROGRAM, downloads_of, zip_files
from dprelease.downloads.report import report
from dprelease.release import rehearse, unsuitable
from dprelease.requests.coverage import coverage
from dprelease.requests.parts import Request
from dprelease.requests.tables import BETA
from tests.dprelease.test_catalogue_releases import ENTRIES, REFUSED, requested
from tests.kit.ledgers import released_in, request_of
from tests.kit.promises.cases import FALSE_ALARM, QUICK
from tests.kit.promises.covered import rows_of

BOUND = Bound(value=0.02, kind=BoundKind.GUARANTEE, statement="", reference="", beta=0.05, rows_needed=500)


PRINTED = re.compile(
    r"With confidence (?P<confidence>[\d.]+)%, (?:.+ has an error above|no more than|the rule errs on at most) "
    r"(?P<rows>[\d,.e-]+) rows? \((?P<share>[\d.e-]+)% of n\)"
    r"(?: lie between the answer and the quantile| more than the best rule of the class)?\..*"
)
REPLACED, ADDED = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE
ONE_RELATION = {
    "clipped_mean": REPLACED,
    "find_labels_optimal": ADDED,
    "subsample-groups": REPLACED,
    "subsample-near": REPLACED,
    "subsample_commonest": REPLACED,
    "subsample_larger": REPLACED,
    "subsample_median": REPLACED,
}
"""Mechanisms that are released under one relation alone: most need a public n, one proves its δ for added rows."""
ROWS_SAID = re.compile(r"(at most|more than|above) [\d,]+ rows")
RANGE = re.compile(r"With confidence [\d.]+%, the value has an error of at most (?P<share>[\d.e-]+)% of the range .*")


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_errors_on_data_made_hard_keep_to_the_printed_number(entry: dpcore.Entry, seed: int) -> None:
    """The exact binomial test of the promises, of the number that is printed; ``Case.of`` names what is no error."""
    rows = [row for row in rows_of(entry, QUICK, seed=seed) if not row.case.of]
    level = FALSE_ALARM / len(ENTRIES) / max(1, len(rows))
    for row in rows:
        sentence = describe_error(row.bound, n=row.case.problem.n)
        assert sentence.startswith("No guarantee") is not row.bound.guaranteed
        if not row.bound.guaranteed:
            continue
        assert row.errors is not None
        if row.bound.unit is ErrorUnit.EXACT:
            assert not (row.errors[np.isfinite(row.errors)] > 0).any()
            continue
        found = (RANGE if row.bound.unit is ErrorUnit.RANGE else PRINTED).fullmatch(sentence)
        assert found, sentence
        share = float(found["share"]) / 100
        assert row.bound.value * (1 - 1e-12) <= share <= 1.011 * row.bound.value
        broken = int((row.errors > share * (1 + 1e-9) + 1e-12).sum())
        assert not broken or bdtrc(broken - 1, len(row.errors), row.bound.beta) >= level, row.text(entry.key)


@pytest.mark.parametrize("epsilon", [0.03, 0.1, 0.37, 1.3])
@pytest.mark.parametrize("key", ["identity", "gaussian", "windows", "hierarchy", "root", "residual-planner"])
def test_a_statement_prints_no_fewer_rows_than_are_proved(key: str, epsilon: float) -> None:
    """To the nearest whole row it would be too few half of the time."""
    [part] = requested(dpcore.entry(key), Neighbours.REPLACE_ONE).parts
    part = replace(part, values={**part.values, "epsilon": epsilon})
    bound = part.mechanism.accuracy(part.problem, BETA)
    [printed] = re.findall(r"(?:of at most|error above) ([\d,]+) rows", bound.statement)
    assert bound.value * part.n - 1e-6 <= int(printed.replace(",", "")) < bound.value * part.n + 1


def test_rows_of_a_whole_table_exceed_the_bound_of_its_released_tables(seed: int) -> None:
    """The number that was printed of the rows is not true of them, and is printed of the released tables alone."""
    domain = Product(names=tuple("uvwxyz"), columns=tuple(Labels(labels=tuple("abc")) for _ in range(6)))
    queries = Marginals(domain=domain, ways=2)
    problem = dpcore.Problem(domain=domain, queries=queries, n=20_000, neighbours=Neighbours.REPLACE_ONE)
    coins = np.random.Generator(np.random.PCG64(seed))
    records = np.repeat(coins.integers(0, 2, size=(20_000, 1)), 6, axis=1)
    records[:, 1:] ^= coins.integers(0, 2, size=(20_000, 5)) * (coins.random((20_000, 5)) < 0.5)
    data = Dataset(domain, records, Provenance(kind=ProvenanceKind.GENERATED, title="pairs"))
    mechanism = WholeTable(epsilon=20.0, rule=False)
    bound = mechanism.accuracy(problem, BETA)
    released = mechanism.run(mechanism.prepare(data, problem), Preview(seed), 1)
    assert isinstance(released, RowsRelease) and bound.guaranteed and bound.unit is ErrorUnit.TABLES
    rows, size = released.rows(), domain.sizes[0]
    apart = {}
    for pair in queries.sets():
        true, made = (
            np.bincount(size * each[:, pair[0]] + each[:, pair[1]], minlength=size**2) for each in (records, rows)
        )
        apart[pair] = int(np.abs(true - made).max())
    assert max(apart.values()) > bound.value * problem.n
    told = released.distances(rows, beta=BETA)
    pairs = [pair for pair in released.tables(trial=0) if len(pair) == 2]
    assert all(within >= apart[pair] for within, pair in zip(told["within"], pairs, strict=True))
    assert promised_error(mechanism, problem, beta=BETA) == math.inf
    assert "No error is guaranteed for synthetic rows" in describe_error(bound, n=problem.n)


def asked(
    key: str,
    *,
    n: int,
    queries: type[Any] = Thresholds,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
    **values: Any,
) -> Request:
    """A request about incomes."""
    on = Number(low=0.0, high=80_000.0, bits=6, unit="USD")
    return request_of(
        reading=Columns(names=("income",), on=on),
        queries=queries(domain=on),
        n=n,
        neighbours=neighbours,
        entry_key=key,
        values=values,
    )


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (ErrorUnit.ROWS, "no query has an error above 20 rows (2% of n)."),
        (
            ErrorUnit.TABLES,
            "no cell of the released tables has an error above 20 rows (2% of n). No error is guaranteed",
        ),
        (ErrorUnit.EXCESS, "the rule errs on at most 20 rows (2% of n) more than the best rule of the class."),
        (ErrorUnit.RANKS, "no more than 20 rows (2% of n) lie between the answer and the quantile."),
        (ErrorUnit.RANGE, "the value has an error of at most 1,600 USD (2% of the range between the bounds)."),
    ],
)
def test_an_error_is_said_in_its_own_unit(unit: ErrorUnit, words: str) -> None:
    line = Number(low=0.0, high=80_000.0, unit="USD")
    sentence = describe_error(replace(BOUND, unit=unit), n=1000, of_range=line.describe_distance)
    assert sentence.startswith("With confidence 95%, " + words)


@pytest.mark.parametrize(
    "bound",
    [
        replace(BOUND, value=1.0),
        replace(BOUND, value=math.inf, kind=BoundKind.ORDER_ONLY),
        replace(BOUND, kind=BoundKind.ORDER_ONLY),
        replace(BOUND, assumptions=(Assumption(text="n is large", met=False),)),
    ],
)
@pytest.mark.parametrize("unit", ErrorUnit)
def test_what_says_nothing_gives_no_number(bound: Bound, unit: ErrorUnit) -> None:
    sentence = describe_error(replace(bound, unit=unit), n=400)
    assert sentence.startswith("No guarantee: ") and not replace(bound, unit=unit).guaranteed
    assert "rows" not in sentence.replace("500", "")


def test_a_rehearsal_gives_no_number_where_nothing_is_guaranteed() -> None:
    printed = rehearse(asked("intervals-printed", n=5000, queries=Intervals, alpha=0.1, epsilon=1.0)).sentence
    assert "No guarantee: the theorem's assumptions are not all met. It needs n = " in printed
    few = rehearse(asked("identity", n=50, queries=Thresholds, epsilon=0.01)).sentence
    assert "No guarantee: the bound is 100% of n or more." in few
    median = rehearse(asked("stable_median", n=5000, epsilon=1.0)).sentence
    assert "An answer is exact" in median and "0 rows" not in median
    mean = rehearse(asked("clipped_mean", n=5000, epsilon=1.0)).sentence
    assert " USD (" in mean and "% of the range between the bounds)." in mean
    assert "rows" not in mean.split("charged.")[1]
    quantile = rehearse(asked("exponential_median", n=5000, epsilon=1.0)).sentence
    assert "lie between the answer and the quantile." in quantile


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", Neighbours, ids=str)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_rehearsal_certificate_and_report_show_a_bound_where_it_is_guaranteed(
    entry: dpcore.Entry, neighbours: Neighbours, tmp_path: Path
) -> None:
    """Every mechanism under every relation, on the small problem of the catalogue's releases."""
    request = requested(entry, neighbours)
    refused = entry.key in REFUSED or ONE_RELATION.get(entry.key, neighbours) is not neighbours
    assert bool(unreleasable(request) or unsuitable(request)) is refused
    if refused:
        return
    [part] = request.parts
    bound = part.mechanism.accuracy(part.problem, BETA)
    sentence = part.guaranteed_error(BETA)
    assert bound.guaranteed is not sentence.startswith("No guarantee")
    assert rehearse(request).errors == (sentence,)
    lines = [f"{place % 100},{place % 10},{'abc'[place % 3]},x" for place in range(request.n)]
    table = read_table("\n".join(["age,pay,job,name", *lines]).encode(), name="people.csv", header=True)
    came = released_in(
        tmp_path, request, epsilon=100.0, delta=0.5, rows=table, neighbours=request.neighbours, public_n=request.n
    )
    document = certificate(came)
    assert verify(document, came.files) == []
    accuracy = document["parts"][0]["accuracy"]
    assert (accuracy["guaranteed_error"], accuracy["unit"]) == (sentence, bound.unit.value)
    assert (accuracy["worst_error"] != "no guarantee") is bound.guaranteed
    about = coverage(part.mechanism, part.problem)
    assert accuracy["statement"] == " ".join(filter(None, (bound.statement if bound.guaranteed else "", about)))
    text = report(came).decode()
    assert sentence.split(" (")[0].replace("'", "&#x27;") in text
    assert bound.statement and (escape(bound.statement) in text) is bound.guaranteed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "neighbours", "reason"),
    [
        ("identity", Neighbours.REPLACE_ONE, "the bound is 100% of n or more."),
        ("projected_histogram", Neighbours.ADD_REMOVE_ONE, "the theorem's assumptions are not all met."),
    ],
)
def test_no_script_prints_a_number_of_rows_that_is_no_guarantee(
    key: str, neighbours: Neighbours, reason: str, tmp_path: Path
) -> None:
    n, epsilon = (50, 0.01) if neighbours is Neighbours.REPLACE_ONE else (400, 1.0)
    table = read_table("\n".join(["income", *map(str, range(n))]).encode(), name="people.csv", header=True)
    request = asked(key, n=n, neighbours=neighbours, queries=Thresholds, epsilon=epsilon)
    [part] = request.parts
    assert re.search(ROWS_SAID, part.mechanism.accuracy(part.problem, BETA).statement), "a number to be left out"
    came = released_in(tmp_path / "ledger", request, rows=table, neighbours=request.neighbours, public_n=n)
    zipfile.ZipFile(io.BytesIO(zip_files(downloads_of(came)))).extractall(tmp_path)
    ran = subprocess.run([sys.executable, "-P", str(tmp_path / PROGRAM)], cwd="/", capture_output=True, text=True)
    assert ran.returncode == 0 and f"No guarantee: {reason}" in ran.stdout
    assert not re.search(ROWS_SAID, ran.stdout)


def test_rows_are_said_to_be_as_far_from_the_truth_as_they_are(tmp_path: Path) -> None:
    """A pair that depends on nothing measured in its cell is off by more than the released tables' error."""
    rows = 3000
    lines = [f"{'abcd'[place % 4]},{'wxyz'[place % 4]},{place % 7}" for place in range(rows)]
    table = read_table("\n".join(["first,second,third", *lines]).encode(), name="people.csv", header=True)
    labels: tuple[Number | Labels, ...] = (
        Labels(labels=tuple("abcd")),
        Labels(labels=tuple("wxyz")),
        Number(high=7.0, bins=7),
    )
    columns = zip(("first", "second", "third"), labels, strict=True)
    reading = DeclaredTable(columns=tuple(DeclaredColumn(name=name, on=on) for name, on in columns)).whole()
    assert is_table(reading.domain)
    queries = Marginals(domain=reading.domain, ways=2)
    request = request_of(
        reading=reading,
        queries=queries,
        n=rows,
        neighbours=Neighbours.REPLACE_ONE,
        entry_key="whole-table",
        values={"epsilon": 1.0, "delta": 1e-6},
    )
    came = released_in(
        tmp_path, request, epsilon=1.0, delta=1e-6, rows=table, neighbours=request.neighbours, public_n=rows
    )
    text = report(came).decode()
    assert "no cell of the released tables has an error above" in text
    assert "No error is guaranteed for synthetic rows fitted to them." in text
    assert "Known error of these rows: compared with the released tables of as many columns, the" in text
    assert "They are synthetic: computed only from the noisy measurements." in text and "nearly" not in text
    told = came.files["distances.csv"].decode().splitlines()
    assert told[0] == "table,apart,within" and len(told) == 1 + 3
    assert "For other statistics no error is known." in text
    pairs = {f"{one} × {other}" for one, other in combinations(("first", "second", "third"), 2)}
    assert {line.split(",")[0] for line in told[1:]} == pairs, "no single column, and not all three"
