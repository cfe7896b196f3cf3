"""Section of a report on what synthetic rows are good for, from the released files alone: no true row is read.

Each measured table of several columns is compared with the rows' own. The noise of a released table is public, and so
is how far a table is from the true one by noise alone, on average. Slopes are fitted to the released tables, with the
noise counted, beside those of the rows as if they were real.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np

from dpcore.core import Floats, Integers, ParameterError
from dpcore.data.product import Product
from dpcore.mechanisms.tables.rows_release import (
    DISTANCES,
    MEASURED,
    SYNTHETIC_ROWS,
    ChosenPairsRelease,
    RowsRelease,
    table_name,
)
from dpcore.queries.marginals import Set
from dplab.utility.models import Fit, fit
from dplab.utility.pair_slopes import fit_pair, number_pairs
from dprelease.downloads.escaping import escape
from dprelease.requests.file_checks import rows_of
from dprelease.requests.parts import RequestPart
from dprelease.requests.synthetic_files import blank_release, can_count, count_rows, read_measured

MAX_TABLES, MAX_SLOPES = 12, 6
"""Largest numbers of tables and of slopes that a report shows."""
NOTHING = "With this noise nothing can be said."


def usefulness(question: RequestPart, files: Mapping[str, bytes], *, person_rows: int) -> Iterator[str]:
    """Write the section as HTML.

    Args:
        question: the part of the request.
        files: its released files, by their names without a prefix.
        person_rows: largest number of rows of a person.
    """
    yield "<h4>What these rows are good for</h4>"
    release = blank_release(question)
    if f"{MEASURED}.csv" not in files or not can_count(release.domain):
        yield "<p>It cannot be computed from the released files: the measured tables are not among them.</p>"
        return
    lines = [line for block in rows_of(files[f"{MEASURED}.csv"]) for line in block]
    measured = read_measured(release, lines)
    if measured is None:
        raise ParameterError("The measured tables do not match the request.")
    counts = count_rows(release.domain, rows_of(files[f"{SYNTHETIC_ROWS}.csv"]), list(measured))
    yield "<p>Computed from the released files alone. No true row was read.</p>"
    yield from _tables(release, measured, counts)
    yield from _slopes(release, measured, counts, level=question.level, person_rows=person_rows)


def _tables(release: RowsRelease, measured: Mapping[Set, Floats], counts: Mapping[Set, Integers]) -> Iterator[str]:
    """Write how far tables of the rows are from the released ones, beside what noise explains and shuffled columns."""
    several = [chosen for chosen in measured if len(chosen) > 1]
    if not several:
        yield "<p>Only single columns were measured. The rows do not show which values occur together.</p>"
        return
    shares = {
        chosen: (
            total_variation(counts[chosen], measured[chosen]),
            noise_distance(release, chosen, measured, rows=int(counts[chosen].sum())),
            total_variation(shuffled(counts[chosen]), measured[chosen]),
        )
        for chosen in several
    }
    near, hidden = (sum(each[place] <= each[1] for each in shares.values()) for place in (0, 2))
    yield (
        f"<p>{near:,} of {len(several):,} tables of the rows are at most as far from the released table as noise puts "
        "the true table on average. The rows were fitted to these tables; how far they may be from the true ones is in "
        f"{DISTANCES}.csv.</p>"
    )
    if hidden:
        yield (
            f"<p>{hidden:,} are as near even after each column is shuffled. There the noise hides whether the columns "
            "depend on each other.</p>"
        )
    order = sorted(several, key=lambda chosen: shares[chosen][1] - shares[chosen][0])[:MAX_TABLES]
    yield "<table><tr><th>Rows in another cell than in the released table</th><th>of these rows</th>"
    yield "<th>by noise alone, on average</th><th>after shuffling</th></tr>"
    for chosen in order:
        numbers = "".join(f'<td class="n">{100 * each:.3g}%</td>' for each in shares[chosen])
        yield f"<tr><td>{escape(table_name(release.domain, chosen))}</td>{numbers}</tr>"
    yield "</table>"
    if len(order) < len(several):
        yield f"<p>The {len(order)} tables that differ most from what noise explains.</p>"


def total_variation(counts: Integers | Floats, table: Floats) -> float:
    """Return half the absolute differences of a table of rows from a released one, as a share of these rows."""
    return float(np.abs(counts - table).sum() / (2 * counts.sum()))


def noise_distance(release: RowsRelease, chosen: Set, measured: Mapping[Set, Floats], *, rows: int) -> float:
    """Return the mean total variation between the true and the released table, as a share of so many rows."""
    deviation = release.cell_deviation(chosen, measured=measured)
    return deviation * measured[chosen].size / math.sqrt(2 * math.pi) / rows


def shuffled(counts: Integers) -> Floats:
    """Return the expected table of the same rows after each column is shuffled: the product of its columns."""
    product, total = np.ones(()), counts.sum()
    for axis in range(counts.ndim):
        others = tuple(other for other in range(counts.ndim) if other != axis)
        product = np.multiply.outer(product, counts.sum(axis=others) / total)
    expected: Floats = total * product
    return expected


def _slopes(
    release: RowsRelease,
    measured: Mapping[Set, Floats],
    counts: Mapping[Set, Integers],
    *,
    level: float,
    person_rows: int,
) -> Iterator[str]:
    """Write slopes of numbers, from the rows as if they were real and from the released tables with their noise."""
    pairs = number_pairs(release.domain)
    if not pairs or release.max_measured < 2:
        return
    if isinstance(release, ChosenPairsRelease) or person_rows > 1:
        why = "a person has several rows" if person_rows > 1 else "noise decided which pairs are measured"
        yield f"<p>No slopes are computed, because {why}: their intervals would be wrong.</p>"
        return
    shown = [pair for pair in pairs if pair in measured][:MAX_SLOPES]
    if not shown:  # tables of more columns were measured
        return
    yield (
        f"<p>Slopes, with intervals of {100 * level:g}% for the population that these people are a sample of. An "
        "interval that is computed as if the rows were real does not count the noise. One from the released table "
        "does.</p>"
        "<table><tr><th>Slope</th><th>as if the rows were real</th><th>from the released table</th></tr>"
    )
    for pair in shown:
        one, other = (release.domain.names[place] for place in pair)
        as_real = from_table = "The rows fit no line."
        with suppress(ParameterError):
            as_real = _interval(fit_rows(release.domain, counts[pair], pair), level=level)
        try:
            from_table = _interval(fit_pair(release.domain, release.plan, measured[pair], pair), level=level)
        except ParameterError:
            from_table = NOTHING
        yield f"<tr><td>{escape(other)} for one more of {escape(one)}</td><td>{as_real}</td><td>{from_table}</td></tr>"
    yield "</table>"


def fit_rows(domain: Product, counts: Integers, pair: Sequence[int]) -> Fit:
    """Fit a line to rows as if they were real, of the second column of a pair given the first."""
    both = Product(names=tuple(domain.names[a] for a in pair), columns=tuple(domain.columns[a] for a in pair))
    cells = np.indices(counts.shape).reshape(2, -1).T
    return fit(both, np.repeat(cells, counts.reshape(-1), axis=0), outcome=1, regressors=(0,))


def _interval(fit: Fit, *, level: float) -> str:
    """Return a slope and its interval in words."""
    low, high = fit.interval(level=level)[1]
    return f"{fit.values[1]:.3g} ({low:.3g} to {high:.3g})"
