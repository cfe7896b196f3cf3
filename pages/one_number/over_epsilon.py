"""Pictures over ε: errors of three mechanisms, refusals of the stable median, ranks of the exponential median."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.core import Floats, exactly, rounded_up
from dpcore.mechanisms import entry
from dplab.salaries import CURVE, EPSILONS, KEYS, Comparison, EpsilonCurves, nearest
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Region, Rule, Wall
from pages.charts.words import percent, percent_down, rows, short_numbers, significant
from pages.data.upload import plural

AIR = 1.15
"""Room beyond the outermost dots, as a factor."""
LOSSES = Axis(
    title="← more private · ε · more accurate →",
    log=True,
    low=EPSILONS[0] / AIR,
    high=EPSILONS[-1] * AIR,
    form="~g",
    ticks=EPSILONS[::2],  # all of them do not fit on a phone
)
ROOM = 2.5
"""The smallest number is this many times the place of 0 on a logarithmic axis."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The place of 0 on a logarithmic axis, below all other numbers."""

    zero: float

    def over(self, values: Floats) -> Floats:
        """Return the heights at which values are drawn."""
        return np.maximum(values, self.zero)

    def axis(self, title: str, *, high: float, form: str = "", n: int = 0) -> Axis:
        """Return an axis on which this place is named 0."""
        return Axis(
            title=f"{title} (log)",
            log=True,
            low=self.zero / AIR,
            high=high * AIR,
            form=form,
            named={self.zero: "0"},
            rows=n,
        )


def floor_below(*values: Floats) -> Floor:
    """Return a place for 0 below every positive value."""
    together = np.concatenate(values)
    return Floor(zero=float(together[together > 0].min(initial=1.0)) / ROOM)


def _here(epsilon: float) -> Rule:
    """Return the line at the page's ε."""
    return Rule(role="ink", x=min(max(epsilon, EPSILONS[0]), EPSILONS[-1]), width=1.5)


def errors_over_epsilon(*, comparison: Comparison, epsilon: float) -> Picture:
    """Return the picture of the 95% error, given an answer, over ε."""
    unit, losses = comparison.domain.unit, np.array(EPSILONS)
    answered = comparison.error[~np.isnan(comparison.error)]
    floor = floor_below(answered)
    marks: list[Mark] = []
    table: dict[str, Sequence[Any]] = {"epsilon": list(EPSILONS)}
    for place, (key, errors) in enumerate(zip(KEYS, comparison.error, strict=True)):
        name, role, known = entry(key).title, f"mechanism:{key}", ~np.isnan(errors)
        y = floor.over(errors[known])
        hover = [
            f"{name}, ε = {at:g}: 95% error {significant(error)} {unit}, simulated"
            for at, error in zip(losses[known].tolist(), errors[known].tolist(), strict=True)
        ]
        marks += [
            Curve(role=role, name=name, x=losses[known], y=y, width=2, legend=False),
            # Each is smaller than the last, because at 0 they coincide.
            Dots(role=role, name=name, x=losses[known], y=y, size=14 - 3 * place, hover=hover),
        ]
        table[name] = short_numbers(errors)
    column = nearest(epsilon)
    near, mean = (float(each) for each in comparison.error[1:, column])
    return Picture(
        title="Error if there is an answer",
        x=LOSSES,
        y=floor.axis(f"95% error ({unit})", high=float(answered.max(initial=floor.zero))),
        marks=[*marks, _here(epsilon)],
        sentence=f"If the stable median gives an answer, it is exact. Near ε = {EPSILONS[column]:g}, 95 in 100 "
        f"exponential medians lie {f'within {rounded_up(near)} {unit} of' if near else 'in the cell of'} "
        f"the median. Clipped means lie within {rounded_up(mean)} {unit} of the mean.",
        table=table,
    )


def refusals_over_epsilon(*, comparison: Comparison, sides: EpsilonCurves, epsilon: float) -> Picture:
    """Return the picture of refusals of the stable median: exact, observed, and impossible."""
    return _over_epsilon(
        sides,
        Wall(
            x=CURVE,
            y=sides.lower_bound,
            end=0,
            label="impossible" if _room(sides.lower_bound) else "",
            corner="bottom left",
        ),
        y=Axis(title="runs without an answer (⊥)", low=-0.04, high=1.04, form="~p"),
        epsilon=epsilon,
        title="Refusals",
        names=("refused", "exact chance"),
        sentence=f"Only the stable median refuses. Here {plural(comparison.stable, 'row')} must change before its "
        f"answer does. It answers in 95 of 100 runs {_from(CURVE[sides.promise <= 0.05])}. Hatched: impossible "
        f"for mechanisms that are never wrong, with δ = {exactly(comparison.delta)}. The best possible one "
        f"would answer as often {_from(CURVE[sides.lower_bound <= 0.05])}.",
    )


def _from(losses: Floats) -> str:
    """Return the smallest ε of these in words."""
    return f"from ε = {significant(float(losses[0]))} on" if len(losses) else "at no ε shown"


def _room(wall: Floats) -> bool:
    """Return whether a label fits below the lower bound, in its corner."""
    return bool(wall[len(CURVE) // 8] > 0.2)


def ranks_over_epsilon(
    *, comparison: Comparison, sides: EpsilonCurves, promised: float, impossible: float, epsilon: float
) -> Picture:
    """Return the picture of rows between the exponential median and the true one: guaranteed, observed, impossible.

    Args:
        comparison: the previews.
        sides: the same over ε.
        promised: the guaranteed error at the ε of the grid nearest to the page's.
        impossible: the lower bound there.
        epsilon: the page's ε.
    """
    n, column = comparison.n, nearest(epsilon)
    floor = floor_below(
        sides.observed, sides.low, sides.high, sides.promise, sides.lower_bound, sides.hard, np.array([1 / n])
    )
    above = replace(
        sides,
        **{
            name: floor.over(getattr(sides, name))
            for name in ("observed", "low", "high", "promise", "lower_bound", "hard")
        },
    )
    top = float(max(each.max() for each in (above.promise, above.high, above.hard)))
    label = (
        "impossible (lower bound)" if _room(np.log(above.lower_bound / floor.zero) / np.log(top / floor.zero)) else ""
    )
    bound = (
        f". No mechanism that always answers can guarantee less than {percent_down(impossible)} on all data (hatched)"
    )
    one_data_set = (
        " Guarantees are for all data. On one data set the error may be smaller, so dots in the hatched "
        "region are no contradiction."
    )
    picture = _over_epsilon(
        above,
        Wall(x=CURVE, y=above.lower_bound, end=floor.zero, label=label, corner="bottom left"),
        y=floor.axis("rank error, share of n", high=top, form=".3~p", n=n),
        epsilon=epsilon,
        title="Rows between answer and median",
        names=("95 in 100 runs", "guaranteed"),
        sentence=f"Near ε = {EPSILONS[column]:g}, 95 in 100 exponential medians "
        f"{missed(float(sides.observed[column]), n)} (dots; bars: 95% interval). On the hardest known data "
        f"they {missed(float(sides.hard[column]), n)} (diamonds). Guaranteed: "
        f"{percent(promised)}{bound if impossible else ''}.{one_data_set if sides.lower_bound.any() else ''}",
        n=n,
        exact=sides,
    )
    if top <= 1:
        return picture
    vacuous = Region(role="vacuous", y=(1, top * AIR), label="no guarantee", corner="top right")
    return replace(picture, marks=[vacuous, *picture.marks])


def missed(off: float, n: int) -> str:
    """Return a distance from the median in words: as a share of the rows and as rows, or its own cell."""
    if off <= 0:
        return "fall in the median's own cell"
    count = f"{off * n:,.0f}" if off * n >= 10 else f"{off * n:.3g}"
    return f"have a rank error of up to {percent(off)} of the rows, {count} {'row' if count == '1' else 'rows'}"


def _over_epsilon(
    drawn: EpsilonCurves,
    wall: Wall,
    *,
    y: Axis,
    epsilon: float,
    title: str,
    names: tuple[str, str],
    sentence: str,
    n: int = 0,
    exact: EpsilonCurves | None = None,
) -> Picture:
    """Return the picture over ε: impossible, guaranteed, observed, and observed on hard data.

    Args:
        drawn: the numbers as they are drawn.
        wall: the impossible.
        y: the axis of shares.
        epsilon: the page's ε.
        title: the title of the picture.
        names: the names of the observed shares and of the guarantee.
        sentence: the sentence of the picture.
        n: the number of rows, to give shares in rows too; 0 for shares alone.
        exact: the numbers themselves, where 0 is drawn elsewhere.
    """
    numbers = exact or drawn

    def hover(name: str, values: Floats) -> list[str]:
        counted = [f" ({rows(value, n)})" if n else "" for value in values.tolist()]
        return [
            f"{name}, ε = {at:g}: {percent(value)}{count}"
            for at, value, count in zip(EPSILONS, values.tolist(), counted, strict=True)
        ]

    marks: list[Mark] = [
        wall,
        Curve(role="theory", name=names[1], x=CURVE, y=drawn.promise),
        _here(epsilon),
        Dots(
            role="released",
            name=names[0],
            x=EPSILONS,
            y=drawn.observed,
            low=drawn.low,
            high=drawn.high,
            hover=hover(names[0], numbers.observed),
        ),
    ]
    points = [int(np.argmin(np.abs(np.log(CURVE / at)))) for at in EPSILONS]
    table: dict[str, Sequence[Any]] = {
        "epsilon": list(EPSILONS),
        names[0]: short_numbers(numbers.observed),
        "from": short_numbers(numbers.low),
        "to (95% confidence)": short_numbers(numbers.high),
        f"{names[1]}, near": short_numbers(numbers.promise[points]),
        "impossible below, near": short_numbers(numbers.lower_bound[points]),
    }
    if len(numbers.hard):
        name = f"{names[0]}, hard data"
        marks.append(
            Dots(
                role="released",
                name="hard data",
                x=EPSILONS,
                y=drawn.hard,
                shape="diamond",
                hollow=[True] * len(EPSILONS),
                hover=hover(name, numbers.hard),
            )
        )
        table[name] = short_numbers(numbers.hard)
    return Picture(title=title, x=LOSSES, y=y, marks=marks, sentence=sentence, table=table)
