"""Tables of statistics of groups in a report: each group's rows, the statistic and its interval, from the files alone.

A group of too few noisy rows to say anything is shown as hidden. Which these are depends on the noisy number of rows
alone: hiding by an interval's width would show those groups whose noise happens to be small beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpcore.core import Floats, Integers
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.release import GroupRelease, group_labels, statistics_of
from dpcore.mechanisms.grouped.weights import counters_per_group, row_weight
from dplab.intervals.combinations import half_width
from dplab.intervals.groups import group_interval, interval_names
from dplab.intervals.noise import CounterNoise, LaplaceNoise
from dplab.intervals.planned_margins import budget_for_sum_and_count, people_needed
from dplab.intervals.released import noise_law
from dprelease.downloads.escaping import escape
from dprelease.requests.intervals import decimals, end_names, of_population, outwards, written_ends
from dprelease.requests.parts import RequestPart

MARGIN = 0.25
"""Half of an interval, as a share of the range, above which a group's mean says too little to be shown."""
MAX_TOGETHER = 1024
"""Largest number of counters that are taken together in a report: the law of more noises takes long."""
DIGITS = 2
"""Digits of half of an interval's width that a report shows."""
HIDDEN = "too few rows to say"


def is_group_file(question: RequestPart) -> bool:
    """Return whether the file of a part has statistics of groups with intervals."""
    return isinstance(question.mechanism, GroupMechanism)


def rows_needed(question: RequestPart) -> int:
    """Return the noisy number of rows from which a group is shown; a public number."""
    noise, queries = noise_law(question.mechanism, question.problem), statistics_of(question.problem)
    return people_needed(MARGIN, noise, weight=row_weight(queries), level=question.level)


def group_tables(question: RequestPart, rows: Sequence[Mapping[str, str]], *, most: int) -> Iterator[str]:
    """Write a table of each statistic, with at most so many groups, as HTML.

    Args:
        question: the part of the request.
        rows: lines of its file by column, with unescaped texts.
        most: lines of a table.
    """
    needed, noise = rows_needed(question), noise_law(question.mechanism, question.problem)
    queries = statistics_of(question.problem)
    margin = half_width(np.ones(counters_per_group(queries)), noise, question.level) / row_weight(queries)
    yield (
        f"<p>A group is shown as “{HIDDEN}” where its number of rows, with noise, is below {needed:,}: the interval of "
        f"a mean may then take more than {2 * MARGIN:.0%} of the range.</p>"
    )
    if (groups := queries.count) > 1:
        # Noises of groups that share contrasts are not independent.
        together = 1 - groups * (1 - question.level) if noise.of_sums else question.level**groups
        yield (
            f"<p>Each interval holds by itself. Those of one statistic in all {groups:,} groups hold together in at "
            f"least {max(0, math.floor(100 * together))}% of releases.</p>"
        )
    if isinstance(noise, LaplaceNoise) and len(queries.numbers) == 1:
        times = budget_for_sum_and_count(queries, noise, level=question.level)
        yield (
            f"<p>For the same margin of a mean in the middle of the range, OpenDP's <code>dp.mean</code>, which spends "
            f"half of ε on a sum and half on a count, would need about {times:.2g} times this ε.</p>"
        )
    yield from _tables(rows, needed=needed, margin=margin, level=question.level, most=most)


def margin_tables(question: RequestPart, rows: Sequence[Mapping[str, str]], *, most: int) -> Iterator[str]:
    """Write tables of coarser groups as HTML: by each group column alone, and of all rows; from the counters in a file.

    Their counters are sums, with the noise of all groups in them: a coarser group's margin of its rows is larger.
    """
    queries, mechanism = statistics_of(question.problem), question.mechanism
    columns, counters = range(len(queries.shape)), counters_per_group(queries)
    if queries.count == 1:
        return
    yield "<h4>Groups taken together</h4>"
    planned = noise_law(mechanism, question.problem).of_sums
    if queries.count * counters > MAX_TOGETHER and not planned:
        yield f"<p>Of more than {MAX_TOGETHER:,} counters this report shows none; the file has them to add up.</p>"
        return
    drawn = GroupRelease(
        problem=question.problem_of_persons,
        guarantee=mechanism.guarantee(question.problem),
        sampler="",
        refused=np.zeros(1, dtype=np.bool_),
        counters=counters_of_file(rows, counters, whole=not planned),
    )
    yield (
        "<p>Their counters are sums of those above, in which most of the noise cancels. No ε is spent.</p>"
        if planned
        else "<p>Their counters are sums of those above, and their noise is the sum of the noise. No ε is spent.</p>"
    )
    for kept in ((), *((place,) for place in columns if len(columns) > 1)):
        together = queries.count // math.prod(queries.shape[place] for place in kept)
        noise = noise_law(mechanism, question.problem, kept=kept)
        numbers = counters if planned else counters * together
        margin = half_width(np.ones(numbers), noise, question.level) / row_weight(queries)
        alone = half_width(np.ones(counters), noise_law(mechanism, question.problem), question.level)
        needed = math.ceil(rows_needed(question) * margin * row_weight(queries) / alone)
        lines = _margin_lines(drawn, noise, kept, level=question.level)
        yield from _tables(lines, needed=needed, margin=margin, level=question.level, most=most)


def counters_of_file(rows: Sequence[Mapping[str, str]], counters: int, *, whole: bool) -> Integers | Floats:
    """Return the counters that the lines of a file name, (1, groups, counters)."""
    texts = [[[row[f"counter {j}"] for j in range(counters)] for row in rows]]
    return np.array(texts).astype(np.int64) if whole else np.array(texts).astype(np.float64)


def _margin_lines(
    drawn: GroupRelease, noise: CounterNoise, kept: tuple[int, ...], *, level: float
) -> list[dict[str, str]]:
    """Return the lines that a file of coarser groups would have: labels, each statistic and its ends."""
    values, queries = drawn.statistics(kept), drawn.queries
    count = values["rows"].shape[1]
    columns: dict[str, Sequence[object]] = {
        name: list(labels) for name, labels in group_labels(queries, np.arange(count), kept).items()
    }
    for name in interval_names(queries, noise):
        low, high = written_ends(group_interval(drawn, noise, name, level=level, kept=kept))
        for column, numbers in zip((name, *end_names(name)), (values[name][0], low, high), strict=True):
            columns[column] = ["" if math.isnan(number) else repr(number) for number in numbers.tolist()]
    return [
        {name: str(each) for name, each in zip(columns, line, strict=True)}
        for line in zip(*columns.values(), strict=True)
    ]


def quantile_tables(rows: Sequence[Mapping[str, str]], *, level: float, most: int) -> Iterator[str]:
    """Write a table of each quantile, with at most so many groups, as HTML: of the lines of the file of quantiles."""
    low, high = (float(rows[0][name]) for name in end_names("rows"))
    margin = (high - low) / 2
    needed = rows_for_quantiles(margin)
    yield (
        f"<p>A group is shown as “{HIDDEN}” where its number of rows, with noise, is below {needed:,}: the noise of "
        f"its number of rows may then be more than {MARGIN:.0%} of it.</p>"
    )
    yield from _tables(rows, needed=needed, margin=margin, level=level, most=most)


def rows_for_quantiles(margin: float) -> int:
    """Return the noisy number of rows from which a group's quantiles are shown; a public number.

    Args:
        margin: half of the interval of a number of rows, which is the same for all groups.
    """
    return math.ceil(margin / MARGIN)


def _tables(rows: Sequence[Mapping[str, str]], *, needed: int, margin: float, level: float, most: int) -> Iterator[str]:
    """Write a table of each statistic of lines of a file."""
    for statistic in _statistics(rows):
        sampled = set(end_names(of_population(statistic))) <= set(rows[0])
        heads = ["group", "rows", statistic, f"interval, {100 * level:g}%"]
        heads += [f"population, about {100 * level:g}%"] * sampled
        yield f"<table><tr>{''.join(f'<th>{escape(each)}</th>' for each in heads)}</tr>"
        for row in rows[:most]:
            hidden = float(row["rows"]) < needed
            cells = [rows_with_margin(float(row["rows"]), margin), *_shown(row, statistic, hidden=hidden)]
            cells += [_interval(row, of_population(statistic)) if not hidden else ""] * sampled
            numbers = "".join(f'<td class="n">{each}</td>' for each in cells)
            yield f"<tr><td>{escape(_group(row))}</td>{numbers}</tr>"
        yield "</table>"
    if len(rows) > most:
        yield f"<p>The first {most} groups are shown; the file contains all of them.</p>"


def _statistics(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the statistics in a file, in order: what follows the rows, without the ends of intervals."""
    names = list(rows[0])
    names = names[names.index("rows") + 1 :]
    ends = {end for name in ("rows", *names) for each in (name, of_population(name)) for end in end_names(each)}
    return [name for name in names if name not in ends]


def _group(row: Mapping[str, str]) -> str:
    """Return the labels of a group; a label without a text stands for missing and other values."""
    labels = [text or "any other value" for name, text in row.items() if name.startswith("group ")]
    return " × ".join(labels) or "all rows"


def rows_with_margin(rows: float, margin: float) -> str:
    """Return a noisy number of rows with the margin of its noise, as 226 ± 115."""
    places = max(decimals(-margin, margin, digits=1), 0)
    upwards = math.ceil(margin * 10**places - 1e-6) / 10**places
    return f"{with_decimals(rows, places)} ± {with_decimals(upwards, places)}"


def _shown(row: Mapping[str, str], statistic: str, *, hidden: bool) -> tuple[str, str]:
    """Return a statistic and its interval, as texts."""
    if hidden:
        return HIDDEN, ""
    value = float(row[statistic] or "nan")
    if not math.isfinite(value):
        return "", _interval(row, statistic)
    ends = [row.get(name, "") for name in end_names(statistic)]
    if "" in ends:
        return f"{value:,.4g}", _interval(row, statistic)
    return with_decimals(value, decimals(float(ends[0]), float(ends[1]), digits=DIGITS)), _interval(row, statistic)


def _interval(row: Mapping[str, str], statistic: str) -> str:
    """Return a statistic's interval as a text."""
    low, high = (row.get(name, "") for name in end_names(statistic))
    if "" in (low, high):
        return _open(low, high)
    first, last = outwards(float(low), float(high), digits=DIGITS)
    places = decimals(float(low), float(high), digits=DIGITS)
    return f"{with_decimals(first, places)} to {with_decimals(last, places)}"


def _open(low: str, high: str) -> str:
    """Return an interval without one of its ends, or without both."""
    if low:
        return f"above {float(low):,.4g}"
    return f"below {float(high):,.4g}" if high else HIDDEN


def with_decimals(value: float, places: int) -> str:
    """Return a number with so many decimals, and without any where they are none."""
    return f"{round(value, places) + 0.0:,.{max(places, 0)}f}"
