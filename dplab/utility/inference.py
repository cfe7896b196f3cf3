"""Intervals for a slope from synthetic rows of samples, as if they were real rows, and from released tables.

The bundled Adult table is the population: weekly hours given age and years of education. Each of T samples is released
once as a whole table; an interval then holds the population's slope, or not (Räisä, Jälkö, Kaski and Honkela 2023).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpcore.core import Booleans, Dataset, Floats, Integers, Neighbours, ParameterError, Problem, Provenance
from dpcore.core import ProvenanceKind as Kind
from dpcore.data.columns import Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.product import Product, is_table
from dpcore.data.samples import load_sample
from dpcore.mechanisms.tables.whole_table import WholeTable
from dpcore.queries.marginals import Marginals
from dpcore.randomness import Preview
from dplab.utility.models import Fit, fit
from dplab.utility.noise_aware import LinearModel, fit_tables
from dplab.utility.tables import shares, shuffled, total_variations

LEVEL, DELTA, RELEASES = 0.95, 1e-9, 20
OUTCOME, REGRESSORS = "hours_per_week", ("age", "education_num")
COLUMNS = (
    DeclaredColumn(name="age", on=Number(low=15, high=95, bins=16)),
    DeclaredColumn(name="education_num", on=Number(low=0.5, high=16.5, bins=16)),
    DeclaredColumn(name=OUTCOME, on=Number(low=-2.5, high=102.5, bins=21)),
)
"""Hours have cells around multiples of 5, which most people state: slopes are those of the file, within 1%."""
SLOPE = REGRESSORS.index("education_num") + 1
"""Place of the slope among the coefficients: hours a week for one more year of education."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SlopeIntervals:
    """Intervals at LEVEL for the population's slope, by release of a sample, and how like the sample its rows are.

    Attributes:
        truth: slope in the population.
        real: intervals from the sampled rows, (T, 2).
        synthetic: from the synthetic rows as if they were real, (T, 2); NaN where they fit no model.
        released: from the released tables with their known noise, (T, 2); NaN where nothing can be said.
        distances: mean total variation of pairs of columns between synthetic and sampled rows, (T,).
        other_rows: that between two samples, (T,).
        shuffled_rows: that between a sample and its columns shuffled, (T,).
    """

    truth: float
    real: Floats
    synthetic: Floats
    released: Floats
    distances: Floats
    other_rows: Floats
    shuffled_rows: Floats

    def holds(self, intervals: Floats) -> Booleans:
        """Return which intervals (T, 2) hold the population's slope, (T,); one that says nothing does not."""
        low, high = intervals.T
        hits: Booleans = (low <= self.truth) & (self.truth <= high)
        return hits

    @property
    def refused(self) -> Booleans:
        """Whether nothing can be said from the released tables, (T,)."""
        return np.isnan(self.released[:, 0])


@cache  # of a public sample
def population() -> tuple[Product, Integers]:
    """Return the population's columns and its rows as cells, (48,842, 3)."""
    table = DeclaredTable(columns=COLUMNS).whole()
    dataset = table.dataset(load_sample("adult"), Provenance(kind=Kind.BUNDLED, title="Adult"))
    assert is_table(dataset.domain)
    return dataset.domain, np.asarray(dataset.records)


def population_fit() -> Fit:
    """Return the regression on all rows."""
    domain, rows = population()
    outcome, regressors = places(domain)
    return fit(domain, rows, outcome=outcome, regressors=regressors)


def places(domain: Product) -> tuple[int, tuple[int, ...]]:
    """Return the places of the outcome and of the regressors among the columns."""
    return domain.names.index(OUTCOME), tuple(map(domain.names.index, REGRESSORS))


def draw_slopes(*, n: int, epsilon: float, seed: int) -> Generator[float, None, SlopeIntervals]:
    """Draw RELEASES samples of n rows with replacement, and a release of each; yield the share done.

    Args:
        n: rows of each sample.
        epsilon: ε, for one row more or less, at δ = DELTA.
        seed: of the samples and of the preview sampler.
    """
    domain, rows = population()
    outcome, regressors = places(domain)
    model = LinearModel(domain=domain, outcome=outcome, regressors=regressors)
    problem = Problem(
        domain=domain, queries=Marginals(domain=domain, ways=2), n=n, neighbours=Neighbours.ADD_REMOVE_ONE
    )
    mechanism = WholeTable(epsilon=epsilon, delta=DELTA, rule=False)  # all pairs are measured, at any ε
    noise = model.noise(mechanism.plan(problem))
    draw = np.random.Generator(np.random.SFC64(seed))
    found, apart = np.full((RELEASES, 3, 2), np.nan), np.zeros((RELEASES, 3))
    for place in range(RELEASES):
        yield place / RELEASES
        sample, other = (rows[draw.integers(0, len(rows), n)] for _ in range(2))
        provenance = Provenance(kind=Kind.GENERATED, title="a sample")
        state = mechanism.prepare(Dataset(domain=domain, records=sample, provenance=provenance), problem)
        release = mechanism.run(state, Preview(seed + place), 1)
        made = release.rows()
        for kind, each in enumerate((sample, made)):
            with suppress(ParameterError):  # no model fits rows of one value
                found[place, kind] = _slope(fit(domain, each, outcome=outcome, regressors=regressors))
        with suppress(ParameterError):  # it says that nothing can be said
            found[place, 2] = _slope(fit_tables(model, release.unbiased, noise))
        truth = shares(sample, domain.sizes, ways=2)
        for kind, each in enumerate((made, other, shuffled(sample, seed=seed + place))):
            apart[place, kind] = total_variations(shares(each, domain.sizes, ways=2), truth).mean()
    return SlopeIntervals(
        truth=float(population_fit().values[SLOPE]),
        real=found[:, 0],
        synthetic=found[:, 1],
        released=found[:, 2],
        distances=apart[:, 0],
        other_rows=apart[:, 1],
        shuffled_rows=apart[:, 2],
    )


def _slope(found: Fit) -> Floats:
    """Return the slope's interval, (2,)."""
    ends: Floats = found.interval(level=LEVEL)[SLOPE]
    return ends
