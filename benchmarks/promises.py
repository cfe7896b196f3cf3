"""Promise against reality: how often each entry of the catalogue breaks its promise, and how near it comes.

Every promise of the grid (class of queries, rows n, relation, privacy loss, allowed error, chance of failure beta) is
tried on data made to be hard for it: an exact binomial test asks whether it fails more often than beta, at a level
shared out among all promises. The table tells, for each entry and class, the error that all but a share beta of the
releases keep over the promised one (least, median, greatest): far below 1 the theorem is loose, or the data are not its
worst. Where a promise is about the chance of a right answer, it is the chance of a failure over beta. A refusal is a
failure where an answer was promised. "alarm at" is the positive control: the least number by which promises must be
divided before one of them is called broken.

`python -m benchmarks.promises` also prints a line for each promise.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from dpcore import catalogue
from tests.kit.promises.cases import BETAS, FALSE_ALARM, FULL, Row
from tests.kit.promises.covered import rows_of

FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)


def line(key: str, rows: Sequence[Row], *, level: float) -> str:
    """The table's line on the rows of one class of queries."""
    tried = [row for row in rows if row.errors is not None]
    known = f"{key:29} {rows[0].case.problem.queries.key:15} {len(tried):6,} {len(rows) - len(tried):6,} "
    if not tried:
        return known + f" no promise: {', '.join(sorted({row.silence for row in rows}))}"
    ratios, often = np.array([row.ratio for row in tried]), max(row.failures() / row.trials / row.beta for row in tried)
    alarm = next((f"{factor:g}" for factor in FACTORS if any(row.tail(factor) < level for row in tried)), "none")
    return known + f"{ratios.min():6.2f} {np.median(ratios):6.2f} {ratios.max():6.2f} {often:8.2f} {alarm:>8}"


def main(*, every: bool = False) -> int:
    """Print the table and what it comes to; the number of broken promises and of controls that raised no alarm."""
    found = [(entry.key, row) for entry in catalogue() for row in rows_of(entry, FULL, seed=1)]
    tried = [(key, row) for key, row in found if row.errors is not None]
    level = FALSE_ALARM / len(tried)
    print(f"beta = {' and '.join(map(str, BETAS))}; exact binomial tests at {FALSE_ALARM:g} / {len(tried):,}")
    print(f"{'':45} {'promises':>13}   observed / promised   failures")
    print(
        f"{'entry':29} {'queries':15} {'tried':>6} {'silent':>6} {'least':>6} {'median':>6} {'most':>6} {'/ beta':>8} "
        f"{'alarm at':>8}"
    )
    unalarmed = 0
    for (key, _), group in groupby(found, key=lambda pair: (pair[0], pair[1].case.problem.queries.key)):
        rows = [row for _, row in group]
        told = line(key, rows, level=level)
        unalarmed += told.endswith("none")
        print(told)
    broken = [(key, row) for key, row in tried if row.tail() < level]
    for key, row in tried if every else broken:
        print(f"{'BROKEN ' if row.tail() < level else ''}{row.text(key)}")
    print(f"{len(tried):,} promises tried, {len(broken)} broken; {len(found) - len(tried):,} promise nothing")
    return len(broken) + unalarmed


if __name__ == "__main__":
    sys.exit(main(every=True) > 0)
