"""Released statistics in words, with their intervals: post-processing of the released files alone."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core import Booleans, Floats
from dpcore.core.safe_csv import escape_formula, unescape_frame
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.dates import is_dates
from dpcore.data.declarations import columns_read
from dpcore.data.product import is_table
from dpcore.data.reading.intake import clean_name
from dpcore.data.twin import twin
from dpcore.data.unlisted.texts import is_texts
from dpcore.mechanisms.grouped.mechanism import GroupMechanism
from dpcore.mechanisms.grouped.quantiles import GroupQuantileCounts, line_of, quantiles_of
from dpcore.mechanisms.grouped.release import GroupRelease, statistics_of
from dpcore.mechanisms.robust.counted_mean import CountedMean
from dpcore.queries.groups import GroupQueries
from dpcore.randomness import Preview
from dprelease.downloads.group_tables import (
    DIGITS,
    HIDDEN,
    rows_for_quantiles,
    rows_needed,
    rows_with_margin,
    with_decimals,
)
from dprelease.requests.intervals import LEVEL, decimals, end_names, has_end_columns, of_population, outwards
from dprelease.requests.parts import RequestPart
from dprelease.requests.quantile_tables import quantile_name
from dprelease.requests.tables import MAX_PREVIEW_ROWS, csv_files, preview_of, released_labels

if TYPE_CHECKING:
    import pandas as pd

PRINTED_TRIALS = 50
"""Releases of mock data for the share of groups that are printed."""
MAX_NAMED = 12
"""Groups that a sentence names."""
OF_TWO = {"slope": "Slope of {} on {}", "correlation": "Correlation of {} and {}", "ratio of sums": "Ratio of {} to {}"}
QUANTILE_TITLES = {0.25: "Lower quartile", 0.5: "Median", 0.75: "Upper quartile"}
OTHER = "any other value"
"""Label of a group of missing values and values that do not fit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedStatistic:
    """A statistic of one group or several, as it was released.

    Attributes:
        title: the statistic in words, such as "Mean of income by region".
        name: of its column in the file; empty where a part has one statistic.
        unit: of the values; empty without one.
        labels: of the groups; one empty label for all rows.
        values: released values (K,); NaN where there is none, or where too few rows are left to say anything.
        low: lower ends of the intervals (K,); NaN where nothing bounds them, or no interval is known.
        high: upper ends.
        population: both ends (K,) of the wider intervals for the population, which are approximate; None without such.
        whole: whether the values are numbers of rows, which are shown without decimals.
        level: of the intervals.
    """

    title: str
    name: str = ""
    unit: str = ""
    labels: Sequence[str]
    values: Floats
    low: Floats
    high: Floats
    population: tuple[Floats, Floats] | None = None
    whole: bool = False
    level: float = LEVEL

    @property
    def half_widths(self) -> Floats:
        """Halves of the widths of the intervals that are shown, (at most K,)."""
        shown = np.isfinite(self.values) & np.isfinite(self.low) & np.isfinite(self.high)
        half: Floats = (self.high - self.low)[shown] / 2
        return half

    @property
    def of_population(self) -> str:
        """Quantity that the wider intervals are of."""
        return f"population with noise and sampling, about {100 * self.level:g}%"

    @property
    def sentence(self) -> str:
        """The statistic with its values and intervals in one sentence; of many groups their number alone."""
        of_noise = ", noise alone" if self.population is not None else ""
        level = f" ({100 * self.level:g}%{of_noise})" if np.isfinite(self.low).any() else ""
        level += f"; {self.of_population}" if level and self.population is not None else ""
        if len(self.labels) > MAX_NAMED:
            half = np.unique((self.high - self.low) / 2)
            each = (
                f"± {with_decimals(float(half[0]), 0)} each"
                if self.whole and len(half) == 1
                else "each with its interval"
            )
            hidden = int(np.isnan(self.values).sum())
            few = f" ({hidden:,} with {HIDDEN})" if hidden else ""
            return f"{self.title}: {len(self.labels):,} groups{few}, {each}{level}"
        texts = [
            f"{label} {self.amount(place)}{f', population {wide}' if (wide := self.wider(place)) else ''}".strip()
            for place, label in enumerate(self.labels)
        ]
        return f"{self.title}: {'; '.join(texts)}{level}"

    def amount(self, place: int) -> str:
        """Return one group's value and interval as a text."""
        unit = self.unit if self.unit == "%" else f" {self.unit}" * bool(self.unit)
        value, low, high = float(self.values[place]), float(self.low[place]), float(self.high[place])
        if np.isnan(value):
            return HIDDEN
        if not np.isfinite([low, high]).all():
            return f"{value:,.4g}{unit} (not bounded)"
        if high <= low:  # noise below 0, where no number of rows lies
            return f"{value:,.4g} ({low:,.4g}){unit}"
        if self.whole and math.isclose(high - value, value - low, rel_tol=1e-9):
            return rows_with_margin(value, value - low)
        places = decimals(low, high, digits=DIGITS)
        digits = DIGITS - max(places, 0) if self.whole else DIGITS
        places = min(places, 0) if self.whole else places
        first, last = outwards(low, high, digits=digits)
        shown = round(value, places)
        below, above = shown - first, last - shown
        if abs(above - below) <= 2 * 10.0**-places * (1 + 1e-9):
            return f"{with_decimals(shown, places)} ± {with_decimals(max(below, above), places)}{unit}"
        return f"{with_decimals(shown, places)} ({with_decimals(first, places)} to {with_decimals(last, places)}){unit}"

    def wider(self, place: int) -> str:
        """Return one group's interval for the population as a text; empty without one."""
        if self.population is None or np.isnan(self.values[place]):
            return ""
        low, high = (float(ends[place]) for ends in self.population)
        places = decimals(low, high, digits=DIGITS)
        return " to ".join(with_decimals(end, places) for end in outwards(low, high, digits=DIGITS))


def released_statistics(question: RequestPart, contents: bytes) -> list[ReleasedStatistic]:
    """Return the statistics in a part's file, the main one first; none where no interval is known, or no answer.

    Args:
        question: the part of the request.
        contents: of its file.
    """
    table = released_table(question, contents)
    if "refused" in table and table["refused"].any():
        return []
    if isinstance(question.mechanism, GroupMechanism):
        return list(_of_groups(question, table))
    if isinstance(question.mechanism, GroupQuantileCounts):
        return list(_of_quantiles(question, table))
    if isinstance(question.mechanism, CountedMean):
        return _of_mean(question, table)
    if not has_end_columns(question.mechanism, question.problem):
        return []
    domain = question.reading.domain
    # In tables of counts the data's columns, whatever their names, stand between the first and the last three.
    rows, low, high = table.iloc[:, -3:].to_numpy(dtype=float).T
    if is_texts(domain):
        labels = sorted(released_labels(contents))
        if not labels:  # a statistic has a value
            return []
    else:
        cells = range(len(table))
        labels = _labels(table.iloc[:, 1:-3]) if is_table(domain) else [domain.describe(cell) for cell in cells]
    by = " × ".join(map(clean_name, question.reading.columns))
    return [
        ReleasedStatistic(
            title=f"Rows by {by}", labels=labels, values=rows, low=low, high=high, whole=True, level=question.level
        )
    ]


def printed_table(question: RequestPart, *, digest: str) -> pd.DataFrame | None:
    """Return the table of a simulated release of mock data as it would be printed; None where no interval is known.

    A line for each group, and a column of texts for each statistic with its margin; groups of too few noisy rows are
    hidden.

    Args:
        question: a part of a request.
        digest: of the request.
    """
    import pandas as pd

    files = csv_files(preview_of(question), question.mechanism, digest=digest)
    found = next(filter(None, (released_statistics(question, contents) for contents in files.values())), [])
    if not found:
        return None
    columns = {each.title.partition(" by ")[0]: [*map(each.amount, range(len(each.labels)))] for each in found}
    return pd.DataFrame({"group": [each or "all rows" for each in found[0].labels]} | columns)


def printable_shares(question: RequestPart, epsilons: Sequence[float]) -> Floats:
    """Return the mean share of groups that are printed at each ε, of mock data; groups of other values do not count.

    Groups are hidden by their noisy number of rows alone, so that their size decides, and not their values.

    Args:
        question: a part with statistics of groups.
        epsilons: of the same mechanism.
    """
    queries = statistics_of(question.problem)
    declared = np.ones(queries.shape, dtype=np.bool_)
    for axis, place in enumerate(queries.group_columns):
        declared &= np.expand_dims(
            np.arange(queries.shape[axis]) < queries.domain.columns[place].ordered,
            tuple(other for other in range(declared.ndim) if other != axis),
        )
    problem = replace(question.problem, n=min(question.n, MAX_PREVIEW_ROWS))
    state = question.mechanism.prepare(twin(question.reading, n=problem.n).dataset(), problem)
    shares = []
    for epsilon in epsilons:
        part = replace(question, values={**question.values, "epsilon": float(epsilon)})
        drawn = part.mechanism.run(state, Preview(seed=1), PRINTED_TRIALS)
        assert isinstance(drawn, GroupRelease)
        shares.append((drawn.statistics()["rows"][:, declared.reshape(-1)] >= rows_needed(part)).mean())
    return np.array(shares)


def released_table(question: RequestPart, contents: bytes) -> pd.DataFrame:
    """Return a released file as a table, with texts as they were before they were escaped for spreadsheets."""
    import pandas as pd

    # A label may be "NA" or "01": only an empty cell is missing, and labels are no numbers.
    start = "group " if isinstance(question.queries, GroupQueries) else ""
    texts = {escape_formula(start + name): str for name, on in columns_read(question.reading) if is_labels(on)}
    if is_texts(question.reading.domain):
        texts["value"] = str
    return unescape_frame(pd.read_csv(io.BytesIO(contents), dtype=texts, keep_default_na=False, na_values=[""]))


def _labels(table: pd.DataFrame) -> list[str]:
    """Return the label of each line of a table of labels."""
    texts = table.astype(object).where(table.notna(), "").values.tolist()
    return [" × ".join(str(text) or OTHER for text in row) for row in texts]


def _of_groups(question: RequestPart, table: pd.DataFrame) -> Iterator[ReleasedStatistic]:
    """Return statistics of groups, rows last; a group of too few noisy rows has no value, as in the report."""
    queries = statistics_of(question.problem)
    names = [clean_name(name) for name in queries.domain.names]
    hidden = table["rows"].to_numpy(dtype=float) < rows_needed(question)
    statistics = [str(name) for name in table.columns[list(table.columns).index("rows") :]]
    main = [name for name in ("slope", "correlation") if name in statistics]
    for name in [*main, *(name for name in statistics[1:] if name not in main), "rows"]:
        if not set(end_names(name)) <= set(statistics):
            continue
        kind, _, column = name.partition(" of ")
        place = next((each for each in queries.numbers if queries.domain.names[each] == column), queries.numbers[0])
        title, unit = _words(kind, names[place], queries.domain.columns[place])
        if len(queries.numbers) == 2 and name in OF_TWO:
            title, unit = OF_TWO[name].format(*(names[each] for each in queries.numbers)), ""
        yield _of_group_file(question, table, name, title=title, unit=unit, hidden=hidden)


def _of_quantiles(question: RequestPart, table: pd.DataFrame) -> Iterator[ReleasedStatistic]:
    """Return quantiles of groups, rows last; none of the file with the rows per cell."""
    queries, line = quantiles_of(question.problem), line_of(question.problem)
    if quantile_name(queries.quantiles[0]) not in table:
        return
    low, high = (table[name].to_numpy(dtype=float) for name in end_names("rows"))
    hidden = table["rows"].to_numpy(dtype=float) < rows_for_quantiles((high - low).max() / 2)
    column = clean_name(queries.domain.names[queries.numbers[0]])
    for share in queries.quantiles:
        title = f"{QUANTILE_TITLES.get(share, f'Quantile {share:g}')} of {column}"
        yield _of_group_file(question, table, quantile_name(share), title=title, unit=line.unit, hidden=hidden)
    yield _of_group_file(question, table, "rows", title="Rows", unit="", hidden=hidden)


def _of_group_file(
    question: RequestPart, table: pd.DataFrame, name: str, *, title: str, unit: str, hidden: Booleans
) -> ReleasedStatistic:
    """Return one statistic of a file of groups, with their labels; hidden groups have their rows alone."""
    queries, scale = question.queries, 100.0 if unit == "%" else 1.0
    assert isinstance(queries, GroupQueries)
    by = " × ".join(clean_name(queries.domain.names[place]) for place in queries.group_columns)
    numbers = [scale * table[each].to_numpy(dtype=float) for each in (name, *end_names(name))]
    value, low, high = (np.where(hidden & (name != "rows"), np.nan, each) for each in numbers)
    wider = [scale * table[each].to_numpy(dtype=float) for each in end_names(of_population(name)) if each in table]
    return ReleasedStatistic(
        title=title + (f" by {by}" if by else ""), name=name, unit=unit,
        labels=_labels(table[[each for each in table if str(each).startswith("group ")]]), values=value, low=low,
        high=high, population=(wider[0], wider[1]) if wider else None, whole=title.startswith("Rows"),
        level=question.level,
    )  # fmt: skip


def _words(kind: str, name: str, column: Number | Labels) -> tuple[str, str]:
    """Return a statistic of a column in words, and its unit."""
    if kind == "rows":
        return "Rows", ""
    if is_number(column):
        return f"{kind.capitalize()} of {name}", column.unit if kind not in ("variance", "skewness") else ""
    label = f"{name} = {clean_name(column.describe(1))}"  # of two labels the second is counted
    return {"proportion": (f"Share with {label}", "%"), "sum": (f"Rows with {label}", "")}.get(
        kind, (f"{kind.capitalize()} of {label}", "")
    )


def _of_mean(question: RequestPart, table: pd.DataFrame) -> list[ReleasedStatistic]:
    """Return a mean with its interval; none of a date."""
    line = question.reading.domain
    if not is_number(line) or is_dates(line):
        return []
    value, low, high = (table[name].to_numpy(dtype=float) for name in ("mean", *end_names("mean")))
    return [
        ReleasedStatistic(
            title=f"Mean of {clean_name(question.reading.title)}",
            unit=line.unit,
            labels=[""],
            values=value,
            low=low,
            high=high,
            level=question.level,
        )
    ]
