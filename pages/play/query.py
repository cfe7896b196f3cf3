"""One query, typed or drawn, with its true answer, the released ones and its error; the link holds it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import DataRelease, Dataset, Domain, Floats, ParameterError, State, exactly
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.dates import Dates, is_dates
from dpcore.data.product import is_map
from dpcore.queries.ranges import Cells, Intervals, Rectangles
from dpcore.randomness import Preview
from dplab.recipe import Recipe
from pages.charts.histogram import extent, unit_of
from pages.charts.words import as_code, percent_up, printable_labels
from pages.shell.controls import choice
from pages.shell.links import in_link
from pages.shell.state import SessionKey, set_controls

TRIALS = 200
SIDES = (("x", ("ask-from", "ask-to")), ("y", ("ask-low", "ask-high")))
"""Link parameters of both ends along each axis."""
DATES = {"x": "ask-dates", "y": "ask-dates-up"}
"""Link parameters of a range of dates, which is one text."""
LABELS = {"x": "ask-label", "y": "ask-label-up"}
"""Link parameters of a label, as its number: a link contains no label."""
NO_CELL = "none"
MAX_CELLS = 2000
"""Maximum number of labels in the select box."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One query of a class, with its first and last cell along each axis."""

    queries: Intervals | Rectangles | Cells
    index: int
    cells: tuple[tuple[int, int], ...]

    @property
    def words(self) -> str:
        """The query in words; labels are user input and shown as code."""
        description = self.queries.describe(self.index)
        domain = self.queries.domain
        labels = is_map(domain) and any(is_labels(side) for side in domain.columns)
        return as_code(description) if labels or isinstance(self.queries, Cells) else description


QUERY_DATA = SessionKey("asked_of", "")
"""Key of the data set of the current query."""


def read_query(domain: Domain) -> Query | None:
    """Draw the controls of a query and return it; None without one."""
    data_key = extent(domain)
    if QUERY_DATA.setdefault(data_key) != data_key:
        # A query about other data is meaningless here.
        empty: dict[str, str | None] = {
            **dict.fromkeys((*SIDES[0][1], *SIDES[1][1])),
            **dict.fromkeys(DATES.values(), ""),
        }
        set_controls(empty | dict.fromkeys(("ask-cell", *LABELS.values()), NO_CELL))
        QUERY_DATA.value = data_key
    if is_number(domain):
        ends = _ends(domain, "x", name="")
        if ends is None:
            return None
        intervals = Intervals(domain=domain)
        return Query(queries=intervals, index=intervals.index(*ends), cells=(ends,))
    if is_map(domain):
        first = _ends(domain.columns[0], "x", name=domain.names[0])
        second = _ends(domain.columns[1], "y", name=domain.names[1])
        if first is None or second is None:
            return None
        rectangles = Rectangles(domain=domain)
        return Query(queries=rectangles, index=rectangles.index(first, second), cells=(first, second))
    return _cell(domain)


def _cell(domain: Domain) -> Query | None:
    """Draw the control of a label and return its query; None without one."""
    ends = _label(domain, "Query one label", key="ask-cell")
    return Query(queries=Cells(domain=domain), index=ends[0], cells=(ends,)) if ends else None


def _label(domain: Domain, label: str, *, key: str) -> tuple[int, int] | None:
    """Draw a select box of labels and return the cell as both ends of a range; None without one."""
    names = printable_labels(domain.describe(cell) for cell in range(min(domain.ordered, MAX_CELLS)))
    titles = {NO_CELL: "—"} | {str(cell): name for cell, name in enumerate(names)}
    chosen = choice(label, titles, key=key, default=NO_CELL)
    return None if chosen == NO_CELL else (int(chosen), int(chosen))


def _ends(line: Number | Labels, axis: str, *, name: str) -> tuple[int, int] | None:
    """Draw the controls of a range and return its first and last cell; None if an end is missing."""
    if is_dates(line):
        return _dates(line, DATES[axis], name=name)
    if is_labels(line):
        return _label(line, f"Query: {name}", key=LABELS[axis])
    keys = dict(SIDES)[axis]
    low, high = map(exactly, line.bounds)
    range_words = f"{unit_of(line, 'values')} {low} to {high}"
    typed = [
        place.number_input(
            label, value=None, key=in_link(key), bind="query-params", format="%g", placeholder=end,
            help=None if name and label != "to" else f"Ends of the query's range, {range_words}.",
        )
        for place, label, key, end in zip(
            st.columns(2), (f"{name} from" if name else "Query from", "to"), keys, (low, high), strict=True
        )
    ]  # fmt: skip
    typed_ends = sorted(end for end in typed if end is not None)
    # A range excludes its upper end, unless it is a single value.
    if len(typed_ends) == len(typed) and (
        typed_ends[1] < line.low or typed_ends[0] > line.high or typed_ends[0] < typed_ends[1] == line.low
    ):
        st.error(f"The range has no values: they go from {low} to {high}.")
        return None
    return cells_between(line, *typed)


def _dates(line: Dates, key: str, *, name: str) -> tuple[int, int] | None:
    """Draw the control of a range of dates and return its first and last cell; None if it is invalid."""
    typed = st.text_input(
        f"Query: {name}, from – to" if name else "Query: from – to", key=in_link(key), bind="query-params",
        placeholder=f"{line.first} – {line.last}",
        help="Two dates, both included: days such as 2024-03-01, or units of the data.",
    )  # fmt: skip
    if not typed:
        return None
    try:
        return line.cells_of(typed)
    except ParameterError as problem:
        st.error(str(problem))
        return None


def cells_between(line: Number | Labels, start: float | None, stop: float | None) -> tuple[int, int] | None:
    """Return the first and last cell from start to stop; a cell that begins at stop is excluded."""
    if start is None or stop is None:
        return None
    inside = np.clip(np.array([min(start, stop), max(start, stop)], dtype=np.float64), line.low, line.high)
    # A label covers its number up to the next.
    cells = np.minimum(np.floor(inside), line.ordered - 1) if is_labels(line) else line.encode(inside)
    first, last = (int(cell) for cell in cells)
    start, end = line.edges[last : last + 2]
    if last > first and abs(start - inside[1]) < 1e-6 * (end - start):
        last -= 1
    return first, last


def edges(line: Number | Labels, cells: tuple[int, int]) -> tuple[float, float]:
    """Return the edges of a run of cells, in the data's unit."""
    first, last = cells
    return float(f"{line.edges[first]:.9g}"), float(f"{line.edges[last + 1]:.9g}")


def brush_callback(domain: Domain) -> Callable[[Mapping[str, Sequence[float]]], None]:
    """Return the callback that copies a drawn range or rectangle into the controls."""
    lines = [domain] if is_number(domain) else [*domain.columns] if is_map(domain) else []

    def type_it(brush: Mapping[str, Sequence[float]]) -> None:
        typed: dict[str, Any] = {}
        for line, (axis, keys) in zip(lines, SIDES, strict=False):
            drawn: Sequence[float] | Sequence[None] = brush.get(axis) or (None, None)
            cells = cells_between(line, *drawn)
            if is_dates(line):
                typed[DATES[axis]] = " – ".join(map(line.describe, cells)) if cells else ""
                continue
            if is_labels(line):
                typed[LABELS[axis]] = str(cells[0]) if cells else NO_CELL
                continue
            ends: tuple[float, float] | tuple[None, None] = edges(line, cells) if cells else (None, None)
            if line.whole and cells:
                ends = float(line.points()[cells[0]]), float(line.points()[cells[1]])
            typed |= dict(zip(keys, ends, strict=True))
        set_controls(typed)

    return type_it


def show_answer(query: Query | None, recipe: Recipe, dataset: Dataset, state: State, frames: Floats, *, n: int) -> None:
    """Show the true answer, the answers of the releases in the picture, and quantiles of the error.

    Args:
        query: the query, if any.
        recipe: of the page.
        dataset: the true data.
        state: the mechanism's.
        frames: releases in the picture as rows per cell (F, size).
        n: rows.
    """
    if query is None:
        st.caption(
            "Draw a rectangle on the true map, or type both ranges, to see a query."
            if is_map(dataset.domain)
            else "Draw a range on the bars, or type one, to see a query."
            if is_number(dataset.domain)
            else "Choose a bar to see a query."
        )
        return
    index = np.array([query.index])
    truth = float(query.queries.answer(dataset.histogram[None, :], index)[0, 0])
    release = recipe.mechanism().run(state, Preview(recipe.seed), trials=TRIALS)
    if not isinstance(release, DataRelease):
        return
    error = np.abs(query.queries.answer(release.histogram()[~release.refused], index)[:, 0] - truth)

    error_words = f"all {TRIALS} releases gave no answer (⊥)"
    if len(error):
        half, most = np.quantile(error, (0.5, 0.95), method="higher").tolist()
        rows = f"{math.ceil(half):,} row{'s' * (math.ceil(half) != 1)}"
        error_words = (
            f"half of {len(error)} releases are off by at most {rows} ({percent_up(half / n)}), "
            f"95% of them by at most {math.ceil(most):,}"
        )
    warning = " :orange-badge[not protected]" if dataset.provenance.is_private else ""
    st.markdown(
        f"**{query.words}**: true {truth:,.0f} of {n:,} rows{_released_answers(query, frames)}; {error_words}. "
        f":gray-badge[true] :blue-badge[simulated]{warning}"
    )


def _released_answers(query: Query, frames: Floats) -> str:
    """Return the range of the released answers in words; only the browser knows which release is shown."""
    answering = frames[~np.isnan(frames).any(axis=1)]
    if not len(answering):
        return ""
    answers = query.queries.answer(answering, np.array([query.index]))[:, 0]
    low, high = f"{answers.min():,.0f}", f"{answers.max():,.0f}"
    range_words = low if low == high else f"{low} to {high}"
    subject = f"answers of the {len(answering)} releases shown:" if len(answering) > 1 else "released answer:"
    return f", {subject} {range_words}"
