"""What synthetic rows of the bundled Adult table are good for, beside other real rows and shuffled columns.

Nine columns, delta = 1e-9, rows added or removed, half of the people released and the other half held out. Printed:
mean total variation of pairs and triples from the held-out rows; the area under the curve of predicting the income of
held-out people; how well synthetic rows are told apart from real ones; and how many 95% intervals of a regression's
slopes, computed as if the rows were real, hold the slopes of all people.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.synthetic.rows import DELTA, declared
from dpcore import Dataset, Neighbours, Problem, Provenance, ProvenanceKind, Secure
from dpcore.core import Integers
from dpcore.data.declarations import DeclaredTable
from dpcore.data.product import Product, is_table
from dpcore.data.samples import load_sample
from dpcore.mechanisms.tables.whole_table import RowsRelease, WholeTable
from dpcore.queries.marginals import Marginals
from dplab.utility.models import fit
from dplab.utility.prediction import prediction_quality, told_apart
from dplab.utility.tables import shares, shuffled, total_variations

LEFT_OUT = ("fnlwgt", "capital_gain", "capital_loss", "race", "native_country")
EPSILONS = (10.0, 1.0, 0.1)
OUTCOME, HOURS, REGRESSORS = "income", "hours_per_week", ("age", "education_num")
REPEATS, LEVEL = 20, 0.95
PROVENANCE = Provenance(kind=ProvenanceKind.BUNDLED, title="Adult")


def synthetic(domain: Product, rows: Integers, *, epsilon: float) -> Integers:
    """Rows of one release, drawn by the secure sampler."""
    dataset = Dataset(domain=domain, records=rows.astype(np.uint16), provenance=PROVENANCE)
    queries = Marginals(domain=domain, ways=2)
    problem = Problem(domain=domain, queries=queries, n=len(rows), neighbours=Neighbours.ADD_REMOVE_ONE)
    mechanism = WholeTable(epsilon=epsilon, delta=DELTA)
    release: RowsRelease = mechanism.run(mechanism.prepare(dataset, problem), Secure())
    return release.rows()


def describe(name: str, domain: Product, rows: Integers, held_out: Integers) -> None:
    """Print the measures of some rows."""
    apart = [
        total_variations(shares(rows, domain.sizes, ways=ways), shares(held_out, domain.sizes, ways=ways)).mean()
        for ways in (2, 3)
    ]
    area = prediction_quality(domain, rows, held_out, outcome=domain.names.index(OUTCOME))
    told = told_apart(domain, rows, held_out, seed=1)
    print(
        f"{name}: pairs {apart[0]:.3f}, triples {apart[1]:.3f}, predicts {area:.4f}, told apart {told.area:.3f} "
        f"(pMSE {told.square:.4f})",
        flush=True,
    )


def coverage(domain: Product, rows: Integers, *, epsilon: float | None) -> float:
    """The share of intervals of two slopes that hold those of all rows; without epsilon, of real rows: the control."""
    outcome, regressors = domain.names.index(HOURS), tuple(map(domain.names.index, REGRESSORS))
    slopes = fit(domain, rows, outcome=outcome, regressors=regressors).values[1:]
    draw, held = np.random.default_rng(1), []
    for _ in range(REPEATS):
        sample = rows[draw.integers(0, len(rows), len(rows))]
        seen = sample if epsilon is None else synthetic(domain, sample, epsilon=epsilon)
        low, high = fit(domain, seen, outcome=outcome, regressors=regressors).interval(level=LEVEL)[1:].T
        held.append((low <= slopes) & (slopes <= high))
    return float(np.mean(held))


def main() -> None:
    """Print the table, and how many intervals hold."""
    table = DeclaredTable(columns=tuple(each for each in declared().columns if each.name not in LEFT_OUT))
    dataset = table.whole().dataset(load_sample("adult"), PROVENANCE)
    domain = dataset.domain
    assert is_table(domain)
    rows = np.asarray(dataset.records, dtype=np.int64)
    order = np.random.default_rng(1).permutation(len(rows))
    given, held_out = rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]
    print(f"Adult: {len(given):,} people given, {len(held_out):,} held out, {len(domain.names)} columns")
    describe("  other real rows", domain, given, held_out)
    describe("  shuffled columns", domain, shuffled(given, seed=1), held_out)
    for epsilon in EPSILONS:
        describe(f"  rows at epsilon {epsilon:g}", domain, synthetic(domain, given, epsilon=epsilon), held_out)
    print(f"{REPEATS} releases of {len(rows):,} people: {LEVEL:.0%} intervals of two slopes, as if the rows were real")
    for chosen in (None, *EPSILONS):
        start = time.perf_counter()
        held = coverage(domain, rows, epsilon=chosen)
        kind = "real rows" if chosen is None else f"rows at epsilon {chosen:g}"
        print(f"  {kind}: {held:.0%} hold ({time.perf_counter() - start:.0f} s)", flush=True)
