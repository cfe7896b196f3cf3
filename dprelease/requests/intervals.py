"""Columns of intervals in released files: post-processing of the counters beside them, so that all can be recomputed.

Ends are rounded outwards, to a ten-thousandth or more of half of the interval's width. Where nothing bounds an end, its
cell is empty. Another computer may find ends that differ by one in the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Floats, Integers, Mechanism, ParameterError, Problem, Release
from dpcore.data.dates import is_dates
from dpcore.data.product import is_table
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, line_of
from dpcore.mechanisms.grouped.release import GroupRelease, statistics_of
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.histograms.labels import FindLabels, LabelsRelease
from dpcore.mechanisms.robust.counted_mean import CountedMean, MeanRelease, unit_of, weight
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.queries.marginals import Marginals
from dplab.intervals.above_threshold import released_counts
from dplab.intervals.combinations import people
from dplab.intervals.group_means import population_means, population_statistic
from dplab.intervals.groups import group_intervals, interval_names
from dplab.intervals.interval import Interval, around
from dplab.intervals.noise import CounterNoise, GaussianNoise
from dplab.intervals.ratios import mean
from dplab.intervals.released import cell_half_widths, draws_of_cells, noise_law

if TYPE_CHECKING:
    import pandas as pd

LEVELS = 0.9, 0.95, 0.99
"""Levels that a request may name for all intervals of its release."""
LEVEL = 0.95
"""Level of the intervals of a request that names none."""
DIGITS = 4
"""Digits of half of an interval's width to which its ends are written."""
OTHER_WEIGHTS = 5e-3
"""Relative difference of a half-width on another computer, whose search may end at weights that are a step away."""
ALONE = 1e-9
"""Relative difference of an end on another computer where the other end is infinite."""
COVERS = (
    "They cover the noise alone: not whom the rows were sampled from, nor values cut off at the bounds, the rounding "
    "of values to cells, or rows left out above a person's limit."
)


def check_release_level(level: float) -> float:
    """Return the level; raises ParameterError where no request may name it."""
    if level not in LEVELS:
        raise ParameterError(f"The level of intervals must be 0.9, 0.95 or 0.99, got {level!r}.")
    return level


def end_names(statistic: str) -> tuple[str, str]:
    """Return the names of the columns of a statistic's ends: "mean low of pay" for the mean of pay.

    They differ from the names of all statistics, whatever the columns of the data are called.
    """
    kind, of, column = statistic.partition(" of ")
    if statistic == "ratio of sums":
        kind, of, column = statistic, "", ""
    return f"{kind} low{of}{column}", f"{kind} high{of}{column}"


def of_population(statistic: str) -> str:
    """Return how the columns call a statistic of the population that the rows are a sample of."""
    return f"population {statistic}"


def statistics_with_intervals(mechanism: Mechanism, problem: Problem) -> list[str]:
    """Return the statistics of a released file that have an interval; none for most mechanisms. Reads no rows."""
    if isinstance(mechanism, CountedMean):
        return ["mean", "rows"]
    if not isinstance(mechanism, GroupMechanism):
        return []
    return interval_names(statistics_of(problem), noise_law(mechanism, problem))


def with_intervals(
    table: pd.DataFrame, drawn: Release, mechanism: Mechanism, *, level: float = LEVEL, digest: str = ""
) -> pd.DataFrame:
    """Return the table of one release with the ends of each statistic's interval behind it, where it has some.

    Args:
        table: of the release.
        drawn: the release.
        mechanism: the one that made it.
        level: of the intervals.
        digest: of the request: the seed of the noise that is drawn again for counts without a law of their own.
    """
    import pandas as pd

    if noise := noise_of_file(mechanism, drawn.problem):
        rows, half = table.iloc[:, -1], noise.half_width(1 - level)
        ends = dict(zip(end_names("rows"), (rows - half, rows + half), strict=True))
        return pd.concat([table, pd.DataFrame(ends)], axis=1)
    if has_drawn_ends(mechanism, drawn.problem):
        rows = table.iloc[:, -1].to_numpy(dtype=float)
        both = drawn_ends(rows, mechanism, drawn.problem, level=level, digest=digest)
        return pd.concat([table, pd.DataFrame(dict(zip(end_names("rows"), both, strict=True)))], axis=1)
    if isinstance(drawn, LabelsRelease):
        assert isinstance(mechanism, FindLabels)
        counts = table["rows"].to_numpy(dtype=np.int64)
        return pd.concat([table, _ends_of_labels(counts, mechanism, drawn.problem, level)], axis=1)
    if isinstance(drawn, MeanRelease):
        return pd.concat([table, _ends_of_mean(drawn, noise_law(mechanism, drawn.problem), level)], axis=1)
    if not isinstance(drawn, GroupRelease):
        return table

    noise = noise_law(mechanism, drawn.problem)
    found = group_intervals(drawn, noise, level=level)
    sampled = population_means(drawn, noise, level=level)
    columns = dict[str, object]()
    for name in table.columns:
        columns[name] = table[name]
        if name in found:
            columns |= dict(zip(end_names(name), written_ends(found[name]), strict=True))
        if sampled is not None and name == population_statistic(drawn.queries):
            columns |= dict(zip(end_names(of_population(name)), written_ends(sampled), strict=True))
    return pd.DataFrame(columns)


def _ends_of_labels(counts: Integers, mechanism: FindLabels, problem: Problem, level: float) -> pd.DataFrame:
    """Return both ends of the intervals of released labels' counts (K,), which are whole numbers of rows."""
    import pandas as pd

    tails, threshold = partial(mechanism.noise_tails, problem=problem), mechanism.threshold(problem)
    found = released_counts(counts, tails, threshold=threshold, level=level)
    ends = (each.astype(np.int64) for each in (found.low, found.high))
    return pd.DataFrame(dict(zip(end_names("rows"), ends, strict=True)))


def _ends_of_mean(drawn: MeanRelease, noise: CounterNoise, level: float) -> pd.DataFrame:
    """Return both ends of the intervals of a counted mean and of its rows; NaN where refused.

    A file has no counters, but the mean, cut off at the bounds, and their sum. Its interval is that of all counters
    with that sum that give the same cut mean, or of a date the same unit: both ends rise with the second counter.
    """
    import pandas as pd

    line, total = drawn.domain, drawn.counters.sum(axis=1)
    high = np.clip(drawn.counters[:, 1], 0, total)
    first, last = high, high
    if is_dates(line):
        span, start = int(line.high - line.low), int(line.low)
        units = [min(int(each), int(line.high) - 1) - start for each in np.nan_to_num(drawn.means, nan=start)]
        pairs = list(zip(units, total.tolist(), strict=True))
        first = np.clip([-(-unit * rows // span) - 1 for unit, rows in pairs], 0, high)
        last = np.clip([-(-(unit + 1) * rows // span) for unit, rows in pairs], high, total)
    found = [
        mean(np.stack([total - each, each], axis=1), noise, level=level, low=float(line.low), high=float(line.high))
        for each in ((first, last) if is_dates(line) else (high,))
    ]
    ends: Sequence[object] = written_ends(replace(found[0], high=found[-1].high))
    if is_dates(line):
        ends = [
            np.array([unit_of(line, end) for end in each.tolist()], dtype=object)
            for each in (found[0].low, found[1].high)
        ]
    of_rows = written_ends(people(drawn.counters, noise, weight=weight(line), level=level))
    columns = dict(zip((*end_names("mean"), *end_names("rows")), (*ends, *of_rows), strict=True))
    frame = pd.DataFrame(columns)
    frame[drawn.refused] = None
    return frame


def end_places(names: Sequence[str], mechanism: Mechanism, problem: Problem) -> list[int]:
    """Return the places of the columns of ends, ascending, low before high, among a table's columns."""
    statistics = statistics_with_intervals(mechanism, problem)
    if isinstance(mechanism, GroupMechanism) and (sampled := population_statistic(statistics_of(problem))):
        statistics.append(of_population(sampled))
    ends = {end for statistic in statistics for end in end_names(statistic)}
    return [place for place, name in enumerate(names) if name in ends]


def written_ends(found: Interval) -> tuple[Floats, Floats]:
    """Return both ends as they are written, one after another: rounded outwards, NaN for an infinite one."""
    ends = np.stack([np.ravel(found.low), np.ravel(found.high)], axis=1)
    open_ended, silent = ~np.isfinite(ends), np.ravel(found.says_nothing)
    for place in np.flatnonzero(~silent & ~open_ended.any(axis=1)):  # of others, declared bounds stay as they are
        ends[place] = outwards(*ends[place].tolist())
    ends[open_ended] = np.nan
    return ends[:, 0], ends[:, 1]


def decimals(low: float, high: float, *, digits: int = DIGITS) -> int:
    """Return the number of decimals at which half of an interval's width has so many digits; negative for tens."""
    half = max((high - low) / 2, 1e-9 * max(abs(low), abs(high)), 1e-200)
    return digits - 1 - math.floor(math.log10(half))


def outwards(low: float, high: float, *, digits: int = DIGITS) -> tuple[float, float]:
    """Return both ends of an interval rounded outwards to these digits of half of its width.

    >>> outwards(1.23456789, 3.3), outwards(-123456.0, 7.0, digits=2)
    ((1.234, 3.3), (-124000.0, 1000.0))
    """
    places = decimals(low, high, digits=digits)
    power = 10.0 ** abs(places)
    scaled = (low * power, high * power) if places >= 0 else (low / power, high / power)
    # A number that ends at this digit may be off by its last bits.
    whole = math.floor(scaled[0] + 1e-6), math.ceil(scaled[1] - 1e-6)
    first, last = (each / power if places >= 0 else each * power for each in whole)
    return first + 0.0, last + 0.0


def same_ends(low: float, high: float, computed: tuple[float, float], *, slack: float = 0.0) -> bool:
    """Return whether two ends are those computed here, or differ by one in the last digit; NaN for no end.

    Args:
        low: the lower end.
        high: the upper one.
        computed: both as computed here.
        slack: relative difference of the half-width that another computer may find.
    """
    if any(math.isnan(one) != math.isnan(other) for one, other in zip((low, high), computed, strict=True)):
        return False
    finite = all(map(math.isfinite, computed))
    room = 1.001 * 10.0 ** -decimals(*computed) + slack * (computed[1] - computed[0]) / 2 if finite else 0.0
    ends = zip((low, high), computed, strict=True)
    return all(math.isnan(one) or abs(one - other) <= max(room, ALONE * abs(other)) for one, other in ends)


def noise_of_counts(mechanism: Mechanism, problem: Problem) -> CounterNoise | None:
    """Return the noise of each released count of a cell; None where counts have no independent noise of one law."""
    if isinstance(mechanism, DirectTables):
        queries, domain = problem.queries, problem.domain
        if not (isinstance(queries, Marginals) and is_table(domain) and queries.ways == domain.attributes):
            return None  # counts of several tables
    try:
        return noise_law(mechanism, problem)
    except ParameterError:
        return None


def noise_of_file(mechanism: Mechanism, problem: Problem) -> CounterNoise | None:
    """Return the noise of each count in a file that ends with counts of cells and their intervals; None for others."""
    if not isinstance(mechanism, IdentityHistogram | GaussianHistogram | DirectTables):
        return None
    return noise_of_counts(mechanism, problem)


def has_drawn_ends(mechanism: Mechanism, problem: Problem) -> bool:
    """Return whether a file lists rows per cell whose noise is the same on all data, but has no law of its own."""
    usable = mechanism.data_independent and mechanism.releases == "data" and problem.domain.listed
    return usable and noise_of_file(mechanism, problem) is None


def has_count_ends(mechanism: Mechanism, problem: Problem) -> bool:
    """Return whether a file has counts of cells, and behind them the ends of their intervals."""
    return noise_of_file(mechanism, problem) is not None or has_drawn_ends(mechanism, problem)


def has_end_columns(mechanism: Mechanism, problem: Problem) -> bool:
    """Return whether the last two columns of a file are the ends of the counts before them: of cells, or of labels."""
    return isinstance(mechanism, FindLabels) or has_count_ends(mechanism, problem)


def drawn_ends(
    rows: Floats, mechanism: Mechanism, problem: Problem, *, level: float, digest: str
) -> tuple[Floats, Floats]:
    """Return both ends of the interval of each cell's released rows (size,), as they are written."""
    return written_ends(around(rows, cell_half_widths(mechanism, problem, level=level, digest=digest), level=level))


def count_half_widths(noise: CounterNoise, *, level: float = LEVEL) -> set[int]:
    """Return the half-width of a count's interval, and that of another computer where it is another one."""
    if not isinstance(noise, GaussianNoise):
        return {noise.half_width(1 - level)}
    return {GaussianNoise(noise.scale * (1 + slack)).half_width(1 - level) for slack in (-ALONE, 0.0, ALONE)}


def interval_sentence(mechanism: Mechanism, problem: Problem, *, level: float = LEVEL) -> str:
    """Return how the intervals of a part are found and what they cover; empty where it has none. Reads no rows."""
    percent = f"{100 * level:g}%"
    if isinstance(mechanism, FindLabels):
        columns = " and ".join(end_names("rows"))
        return (
            f"Intervals with confidence {percent}, each by itself, of the rows of each released label: the columns "
            f"{columns}. They hold given that the label is released, by the exact law of the noise above the "
            f"threshold. Nothing is known of other labels. {COVERS}"
        )
    if isinstance(mechanism, CountedMean):
        columns = " and ".join(", ".join(end_names(name)) for name in statistics_with_intervals(mechanism, problem))
        return (
            f"Intervals with confidence {percent}, each by itself, of the mean and its number of rows: the columns "
            f"{columns}. That of the mean contains every value that the released counters do not refute. {COVERS}"
        )
    if names := statistics_with_intervals(mechanism, problem):
        inverted = any(name != "rows" and not name.startswith("sum") for name in names)
        linear = "Those of rows and sums follow from the exact law of the noise"
        if noise_law(mechanism, problem).of_sums:
            linear = "Those of rows and sums follow from a proved bound of the noise of all contrasts"
        return (
            f"Intervals with confidence {percent}, each by itself, of {', '.join(names)}: the columns low and high. "
            + linear
            + ("; all others contain every value that the released counters do not refute" if inverted else "")
            + f". {COVERS}"
            + _population_sentence(population_statistic(statistics_of(problem)), percent, problem.person_rows)
        )
    if isinstance(mechanism, GroupQuantileCounts):
        draws = draws_of_cells(line_of(problem).ordered)
        return (
            f"Intervals with confidence {percent}, each by itself, of the rows and quantiles of each group: the "
            f"columns low and high. They follow from {draws:,} simulated releases of no rows, with public random "
            f"numbers whose seed is the request's digest. A quantile's interval consists of whole cells. {COVERS}"
        )
    if has_drawn_ends(mechanism, problem):
        draws = draws_of_cells(problem.domain.size)
        return (
            f"Intervals with confidence {percent}, each by itself, of the rows of each cell: the columns low and high. "
            f"They follow from {draws:,} simulated releases of one public row, with public random numbers whose seed "
            f"is the request's digest. {COVERS}"
        )
    if noise := noise_of_file(mechanism, problem):
        width = noise.half_width(1 - level)
        return (
            f"Intervals with confidence {percent}, each by itself: a count of one cell, plus or minus {width:,} "
            f"row{'s' * (width != 1)}, by the exact law of the noise: the columns low and high. {COVERS}"
        )
    return ""


def _population_sentence(statistic: str, percent: str, rows: int) -> str:
    """Return what the interval of a population's mean or proportion covers; empty without one.

    Args:
        statistic: "mean" or "proportion".
        percent: its level.
        rows: of one person at most; 0 where rows are protected.
    """
    if not statistic:
        return ""
    low, high = end_names(of_population(statistic))
    said = f" The columns {low} and {high} cover the noise and the sampling together: the {statistic} of a population "
    if rows <= 1:
        return (
            f"{said}of which the rows, one for each person, are an independent sample, approximately with {percent}, "
            "the better the more rows."
        )
    return (
        f"{said}of whose persons, with up to {rows:,} rows each, those in the table are an independent sample, "
        f"approximately with {percent}, the better the more persons. Rows of one person may be alike, so that the "
        f"variance of the sampling is taken {rows:,} times as large as that of independent rows."
    )
