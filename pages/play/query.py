"""One query, typed or drawn: its true answer, the released ones, and its error. It stands in the link."""

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
from pages.shell.session import in_link
from pages.shell.state import SessionKey, set_controls

TRIALS = 200
SIDES = (("x", ("ask-from", "ask-to")), ("y", ("ask-low", "ask-high")))
"""Names in the link of both ends along either axis."""
DATES = {"x": "ask-dates", "y": "ask-dates-up"}
"""The same of a range of dates, which is one text."""
LABELS = {"x": "ask-label", "y": "ask-label-up"}
"""The same of a label, which is a number: a link holds no label."""
NO_CELL = "none"
MAX_CELLS = 2000
"""Labels that are offered: more are asked for in the trade-off's and the other pictures' tables."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One query of a class, and the cells at its ends along each axis, both included."""

    queries: Intervals | Rectangles | Cells
    index: int
    cells: tuple[tuple[int, int], ...]

    @property
    def words(self) -> str:
        """The query in words; a category's name is what somebody typed."""
        description = self.queries.describe(self.index)
        domain = self.queries.domain
        labels = is_map(domain) and any(is_labels(side) for side in domain.columns)
        return as_code(description) if labels or isinstance(self.queries, Cells) else description


QUERY_DATA = SessionKey("asked_of", "")
"""The data that the query is about."""


def read_query(domain: Domain) -> Query | None:
    """The controls of a query, and what they ask; None where nothing is asked."""
    data_key = extent(domain)
    if QUERY_DATA.setdefault(data_key) != data_key:
        # What was asked of other data means nothing here.
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
    """A label, by its number."""
    ends = _label(domain, "Ask about one", key="ask-cell")
    return Query(queries=Cells(domain=domain), index=ends[0], cells=(ends,)) if ends else None


def _label(domain: Domain, label: str, *, key: str) -> tuple[int, int] | None:
    """The cell of a chosen label, as both ends of a range; None where none is chosen."""
    names = printable_labels(domain.describe(cell) for cell in range(min(domain.ordered, MAX_CELLS)))
    titles = {NO_CELL: "—"} | {str(cell): name for cell, name in enumerate(names)}
    chosen = choice(label, titles, key=key, default=NO_CELL)
    return None if chosen == NO_CELL else (int(chosen), int(chosen))


def _ends(line: Number | Labels, axis: str, *, name: str) -> tuple[int, int] | None:
    """First and last cell of the range typed along a line, both included; None where an end is missing."""
    if is_dates(line):
        return _dates(line, DATES[axis], name=name)
    if is_labels(line):
        return _label(line, f"Ask: {name}", key=LABELS[axis])
    keys = dict(SIDES)[axis]
    low, high = exactly(line.low), exactly(line.high)
    range_words = f"{unit_of(line, 'values')} {low} to {high}"
    typed = [
        place.number_input(
            label, value=None, key=in_link(key), bind="query-params", format="%g", placeholder=end,
            help=None if name and label != "to" else f"Ends of the range that is asked about, {range_words}.",
        )
        for place, label, key, end in zip(
            st.columns(2), (f"{name} from" if name else "Ask from", "to"), keys, (low, high), strict=True
        )
    ]  # fmt: skip
    typed_ends = sorted(end for end in typed if end is not None)
    # A range's upper end is not in it, unless it is a single value.
    if len(typed_ends) == len(typed) and (
        typed_ends[1] < line.low or typed_ends[0] > line.high or typed_ends[0] < typed_ends[1] == line.low
    ):
        st.error(f"No value lies there: they go from {low} to {high}.")
        return None
    return cells_between(line, *typed)


def _dates(line: Dates, key: str, *, name: str) -> tuple[int, int] | None:
    """The same of dates, typed as one range; None, and a sentence, where it is none."""
    typed = st.text_input(
        f"Ask: {name}, from – to" if name else "Ask: from – to", key=in_link(key), bind="query-params",
        placeholder=f"{line.first} – {line.last}",
        help="Two dates, both included: days as 2024-03-01, or units as the data count them.",
    )  # fmt: skip
    if not typed:
        return None
    try:
        return line.cells_of(typed)
    except ParameterError as problem:
        st.error(str(problem))
        return None


def cells_between(line: Number | Labels, start: float | None, stop: float | None) -> tuple[int, int] | None:
    """Cells from start to stop, both included; a cell that begins where the range ends is not in it."""
    if start is None or stop is None:
        return None
    inside = np.clip(np.array([min(start, stop), max(start, stop)], dtype=np.float64), line.low, line.high)
    # A label reaches from its number to the next.
    cells = np.minimum(np.floor(inside), line.ordered - 1) if is_labels(line) else line.encode(inside)
    first, last = (int(cell) for cell in cells)
    start, end = line.edges[last : last + 2]
    if last > first and abs(start - inside[1]) < 1e-6 * (end - start):
        last -= 1
    return first, last


def edges(line: Number | Labels, cells: tuple[int, int]) -> tuple[float, float]:
    """Where a run of cells starts and ends, in the data's unit."""
    first, last = cells
    return float(f"{line.edges[first]:.9g}"), float(f"{line.edges[last + 1]:.9g}")


def brush_callback(domain: Domain) -> Callable[[Mapping[str, Sequence[float]]], None]:
    """What is to happen to a range or rectangle that was drawn: it is typed."""
    lines = [domain] if is_number(domain) else [*domain.columns] if is_map(domain) else []

    def type_it(brush: Mapping[str, Sequence[float]]) -> None:
        typed: dict[str, Any] = {}
        for line, (axis, keys) in zip(lines, SIDES, strict=False):
            ends: Sequence[float] | Sequence[None] = brush.get(axis) or (None, None)
            cells = cells_between(line, *ends)
            if is_dates(line):
                typed[DATES[axis]] = " – ".join(map(line.describe, cells)) if cells else ""
                continue
            if is_labels(line):
                typed[LABELS[axis]] = str(cells[0]) if cells else NO_CELL
                continue
            for key, end in zip(keys, edges(line, cells) if cells else (None, None), strict=True):
                typed[key] = end
        set_controls(typed)

    return type_it


def show_answer(query: Query | None, recipe: Recipe, dataset: Dataset, state: State, frames: Floats, *, n: int) -> None:
    """The true answer, those of the releases that can be shown, and how far releases stray.

    Args:
        query: what is asked.
        recipe: of the page.
        dataset: the true data.
        state: the mechanism's.
        frames: releases in the picture as rows per cell (F, size).
        n: rows.
    """
    if query is None:
        st.caption(
            "Draw on the true map, or type both ranges, to ask."
            if is_map(dataset.domain)
            else "Draw on the bars, or type a range, to ask about it."
            if is_number(dataset.domain)
            else "Choose a bar to ask about it."
        )
        return
    index = np.array([query.index])
    truth = float(query.queries.answer(dataset.histogram[None, :], index)[0, 0])
    release = recipe.mechanism().run(state, Preview(recipe.seed), trials=TRIALS)
    if not isinstance(release, DataRelease):
        return
    error = np.abs(query.queries.answer(release.histogram()[~release.refused], index)[:, 0] - truth)

    def error_quantile(share: float) -> float:
        return float(np.quantile(error, share, method="higher"))

    error_words = (
        f"the error of half of {len(error)} releases is at most {math.ceil(error_quantile(0.5)):,} rows "
        f"({percent_up(error_quantile(0.5) / n)}), of 95% at most {math.ceil(error_quantile(0.95)):,}"
        if len(error)
        else f"all of {TRIALS} releases refused to answer"
    )
    warning = " :orange-badge[not protected]" if dataset.provenance.is_private else ""
    st.markdown(
        f"**{query.words}**: true {truth:,.0f} of {n:,} rows{_released_answers(query, frames)}; {error_words}. "
        f":gray-badge[true] :blue-badge[simulated]{warning}"
    )


def _released_answers(query: Query, frames: Floats) -> str:
    """What the releases in the picture answer: which one is shown, only the browser knows."""
    answering = frames[~np.isnan(frames).any(axis=1)]
    if not len(answering):
        return ""
    answers = query.queries.answer(answering, np.array([query.index]))[:, 0]
    low, high = f"{answers.min():,.0f}", f"{answers.max():,.0f}"
    range_words = low if low == high else f"{low} to {high}"
    subject = f"the {len(answering)} releases in the picture say" if len(answering) > 1 else "the release says"
    return f", {subject} {range_words}"
