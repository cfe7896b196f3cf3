"""What synthetic rows of the bundled Adult table are good for, beside other real rows and shuffled columns.

Nine columns, delta = 1e-9, rows added or removed, half of the people released and the other half held out. Printed:
mean total variation of pairs and triples from the held-out rows; the area under the curve of predicting the income of
held-out people; how well synthetic rows are told apart from real ones; and how many 95% intervals of a regression's
slopes hold the slopes of all people: computed as if the rows were real, and from the released tables of pairs with
their known noise.
"""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np

from benchmarks.synthetic.rows import DELTA, declared
from dpcore import Dataset, Neighbours, Problem, Provenance, ProvenanceKind, Secure
from dpcore.core import Booleans, Integers, ParameterError
from dpcore.data.declarations import DeclaredTable
from dpcore.data.product import Product, is_table
from dpcore.data.samples import load_sample
from dpcore.mechanisms.tables.rows_release import RowsRelease
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dplab.utility.models import fit
from dplab.utility.noise_aware import LinearModel, fit_tables
from dplab.utility.prediction import distinguish, prediction_quality
from dplab.utility.tables import shares, shuffled, total_variations

LEFT_OUT = ("fnlwgt", "capital_gain", "capital_loss", "race", "native_country")
EPSILONS = (10.0, 3.0, 1.0, 0.3, 0.1)
NUMBERS_OF_ROWS = (2_000, 48_842)
OUTCOME, HOURS, REGRESSORS = "income", "hours_per_week", ("age", "education_num")
REPEATS, LEVEL = 20, 0.95
PROVENANCE = Provenance(kind=ProvenanceKind.BUNDLED, title="Adult")


def release_of(domain: Product, rows: Integers, *, epsilon: float, rule: bool = True) -> RowsRelease:
    """One release, drawn by the secure sampler; without the rule all pairs are measured, whatever the noise."""
    dataset = Dataset(domain=domain, records=rows.astype(np.uint16), provenance=PROVENANCE)
    mechanism, problem = WholeTable(epsilon=epsilon, delta=DELTA, rule=rule), problem_of(domain, len(rows))
    return mechanism.run(mechanism.prepare(dataset, problem), Secure())


def problem_of(domain: Product, n: int) -> Problem:
    """All tables of two columns."""
    queries = Marginals(domain=domain, ways=2)
    return Problem(domain=domain, queries=queries, n=n, neighbours=Neighbours.ADD_REMOVE_ONE)


def describe(name: str, domain: Product, rows: Integers, held_out: Integers) -> None:
    """Print the measures of some rows."""
    apart = [
        total_variations(shares(rows, domain.sizes, ways=ways), shares(held_out, domain.sizes, ways=ways)).mean()
        for ways in (2, 3)
    ]
    area = prediction_quality(domain, rows, held_out, outcome=domain.names.index(OUTCOME))
    distance = distinguish(domain, rows, held_out, seed=1)
    print(
        f"{name}: pairs {apart[0]:.3f}, triples {apart[1]:.3f}, predicts {area:.4f}, told apart {distance.area:.3f} "
        f"(pMSE {distance.square:.4f})",
        flush=True,
    )


def coverage(domain: Product, rows: Integers, *, n: int, epsilon: float) -> str:
    """How many intervals of two slopes hold those of all rows: of n real rows, of synthetic ones, of released pairs."""
    outcome, regressors = domain.names.index(HOURS), tuple(map(domain.names.index, REGRESSORS))
    slopes = fit(domain, rows, outcome=outcome, regressors=regressors).values[1:]
    model = LinearModel(domain=domain, outcome=outcome, regressors=regressors)
    noise = model.noise(WholeTable(epsilon=epsilon, delta=DELTA, rule=False).plan(problem_of(domain, n)))
    draw, held = np.random.default_rng(1), dict[str, list[Booleans]]()
    for _ in range(REPEATS):
        sample = rows[draw.integers(0, len(rows), n)]
        release = release_of(domain, sample, epsilon=epsilon, rule=False)
        found = {
            "real rows": fit(domain, sample, outcome=outcome, regressors=regressors),
            "rows as if real": fit(domain, release.rows(), outcome=outcome, regressors=regressors),
        }
        with suppress(ParameterError):  # it says that nothing can be said
            found["from the pairs"] = fit_tables(model, release.unbiased, noise)
        for name, each in found.items():
            low, high = each.interval(level=LEVEL)[1:].T
            held.setdefault(name, []).append((low <= slopes) & (slopes <= high))
    told = (f"{name} {np.mean(each):.0%} of {len(each)}" for name, each in held.items())
    return f"{', '.join(told)}; {REPEATS - len(held.get('from the pairs', []))} refused"


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
        describe(f"  rows at epsilon {epsilon:g}", domain, release_of(domain, given, epsilon=epsilon).rows(), held_out)
    print(f"{LEVEL:.0%} intervals of two slopes, {REPEATS} samples and releases each:")
    for n in NUMBERS_OF_ROWS:
        for epsilon in EPSILONS:
            start = time.perf_counter()
            told = coverage(domain, rows, n=n, epsilon=epsilon)
            print(f"  n = {n:,}, epsilon {epsilon:g}: {told} ({time.perf_counter() - start:.0f} s)", flush=True)
