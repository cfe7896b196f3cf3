"""Over epsilon: errors of three mechanisms, refusals of the stable median, ranks of the exponential one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.core import Floats, exactly
from dpcore.mechanisms import entry
from dplab.salaries import CURVE, EPSILONS, KEYS, AgainstEpsilon, Comparison, nearest
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Region, Rule, Wall
from pages.charts.words import percent, rows, short_numbers, significant

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
"""How many times smaller than the smallest number 0 is drawn, where factors are equal."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The place of 0 on an axis of equal factors, below all other numbers."""

    zero: float

    def over(self, values: Floats) -> Floats:
        """Where values are drawn."""
        return np.maximum(values, self.zero)

    def axis(self, title: str, *, high: float, form: str = "", n: int = 0) -> Axis:
        """An axis that names it."""
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
    """A place for 0 below every other one of these."""
    seen = np.concatenate(values)
    return Floor(zero=float(seen[seen > 0].min(initial=1.0)) / ROOM)


def _here(epsilon: float) -> Rule:
    """Where the page's epsilon stands."""
    return Rule(role="ink", x=min(max(epsilon, EPSILONS[0]), EPSILONS[-1]), width=1.5)


def errors_over_epsilon(*, found: Comparison, epsilon: float) -> Picture:
    """How far 95 in 100 answers lie from the exact value, given an answer, over epsilon."""
    unit, losses = found.domain.unit, np.array(EPSILONS)
    answered = found.error[~np.isnan(found.error)]
    floor = floor_below(answered)
    marks: list[Mark] = []
    table: dict[str, Sequence[Any]] = {"epsilon": list(EPSILONS)}
    for place, (key, errors) in enumerate(zip(KEYS, found.error, strict=True)):
        name, role, known = entry(key).title, f"mechanism:{key}", ~np.isnan(errors)
        y = floor.over(errors[known])
        hover = [
            f"{name}, ε = {at:g}: 95% error {significant(error)} {unit}, simulated"
            for at, error in zip(losses[known].tolist(), errors[known].tolist(), strict=True)
        ]
        marks += [
            Curve(role=role, name=name, x=losses[known], y=y, width=2, legend=False),
            # Each smaller than the last: at 0 they are on the same spot.
            Dots(role=role, name=name, x=losses[known], y=y, size=14 - 3 * place, hover=hover),
        ]
        table[name] = short_numbers(errors)
    column = nearest(epsilon)
    near, mean = found.error[1:, column]
    return Picture(
        title="Error given an answer",
        x=LOSSES,
        y=floor.axis(f"95% error ({unit})", high=float(answered.max(initial=floor.zero))),
        marks=[*marks, _here(epsilon)],
        sentence=f"If the stable median answers, it is exact; near ε = {EPSILONS[column]:g}, 95 in 100 exponential "
        f"medians lie {f'within {near:.2g} {unit} of' if near else 'in the cell of'} the median, and clipped means "
        f"within {mean:.2g} {unit} of the mean.",
        table=table,
    )


def refusals_over_epsilon(*, found: Comparison, sides: AgainstEpsilon, epsilon: float) -> Picture:
    """The stable median's chance of a refusal: exact, observed, and the least anybody can have who is never wrong."""
    return _over_epsilon(
        sides,
        Wall(x=CURVE, y=sides.wall, end=0, label="impossible" if _room(sides.wall) else "", corner="bottom left"),
        y=Axis(title="runs without an answer", low=-0.04, high=1.04, form="~p"),
        epsilon=epsilon,
        title="Refusals",
        names=("refused", "exact chance"),
        sentence=f"Only the stable median refuses. Its stability is {found.stable:,} here: it answers in 95 of 100 "
        f"runs {_from(CURVE[sides.promise <= 0.05])}. Hatched is impossible for whoever never gives a wrong answer "
        f"with δ = {exactly(found.delta)}: the best that could be would do so {_from(CURVE[sides.wall <= 0.05])}.",
    )


def _from(losses: Floats) -> str:
    """From which loss on."""
    return f"from ε = {significant(float(losses[0]))} on" if len(losses) else "at no ε shown"


def _room(wall: Floats) -> bool:
    """Whether a word fits below the wall, in its corner."""
    return bool(wall[len(CURVE) // 8] > 0.2)


def ranks_over_epsilon(
    *, found: Comparison, sides: AgainstEpsilon, promised: float, impossible: float, epsilon: float
) -> Picture:
    """Rows between the exponential median and the true one: promised, observed, and what nobody can promise.

    Args:
        found: the previews.
        sides: the same over epsilon.
        promised: the promise at the loss nearest to epsilon.
        impossible: the wall there.
        epsilon: the page's.
    """
    n, column = found.n, nearest(epsilon)
    floor = floor_below(sides.seen, sides.low, sides.high, sides.promise, sides.wall, sides.hard, np.array([1 / n]))
    above = replace(
        sides,
        **{name: floor.over(getattr(sides, name)) for name in ("seen", "low", "high", "promise", "wall", "hard")},
    )
    top = float(max(each.max() for each in (above.promise, above.high, above.hard)))
    label = "impossible to promise" if _room(np.log(above.wall / floor.zero) / np.log(top / floor.zero)) else ""
    nobody = f"; nobody who always answers can promise less than {percent(impossible)} for all data (hatched)"
    alone = (
        " One data set may do better than anybody can promise for all: dots in the hatched part are no contradiction."
    )
    picture = _over_epsilon(
        above,
        Wall(x=CURVE, y=above.wall, end=floor.zero, label=label, corner="bottom left"),
        y=floor.axis("rows off, share of n", high=top, form=".3~p", n=n),
        epsilon=epsilon,
        title="Rows between answer and median",
        names=("95 in 100 runs", "promised"),
        sentence=f"Near ε = {EPSILONS[column]:g}, 95 in 100 exponential medians "
        f"{missed(float(sides.seen[column]), n)} (dots; strokes: 95% interval). On the hardest data known they "
        f"{missed(float(sides.hard[column]), n)} (diamonds). Promised: {percent(promised)}"
        f"{nobody if impossible else ''}.{alone if sides.wall.any() else ''}",
        n=n,
        exact=sides,
    )
    if top <= 1:
        return picture
    vacuous = Region(role="vacuous", y=(1, top * AIR), label="vacuous", corner="top right")
    return replace(picture, marks=[vacuous, *picture.marks])


def missed(off: float, n: int) -> str:
    """How far answers lie from the median, as a share and as rows; none in between is its own cell."""
    if off <= 0:
        return "fall in the median's own cell"
    count = f"{off * n:,.0f}" if off * n >= 10 else f"{off * n:.3g}"
    return f"miss by up to {percent(off)} of the rows, {count} {'row' if count == '1' else 'rows'}"


def _over_epsilon(
    drawn: AgainstEpsilon,
    wall: Wall,
    *,
    y: Axis,
    epsilon: float,
    title: str,
    names: tuple[str, str],
    sentence: str,
    n: int = 0,
    exact: AgainstEpsilon | None = None,
) -> Picture:
    """What is impossible, the promise, what was seen and what happens on hard data, and the page's epsilon.

    Args:
        drawn: the numbers where they are drawn.
        wall: what is impossible.
        y: of shares.
        epsilon: the page's.
        title: of the picture.
        names: of what was seen, and of the promise.
        sentence: what the picture says.
        n: to tell shares in rows too; 0: not.
        exact: the numbers as they are, where 0 is drawn elsewhere.
    """
    told = exact or drawn

    def said(name: str, values: Floats) -> list[str]:
        """What dots say when pointed at."""
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
            y=drawn.seen,
            low=drawn.low,
            high=drawn.high,
            hover=said(names[0], told.seen),
        ),
    ]
    points = [int(np.argmin(np.abs(np.log(CURVE / at)))) for at in EPSILONS]
    table: dict[str, Sequence[Any]] = {
        "epsilon": list(EPSILONS),
        names[0]: short_numbers(told.seen),
        "from": short_numbers(told.low),
        "to (95% confidence)": short_numbers(told.high),
        f"{names[1]}, near": short_numbers(told.promise[points]),
        "impossible below, near": short_numbers(told.wall[points]),
    }
    if len(told.hard):
        name = f"{names[0]}, hard data"
        marks.append(
            Dots(
                role="released",
                name="hard data",
                x=EPSILONS,
                y=drawn.hard,
                shape="diamond",
                hollow=[True] * len(EPSILONS),
                hover=said(name, told.hard),
            )
        )
        table[name] = short_numbers(told.hard)
    return Picture(title=title, x=LOSSES, y=y, marks=marks, sentence=sentence, table=table)
