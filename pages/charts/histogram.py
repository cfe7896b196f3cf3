"""The histogram of true rows, with releases over it that can be played."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpcore.core import Booleans, Domain, Floats, Integers
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.dates import is_dates
from dpcore.data.product import is_map
from dplab.limits.tracing import Traced
from dplab.synthetic import clean_counts
from pages.charts.axes import round_ticks
from pages.charts.picture import BEHIND, Axis, Bars, Curve, Frame, Mark, Picture, Rule, numbers
from pages.charts.words import (
    group_cells,
    group_names,
    largest_cells,
    percent,
    printable_labels,
    rows,
    short_numbers,
    significant,
)

MAX_BARS = 64
MAX_AXIS_NAMES, MAX_NAME_LETTERS = 4, 12
"""Maximum number of names along an axis of dates or labels, and of letters in one."""
MAX_FRAMES = 20
"""Releases that can be played."""
SKEW_RATIO = 20
"""Ratio of the largest bar to the median bar from which a logarithmic axis is offered."""
HALF_ROW = 0.5
"""Lower end of a logarithmic axis, in rows: it has no zero, so that smaller values are drawn here."""
MISSING_GAP, MISSING_WIDTH = 0.05, 0.08
"""Shares of the axis: the gap before the bar of missing values, and the width of that bar."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BarLayout:
    """Positions of the bars: adjacent along an axis of numbers, or one below the other with labels.

    Attributes:
        names: of the bars (K,).
        start: ends along the axis of places (K,).
        end: likewise.
        separate: number of bars at the end that do not touch the others.
        places: the axis.
        grouped: maps rows per cell (F, size) to rows per bar (F, K).
    """

    names: list[str]
    start: Floats
    end: Floats
    separate: int
    places: Axis
    grouped: Callable[[Floats], Floats]

    @property
    def across(self) -> bool:
        """Return True if the bars are horizontal."""
        return bool(self.places.labels)


def blocks_of(line: Number | Labels, max_blocks: int) -> tuple[Integers, Floats]:
    """Return the first cells (K,) and the edges (K + 1,) of at most ``max_blocks`` runs of cells."""
    first = np.arange(0, line.ordered, -(-line.ordered // max_blocks))
    return first, line.edges[np.append(first, line.ordered)]


def block_names(line: Number | Labels, max_blocks: int) -> list[str]:
    """Return the name of each such run (K,): where it starts and ends."""
    first = blocks_of(line, max_blocks)[0].tolist()
    last = [*(place - 1 for place in first[1:]), line.ordered - 1]
    return [line.between(a, b) for a, b in zip(first, last, strict=True)]


def unit_of(line: Number | Labels, name: str = "value") -> str:
    """Return the title of an axis of numbers, with its unit."""
    return f"{name} ({line.unit})" if line.unit and line.unit not in name else name


def axis_along(
    line: Number | Labels, name: str = "value", *, max_names: int = MAX_AXIS_NAMES, upright: bool = False
) -> Axis:
    """Return a column's axis: in the data's unit, or with the names of at most ``max_names`` dates or labels."""
    axis = Axis(title=unit_of(line, name), low=line.low, high=line.high)
    if is_labels(line):
        step = -(-line.ordered // max_names)
        names_by_place = {
            cell + 0.5: f"{text[:MAX_NAME_LETTERS]}…" if len(text) > MAX_NAME_LETTERS + 1 else text
            for cell, text in enumerate(printable_labels(line.labels))
            if cell % step == 0
        }
        return dataclasses.replace(axis, ticks=tuple(names_by_place), named=names_by_place)
    if not is_dates(line):
        return axis
    cells = range(0, line.ordered, -(-line.ordered // MAX_AXIS_NAMES))
    named = {line.low + cell: line.describe(cell) for cell in cells}
    if not upright:  # the year is on a second line: whole dates would overlap on a phone
        named = {place: "\n".join(reversed(text.split("-", 1))) for place, text in named.items()}
    # The names replace the numbers, which would be at the same places.
    return dataclasses.replace(axis, title=name, ticks=tuple(named), named=named)


def _numeric_layout(line: Number) -> BarLayout:
    """Return adjacent bars in the data's unit, with a separate one for missing values at the right."""
    edges, names = blocks_of(line, MAX_BARS)[1], block_names(line, MAX_BARS)
    axis = axis_along(line)
    start, end = edges[:-1], edges[1:]
    if line.missing:
        span = line.high - line.low
        left, right = line.high + MISSING_GAP * span, line.high + (MISSING_GAP + MISSING_WIDTH) * span
        names = [*names, line.describe(line.ordered)]
        start, end = np.append(start, left), np.append(end, right)
        # A phone has no room for a number beside the name.
        ticks = tuple(round_ticks(line.low, line.high - MISSING_WIDTH * span, whole=False))
        named = {**axis.named, (left + right) / 2: "missing"}
        axis = dataclasses.replace(axis, high=right, ticks=axis.ticks or ticks, named=named)
    grouped = partial(_rows_per_bar, line)
    return BarLayout(names=names, start=start, end=end, separate=int(line.missing), places=axis, grouped=grouped)


def _rows_per_bar(line: Number, counts: Floats) -> Floats:
    """Return rows per bar (F, K) for rows per cell (F, size)."""
    bars = np.add.reduceat(counts[:, : line.ordered], blocks_of(line, MAX_BARS)[0], axis=1)
    return np.concatenate([bars, counts[:, line.ordered :]], axis=1)


def _label_layout(domain: Domain, truth: Floats) -> BarLayout:
    """Return a bar for each of the largest labels, one for all others, and one for missing values."""
    cells = largest_cells(truth[: domain.ordered])
    names = group_names(domain, cells)
    places = np.arange(len(names), dtype=np.float64)
    return BarLayout(
        names=names,
        start=places - 0.4,
        end=places + 0.4,
        separate=len(names),
        places=Axis(labels=tuple(names)),
        grouped=lambda counts: group_cells(counts, domain, cells),
    )


def is_skewed(domain: Domain, truth: Integers) -> bool:
    """Return True if one bar is so much larger than the median that a logarithmic axis shows more."""
    counts = truth[None, :].astype(np.float64)
    # Without a number's names: they take as long as many elements of a page.
    bars = _rows_per_bar(domain, counts) if is_number(domain) else _label_layout(domain, counts[0]).grouped(counts)
    filled = bars[bars > 0]
    return bool(len(filled) and filled.max() > SKEW_RATIO * np.median(filled))


def _layout(domain: Domain, truth: Integers) -> BarLayout:
    return _numeric_layout(domain) if is_number(domain) else _label_layout(domain, truth.astype(np.float64))


def histogram(
    *, domain: Domain, n: int, truth: Integers, frames: Floats | None = None, brush: bool = False, log: bool = False
) -> Picture:
    """Return true rows as bars with one release as a line over them; further releases are frames.

    Args:
        domain: what the cells are.
        n: number of rows that shares refer to.
        truth: true rows per cell (size,); not private.
        frames: released rows per cell (F, size), see playable_releases; None if nothing is released.
        brush: whether a range can be selected.
        log: whether the axis of counts is logarithmic.
    """
    layout = _layout(domain, truth)
    true = layout.grouped(truth[None, :].astype(np.float64))[0]
    title = f"rows{'' if layout.across else ' in a bar'}{' (log)' if log else ''}"
    counts = Axis(title=title, form=",", log=log, low=HALF_ROW if log else None, of=n)
    marks: list[Mark] = [
        Bars(
            role="true",
            name="true",
            start=layout.start,
            end=layout.end,
            value=true,
            across=layout.across,
            opacity=BEHIND,
            hover=[
                f"{name}: true {rows(bar / n, n)} ({percent(bar / n)})"
                for name, bar in zip(layout.names, true, strict=True)
            ],
        )
    ]
    table: dict[str, list[object]] = {"rows where": [*layout.names], "true rows": true.astype(int).tolist()}
    frames_drawn: list[Frame] = []
    sentence = _counts_sentence(n, layout, true, domain=domain)
    if frames is not None:
        released = layout.grouped(frames)
        bars = f"{_row_words(n)} in {len(true)} {'bar' if len(true) == 1 else 'bars'}"
        frames_drawn, sentence = release_frames(
            released,
            true,
            about=bars,
            where="bar",
            name="released",
            mark=lambda row: _release_curve(layout, row, log=log),
        )
        marks += frames_drawn[0].marks.values()
        refused = np.isnan(released).any(axis=1)
        if not refused.all():
            table[f"release {int(np.argmin(refused)) + 1}"] = [*short_numbers(released[~refused][0])]
    return Picture(
        title="True and released data" if frames_drawn else "Rows in each bar",
        x=counts if layout.across else layout.places,
        y=layout.places if layout.across else counts,
        marks=marks,
        sentence=sentence,
        table=table,
        height=80 + 20 * len(true) if layout.across else 300,
        frames=frames_drawn,
        brush="x" if brush else "",
        about=f"{extent(domain)}|{log}",
    )


def extent(domain: Domain) -> str:
    """Return a key of a domain for zoom and brush: its bounds and its number of cells, which are public."""
    lines = [domain] if is_number(domain) else [*domain.columns] if is_map(domain) else []
    return "|".join([str(domain.size), *(f"{line.low} {line.high}" for line in lines)])


def _release_curve(layout: BarLayout, counts: Floats, *, log: bool) -> Curve:
    """Return one release as a step curve over the bars."""
    # A refused release is NaN, for which the comparison is False: it stays NaN.
    height = np.where(counts < HALF_ROW, HALF_ROW, counts) if log else counts
    touching = len(counts) - layout.separate
    positions = [*layout.start[:touching], *layout.end[touching - 1 : touching]]
    heights = [*height[:touching], *height[touching - 1 : touching]]
    for start, end, value in zip(layout.start[touching:], layout.end[touching:], height[touching:], strict=True):
        positions += [np.nan, start, end]
        heights += [np.nan, value, value]
    x, y = (heights, positions) if layout.across else (positions, heights)
    return Curve(role="released", name="released", x=x, y=y, step=not layout.across)


def playable_releases(frames: Floats, *, n: int, clean: bool, limit: int = MAX_FRAMES) -> Floats:
    """Return the releases that can be played (F, size); ``clean`` rounds them to whole counts with sum n."""
    shown = frames[:limit].astype(np.float64)
    refused = ~np.isfinite(shown).all(axis=1)
    shown[refused] = np.nan
    if clean and not refused.all():
        shown[~refused] = clean_counts(shown[~refused], total=n)
    return shown


def release_frames(
    released: Floats,
    true: Floats,
    *,
    about: str,
    where: str,
    name: str,
    mark: Callable[[Floats], Mark],
    also: Callable[[int], str] = lambda _: "",
) -> tuple[list[Frame], str]:
    """Return a frame for each release (F, K), with its caption, and the sentence about all of them.

    Args:
        released: rows per bar; NaN if refused.
        true: true rows per bar (K,).
        about: rows and bars, in words.
        where: the noun for a bar.
        name: of the mark.
        mark: draws one release.
        also: returns further words about the release with this index.
    """
    refused: Booleans = np.asarray(np.isnan(released).any(axis=1))
    errors = np.abs(released - true).max(axis=1)
    summary = "No release to show: every preview gave no answer (⊥)."
    if not refused.all():
        summary = f"{about}: in its worst {where}, {_error_words(errors[~refused])}"
        summary += f"; {refused.sum()} of the {len(refused)} shown gave no answer (⊥)." if refused.any() else "."
    frames = []
    for place, row in enumerate(released):
        label = f"release {place + 1} of {len(released)}"
        error = significant(float(errors[place]))
        outcome = "no answer (⊥)" if refused[place] else f"error of at most {_row_words(error)}{also(place)}"
        # The first sentence is about this release, the second about all of them.
        sentence = summary if refused.all() else f"{label.capitalize()}: {outcome}. {summary}"
        frames.append(Frame(label=label, sentence=sentence, marks={name: mark(row)}))
    return frames, summary


def _error_words(errors: Floats) -> str:
    """Return the range of the releases' errors, in words."""
    low, high = significant(float(errors.min())), significant(float(errors.max()))
    if len(errors) == 1:
        return f"the release shown has an error of {_row_words(high)}"
    return (
        f"each of the {len(errors)} releases has an error of {_row_words(high if low == high else f'{low} to {high}')}"
    )


def _row_words(count: int | str) -> str:
    """Return a number with the noun "row" or "rows"."""
    text = f"{count:,}" if isinstance(count, int) else count
    return f"{text} {'row' if text == '1' else 'rows'}"


def _counts_sentence(n: int, layout: BarLayout, true: Floats, *, domain: Domain) -> str:
    """Return the fullest bar and the number of empty ones, in words."""
    counts, missing = (true[:-1], int(true[-1])) if domain.missing else (true, 0)
    fullest, empty = int(counts.argmax()), int((counts == 0).sum())
    bars = "1 bar" if len(counts) == 1 else f"{len(counts)} bars"
    text = f"{_row_words(n)} in {bars}: the fullest, {layout.names[fullest]}, has {counts[fullest]:,.0f}"
    missing_words = (
        "1 row is missing or out of bounds" if missing == 1 else f"{missing:,} rows are missing or out of bounds"
    )
    return f"{text}; {empty} {'is' if empty == 1 else 'are'} empty; {missing_words}."


def back_to_back(above: Floats, below: Floats, *, names: tuple[str, str], roles: tuple[str, str]) -> list[Bars]:
    """Return the bars of two groups' values over the same cells: the shares of one upwards, of the other downwards.

    Args:
        above: values of the first group, (A,).
        below: values of the second, (B,).
        names: of the groups.
        roles: of their bars.
    """
    edges = np.histogram_bin_edges(np.concatenate([above, below]), bins=MAX_BARS // 2)
    bars = []
    for values, name, role, sign in zip((above, below), names, roles, (1, -1), strict=True):
        share = np.histogram(values, edges)[0] / max(1, len(values))
        hover = [f"{name}: {percent(each)} of them here" for each in share.tolist()]
        bars.append(Bars(role=role, name=name, start=edges[:-1], end=edges[1:], value=sign * share, hover=hover))
    return bars


def traced_scores(traced: Traced) -> Picture:
    """Return the scores of those in the data upwards, of others downwards, and the threshold between them."""
    names, roles = ("in the data", "not in the data"), ("released", "quiet")
    bars = back_to_back(traced.members, traced.outside, names=names, roles=roles)
    edges = [*numbers(bars[0].start).tolist(), float(numbers(bars[0].end)[-1])]
    ends = min(edges[0], traced.threshold) - 0.2, max(edges[-1], traced.threshold) + 0.2
    top = 1.15 * max(float(np.abs(numbers(each.value)).max()) for each in bars)
    return Picture(
        title="All scores",
        x=Axis(title="score, in standard deviations", low=ends[0], high=ends[1], form="~g"),
        y=Axis(title="share of each group", low=-top, high=top, shown=False),
        marks=[*bars, Rule(role="ink", x=traced.threshold, label="accused from here", side="left")],
        sentence=f"{percent(traced.found)} of {len(traced.members):,} members and {percent(traced.accused)} of "
        f"{len(traced.outside):,} others have a score at or above the threshold.",
        table={"score from": short_numbers(edges[:-1]), "to": short_numbers(edges[1:])}
        | {each.name: short_numbers(np.abs(numbers(each.value))) for each in bars},
        height=360,
    )
