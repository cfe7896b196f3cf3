"""What synthetic rows are good for: tables, prediction and telling apart, beside other real rows and shuffled columns.

Real rows are cut in two halves. Each kind of rows has as many as one half and is compared with the other half, so that
all have the same sampling error.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.data.columns import is_number
from dpcore.data.product import Product
from dplab.utility.prediction import distinguish, prediction_quality
from dplab.utility.tables import cramers_v, shares, shuffled, total_variations

SYNTHETIC, OTHER, SHUFFLED = "synthetic rows", "other real rows", "columns shuffled"
MAX_TOLD_APART = 5_000
"""Rows of each kind from which it is learnt to tell them apart."""
MIN_ROWS = 20
"""Real rows of a half."""


@dataclass(frozen=True, kw_only=True)
class RowMeasures:
    """How far rows are from real ones that they were not compared with before.

    Attributes:
        pairs: mean total variation of tables of two columns.
        triples: of three columns; NaN for a table of two.
        associations: mean absolute difference of Cramér's V over pairs of columns.
        predicted: area under the curve of predicting the outcome of real rows; NaN without an outcome.
        told_apart: area under the curve of telling the rows from real ones.
    """

    pairs: float
    triples: float
    associations: float
    predicted: float
    told_apart: float


def outcomes(domain: Product) -> list[int]:
    """Return the places of columns of two labels."""
    return [place for place, column in enumerate(domain.columns) if not is_number(column) and len(column.points()) == 2]


def measure_rows(
    domain: Product, *, synthetic: Integers, real: Integers, outcome: int | None, seed: int
) -> Generator[float, None, dict[str, RowMeasures]]:
    """Compute the measures of three kinds of rows; yield the share done.

    Args:
        domain: of the rows.
        synthetic: cells, (n, d), at least half as many as the real rows.
        real: cells, (n, d), which may be shown.
        outcome: place of a column of two labels that is predicted from all others; None: none is.
        seed: of the halves.

    Raises:
        ParameterError: there are too few real rows, or an outcome does not occur.
    """
    half = min(len(real) // 2, len(synthetic))
    if half < MIN_ROWS:
        raise ParameterError(f"Rows are compared with real ones from {2 * MIN_ROWS} rows on.")
    draw = np.random.Generator(np.random.SFC64(seed))
    order = draw.permutation(len(real))
    given, held_out = real[order[:half]], real[order[-half:]]
    made = synthetic[draw.permutation(len(synthetic))[:half]]
    kinds = {SYNTHETIC: made, OTHER: given, SHUFFLED: shuffled(given, seed=seed)}
    tables = {ways: shares(held_out, domain.sizes, ways=ways) for ways in (2, 3) if ways <= len(domain.names)}
    strengths, found = cramers_v(held_out, domain.sizes), dict[str, RowMeasures]()
    for place, (name, rows) in enumerate(kinds.items()):
        yield place / len(kinds)
        apart = {
            ways: float(total_variations(shares(rows, domain.sizes, ways=ways), table).mean())
            for ways, table in tables.items()
        }
        associations = mean_difference(cramers_v(rows, domain.sizes), strengths)
        yield (place + 0.3) / len(kinds)
        area = np.nan if outcome is None else prediction_quality(domain, rows, held_out, outcome=outcome)
        yield (place + 0.5) / len(kinds)
        told = distinguish(domain, rows[:MAX_TOLD_APART], held_out[:MAX_TOLD_APART], seed=seed)
        found[name] = RowMeasures(
            pairs=apart[2],
            triples=apart.get(3, np.nan),
            associations=associations,
            predicted=area,
            told_apart=told.area,
        )
    return found


def mean_difference(found: Floats, truth: Floats) -> float:
    """Return the mean absolute difference of Cramér's V over the pairs of columns that are not constant in either."""
    differences = np.abs(found - truth)[np.triu_indices(len(truth), 1)]
    known = differences[np.isfinite(differences)]
    return float(known.mean()) if len(known) else float("nan")
