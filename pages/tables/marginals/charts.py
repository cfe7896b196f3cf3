"""Pictures of all tables by each method, of the cells of one table, and of their errors over predicted noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Floats
from pages.charts.axes import round_ticks
from pages.charts.picture import Axis, Band, Curve, Dots, Mark, Picture, Region
from pages.charts.words import minus, percent, percent_up, rows, rows_up, short_numbers, significant

MAX_CELLS = 16
"""Cells of a table that are drawn, the fullest first; its numbers hold all."""
MAX_LINES = 100
"""Tables with a line each for their previews; of more, the area from closest to furthest preview is shaded."""
MAX_NUMBERS = 4
"""Along the axis of a cell's rows."""
LINE, GAP = 13, 9
"""Pixels for a line of a cell's name, and between cells."""
LONGEST = 24
"""Letters of a name that fit one line beside the picture on a phone; longer ones are broken at their commas."""
THIS, OTHERS = "this preview", "other previews"


@dataclass(frozen=True, kw_only=True, eq=False)
class Distances:
    """Distances of released tables from the true ones.

    Attributes:
        name: the name of the method, or of the kind of tables.
        role: the role of its marks.
        of: the attributes of each table in words.
        far: half the differences as a share of n, (previews, tables), tables > 0.
    """

    name: str
    role: str
    of: Sequence[str]
    far: Floats


def sorted_dots(series: Sequence[Distances], *, noun: str, n: int) -> Picture:
    """Return the picture with a dot for each table, closest to furthest, a line for its previews, and ringed medians.

    Args:
        series: the distances by method, the selected one first.
        noun: the plural noun for the dots.
        n: rows.
    """
    marks: list[Mark] = []
    medians = [float(np.median(each.far.mean(axis=0))) for each in series]
    columns: dict[str, list[Any]] = {"method": [], noun: [], "mean": [], "lowest": [], "highest": []}
    for each, median in zip(series, medians, strict=True):
        name = f"{each.name}: median {percent(median)}"  # a label in the picture would cover dots or the axis
        mean = each.far.mean(axis=0)
        order = np.argsort(mean, kind="stable")
        middle, low, high = mean[order], each.far.min(axis=0)[order], each.far.max(axis=0)[order]
        names = [each.of[place] for place in order]
        x, many = (np.arange(len(order)) + 0.5) / len(order), len(order) > MAX_LINES
        if many:  # so many lines would hide one another and the dots
            marks.append(Band(role=each.role, name=name, legend=False, x=x, low=low, high=high))
        dots = Dots(
            role=each.role,
            name=name,
            x=x,
            y=middle,
            low=None if many else low,
            high=None if many else high,
            size=4 if many else 6,
            hover=[
                f"{of}\n{each.name}: {percent(away)} ({rows(away, n)}) in a wrong cell, mean of {len(each.far)}"
                "\nsimulated"
                for of, away in zip(names, middle.tolist(), strict=True)
            ],
        )
        marks.append(dots)
        numbers = (short_numbers(values) for values in (middle, low, high))
        for column, values in zip(columns, ([each.name] * len(order), names, *numbers), strict=True):
            columns[column] += values
    marks.append(Dots(role="ink", x=[0.5] * len(series), y=medians, shape="circle-open", size=15))
    return Picture(
        title=f"Rows in a wrong cell, for all {noun}",
        x=Axis(title=f"{noun}, closest to furthest", low=0, high=1, form="~p"),
        y=Axis(title="rows in a wrong cell, share of n", low=0, form=".3~p", rows=n),
        marks=marks,
        sentence=_compared(series, noun),
        table=columns,
        height=320,
    )


def errors_within(errors: Floats, *, noun: str, role: str, n: int) -> Picture:
    """Return the picture of the share of answers of one release within an error.

    Args:
        errors: absolute errors, shares of n, (Q,).
        noun: the plural noun for the answers.
        role: the role of the curve.
        n: rows.
    """
    shares = np.linspace(0, 1, 101)
    within = np.quantile(errors, shares)
    median, high = (float(np.quantile(errors, share)) for share in (0.5, 0.95))
    return Picture(
        title=f"Errors of all {noun}",
        x=Axis(title="error, share of n", low=0, form=".3~p", rows=n),
        y=Axis(title=f"share of {noun} with at most this error", low=0, high=1, form="~p"),
        marks=[Curve(role=role, x=within, y=shares, width=2)],
        sentence=f"In this release half of the {len(errors):,} {noun} have an error of at most "
        f"{percent_up(median)}. For 95 in 100 it is at most {percent_up(high)} ({rows_up(high, n)}). The "
        f"largest is {percent(float(errors.max()))}.",
        table={f"share of {noun}": short_numbers(shares), "error": short_numbers(within)},
        height=320,
    )


def _compared(series: Sequence[Distances], noun: str) -> str:
    """Return median and mean of the first method, and the means of the others, in words."""
    first, *others = series
    means, count = first.far.mean(axis=1), first.far.shape[1]
    half = percent_up(float(np.median(first.far.mean(axis=0))))
    text = (
        f"{first.name}: half of the {count:,} {noun} have at most {half} "
        f"of all rows in a wrong cell, {percent(float(means.mean()))} on average "
    )
    text += (
        f"({percent(float(means.min()))} to {percent(float(means.max()))} from preview to preview of {len(means)})"
        if len(means) > 1
        else "in one preview"
    )
    return text + "".join(f"; {each.name}: {percent(float(each.far.mean()))} on average" for each in others) + "."


def cell_counts(*, cells: Sequence[str], truth: NDArray[Any], released: Floats) -> Picture:
    """Return the picture of true and released rows of the fullest cells of one table.

    Args:
        cells: the cells in words, (C,).
        truth: true rows, (C,); not private.
        released: rows in one previewed release, (C,).
    """
    order, n = _fullest(truth), int(truth.sum())
    places = np.arange(len(order))
    errors = released - truth
    worst = int(np.abs(errors).argmax())
    # The axis begins before 0, so that marks of empty cells are whole.
    drawn = np.concatenate([truth[order], released[order]])
    low = min(0.0, float(drawn.min())) - 0.03 * float(drawn.max())
    return Picture(
        title="Cells of one table",
        x=Axis(title="rows in the cell", form=",.3~r", low=low, ticks=_few(low, float(drawn.max()))),
        y=_cell_axis(cells, order),
        marks=[
            Dots(
                role=role,
                name=role,
                x=values[order],
                y=places,
                shape=shape,
                size=9,
                hover=[
                    f"{cells[cell]}\n{role}: {minus(f'{values[cell]:,.{digits}f}')} rows ({percent(values[cell] / n)})"
                    for cell in order
                ],
            )
            for role, shape, values, digits in (
                ("true", "square-open", truth.astype(np.float64), 0),
                ("released", "cross-thin-open", released, 1),
            )
        ],
        sentence=(
            f"{_drawn(len(order), len(cells))}. The largest error in this preview is in {cells[worst]}: "
            f"true {int(truth[worst]):,}, released {minus(f'{released[worst]:,.1f}')}."
        ),
        table={
            "cell": list(cells),
            "true rows": truth.astype(int).tolist(),
            "released rows": tenths(released),
            "error in rows": tenths(errors),
        },
        height=_height(cells, order),
    )


def cell_errors(
    *, cells: Sequence[str], truth: NDArray[Any], released: Floats, predicted: float, observed: float, trials: int
) -> Picture:
    """Return the picture of errors of the fullest cells in a few previews, over the noise predicted before the fit.

    Args:
        cells: the cells in words, (C,).
        truth: true rows, (C,); not private.
        released: rows in some previewed releases, (previews, C).
        predicted: the predicted standard deviation of a cell of the unbiased table, in rows.
        observed: the observed standard deviation.
        trials: the number of previews in which it was observed.
    """
    order, errors = _fullest(truth), released - truth
    marks: list[Mark] = [Region(role="theory", x=(-wide * predicted, wide * predicted)) for wide in (2, 1)]
    for name, role, shape, previews in (
        (OTHERS, "quiet", "circle-open", errors[1:]),
        (THIS, "released", "cross-thin-open", errors[:1]),
    ):
        dots = Dots(
            role=role,
            name=name,
            x=previews[:, order].reshape(-1),
            y=np.tile(np.arange(len(order)), len(previews)),
            shape=shape,
            hover=[
                f"{cells[cell]}\n{name}: error {minus(f'{each[cell]:+,.1f}')} rows"
                for each in previews
                for cell in order
            ],
        )
        marks.append(dots)
    return Picture(
        title="Errors of one table's cells",
        x=Axis(title="released minus true rows", form=",.3~r"),
        y=_cell_axis(cells, order),
        marks=marks,
        sentence=(
            f"Predicted standard deviation of a cell before fitting: {significant(predicted)} rows "
            f"(orange: once and twice this). Observed over {trials} previews: {significant(observed)}. As "
            "shown here, the root mean square error of the cells is "
            f"{significant(float(np.sqrt(np.mean(errors**2))))} rows."
        ),
        table={"cell": list(cells)}
        | {f"error in preview {number}": tenths(each) for number, each in enumerate(errors, start=1)},
        height=_height(cells, order),
    )


def _few(low: float, high: float) -> tuple[float, ...]:
    """Return the ticks of an axis of rows, few enough for a phone."""
    places = round_ticks(low, high, whole=True)
    return tuple(places[::2] if len(places) > MAX_NUMBERS else places)


def tenths(counts: Floats) -> list[float]:
    """Return rows to a tenth; four digits would be too few for cells of many rows."""
    rounded: list[float] = (np.round(counts, 1) + 0.0).tolist()
    return rounded


def _fullest(truth: NDArray[Any]) -> list[int]:
    """Return the cells that are drawn, fullest first."""
    places: list[int] = np.argsort(-truth, kind="stable")[:MAX_CELLS].tolist()
    return places


def _lines(cells: Sequence[str]) -> int:
    """Return the number of lines of a name: one, or one for each attribute."""
    return 1 if max(map(len, cells)) <= LONGEST else cells[0].count(", ") + 1


def _cell_axis(cells: Sequence[str], order: Sequence[int]) -> Axis:
    names = [cells[place] for place in order]
    if _lines(cells) > 1:
        names = [name.replace(", ", "\n") for name in names]
    return Axis(labels=tuple(names), grid=True)


def _height(cells: Sequence[str], order: Sequence[int]) -> int:
    return 130 + (LINE * _lines(cells) + GAP) * len(order)


def _drawn(shown: int, every: int) -> str:
    return f"The {shown} largest of {every:,} cells" if shown < every else f"All {every} cells"
