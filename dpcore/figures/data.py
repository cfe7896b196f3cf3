"""The data: true histogram, released histogram, and how releases differ from each other."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dpcore.core import Domain, Floats, Integers, Problem
from dpcore.domains import Line
from dpcore.figures.data_body import on_a_line, on_labels, playback
from dpcore.figures.figure import Figure, Records, framed, palette, shortened, significant
from dpcore.figures.labels import MOST_LABELS, fullest, group_names, grouped
from dpcore.synthetic import clean_counts

MOST_BARS = 64
MOST_FRAMES = 20
"""Releases that can be played."""


def binned(counts: Floats, domain: Domain) -> Floats:
    """Rows per bar, the missing cell apart in a last column: (F, size) to (F, bars + 1).

    Bars are equal runs of cells on a line; of categories, the first labels, the last bar holding all further ones.
    """
    if isinstance(domain, Line):
        first = np.arange(0, domain.ordered, -(-domain.ordered // MOST_BARS))
    else:
        first = np.arange(min(domain.ordered, MOST_LABELS))
    bars = np.add.reduceat(counts[:, : domain.ordered].astype(np.float64), first, axis=1)
    return np.concatenate([bars, counts[:, domain.ordered :].sum(axis=1, keepdims=True)], axis=1)


def histogram(
    *,
    problem: Problem,
    truth: Integers | None,
    frames: Floats,
    badge: str,
    dark: bool,
    brush: bool = False,
    clean: bool = False,
) -> Figure:
    """True rows per bar in dark, one release in blue; controls in the picture step through or play other releases.

    Nothing moves until the reader asks for it.

    Args:
        problem: the public problem.
        truth: true rows per cell (size,), None where they may not be shown.
        frames: released rows per cell (F, size); NaN where refused. The first MOST_FRAMES are shown.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
        brush: whether a range can be drawn on it; the selection is called "brush".
        clean: whether to post-process the releases to whole non-negative counts that add up to n.
    """
    domain, colours = problem.domain, palette(dark=dark)
    frames = frames[:MOST_FRAMES].astype(np.float64)
    refused = ~np.isfinite(frames).all(axis=1)
    frames[refused] = np.nan
    if clean and not refused.all():
        frames[~refused] = clean_counts(frames[~refused], total=problem.n)
    true = None if truth is None else truth[None, :].astype(np.float64)
    if isinstance(domain, Line):
        names, bars = _bars_on_a_line(domain)
        released = binned(frames, domain)[:, : len(names)]
        rows = None if true is None else binned(true, domain)[0, : len(names)]
        body, height = on_a_line(domain, colours=colours, brush=brush), 300
    else:
        order_by = true[0] if true is not None else frames[~refused][0] if not refused.all() else np.zeros(domain.size)
        kept = fullest(order_by[: domain.ordered])
        names, released = group_names(domain, kept), grouped(frames, domain, kept)
        rows = None if true is None else grouped(true, domain, kept)[0]
        bars = [{"label": name, "place": place} for place, name in enumerate(names)]
        body, height = on_labels(colours, brush=brush), 110 + 20 * len(bars)
    body["params"] = playback(len(frames))
    table: dict[str, list[Any]] = {"rows where": names}
    if rows is not None:
        table["true rows"] = rows.astype(int).tolist()
    if not refused.all():
        table[f"release {int(np.argmin(refused)) + 1}"] = shortened(released[~refused][0])
    return Figure(
        spec=framed(
            body, badge=badge, colours=colours, height=height, datasets=_datasets(bars, rows, released, refused)
        ),
        sentence=_sentence(problem, released, rows, refused),
        table=table,
        title="True and released data",
    )


def _bars_on_a_line(domain: Line) -> tuple[list[str], Records]:
    """Names and ends of bars that touch, and one apart for missing values."""
    step = -(-domain.ordered // MOST_BARS)
    edges = np.minimum(domain.low + np.arange(0, domain.ordered + step, step) * domain.width, domain.high)
    names = [f"{start:.5g} to {end:.5g}" for start, end in itertools.pairwise(edges)]
    bars: Records = [{"x": start, "x2": end, "apart": False} for start, end in itertools.pairwise(edges.tolist())]
    if domain.missing:
        names.append(domain.describe(domain.ordered))
        bars.append({"x": domain.high, "x2": domain.high, "apart": True})
    return names, bars


def _datasets(bars: Records, true: Floats | None, released: Floats, refused: Any) -> dict[str, Records]:
    """A row per bar with its true count and that of every release (f1, f2, …); what to say of each release."""
    columns: dict[str, list[Any]] = {} if true is None else {"true": true.astype(int).tolist()}
    for number, row in enumerate(released, start=1):
        columns[f"f{number}"] = shortened(row)
    counts = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    rows: Records = [{**bar, **count} for bar, count in zip(bars, counts or [{}] * len(bars), strict=True)]
    if rows and "x" in rows[0]:
        # A step line holds its last value to the end of the last bar.
        last = next(row for row in reversed(rows) if not row["apart"])
        rows.append({**last, "x": last["x2"], "end": True})
    of = f"of {len(refused)}" if len(refused) > 1 else "shown"
    said: Records = [
        {"frame": number, "text": f"release {number} {of}" + (": refused to answer" if no else "")}
        for number, no in enumerate(refused.tolist(), start=1)
    ]
    # The axis must not jump from release to release: it reaches as far as any of them.
    everything = released if true is None else np.vstack([released, true[None, :]])
    ends = [0.0, 1.0] if not np.isfinite(everything).any() else [np.nanmin(everything), np.nanmax(everything)]
    return {"bars": rows, "said": said, "reach": [{"rows": end} for end in shortened(ends)]}


def _sentence(problem: Problem, released: Floats, true: Floats | None, refused: Any) -> str:
    """What the picture shows, without anybody's labels: a sentence is printed where markup is read."""
    bars = f"{problem.n:,} rows in {released.shape[1]} {'bar' if released.shape[1] == 1 else 'bars'}"
    if refused.all():
        return "No release to show: every previewed run refused to answer."
    if true is None:
        return f"Release {int(np.argmin(refused)) + 1} of {bars}; the true data are not shown."
    off = significant(float(np.abs(released[~refused][0] - true).max()))
    text = f"{bars}: release {int(np.argmin(refused)) + 1} is off by at most {off} rows in a bar"
    return f"{text}; {refused.sum()} of {len(refused)} shown refused to answer." if refused.any() else f"{text}."
