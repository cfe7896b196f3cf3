"""The possible/impossible map: what is impossible, observed, promised and vacuous, on one axis; for every page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Bound, BoundKind, Floats, Guarantee
from dpcore.experiment import ErrorReport
from dpcore.figures.dotplot import DOTS, axis_for, dots, hatching
from dpcore.figures.errors import nothing
from dpcore.figures.figure import Figure, Records, framed, palette, percent, rows, shortened, significant
from dpcore.figures.worst_body import worst_body
from dpcore.limits.chance import binomial_interval

TITLE = "Worst error, promised and observed"


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a page calls the things that err.

    Attributes:
        run: one of the trials: a release, a conversation.
        query: one of the answers whose worst is drawn.
        over: which answers these are.
    """

    run: str = "release"
    query: str = "query"
    over: str = "all queries"


def worst_error(*, report: ErrorReport, bound_lower: Bound | None, badge: str, dark: bool) -> Figure:
    """The map of releases of a table, from their report."""
    return worst_map(
        worst=report.worst, n=report.problem.n, guarantee=report.guarantee, promised=report.bound, lower=bound_lower,
        badge=badge, dark=dark,
    )  # fmt: skip


def typical_failure(answered: Floats) -> tuple[float, float]:
    """An error that about 16 in 100 releases exceed, and how many in 100 do.

    Sixteen is one side of a normal curve beyond one standard deviation. Where too many releases are equal, the
    largest error that some exceed; where all are, the error and 0.
    """
    ordered = np.sort(answered)
    level = float(ordered[len(ordered) - 1 - round(0.16 * len(ordered))])
    smaller = ordered[ordered < ordered[-1]]
    if len(smaller) and level == ordered[-1]:
        level = float(smaller[-1])
    return level, 100 * float((answered > level).mean())


def _in_100(share: float) -> str:
    """A percentage of releases: a whole number, unless it is less than one."""
    return significant(share) if share < 1 else f"{share:.0f}"


def _said(answered: Floats, *, run: str = "", on: str = "", n: int = 0) -> str:
    """How many err by how much; where all beyond the level err alike, by exactly that. Empty where all releases do."""
    level, beyond = typical_failure(answered)
    if not beyond:
        return ""
    above = answered[answered > level]
    alike = len(above) > 1 and bool((above == above[0]).all())
    value = float(above[0]) if alike else level
    size = f"{percent(value)} ({rows(value, n)})" if n else percent(value)
    return f"about {_in_100(beyond)} in 100{run} err by {'' if alike else 'more than '}{size}{on}" + (
        ", none by more" if alike else ""
    )


def worst_map(
    *,
    worst: Floats,
    n: int,
    guarantee: Guarantee,
    promised: Bound,
    lower: Bound | None,
    badge: str,
    dark: bool,
    words: Words = Words(),
) -> Figure:
    """Observed errors as dots, what was promised of them, what nobody can promise, and where a promise says nothing.

    Args:
        worst: largest error of each run (T,), as fractions of n; NaN where it refused to answer.
        n: rows.
        guarantee: of each run.
        promised: the promised worst error.
        lower: an error nobody can promise to stay below, None where no theorem speaks.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
        words: what the page calls all this.
    """
    answered = worst[~np.isnan(worst)]
    if not len(answered):
        return nothing(badge=badge, dark=dark, title=TITLE, said=f"Every previewed {words.run} refused to answer.")
    colours = palette(dark=dark)
    wall = lower.value if lower is not None and lower.applies else 0.0
    marks = [promised.value] if 0 < promised.value < np.inf else []
    axis = axis_for(answered, [*marks, wall])
    level, beyond = typical_failure(answered)
    values, tallest = dots(answered, axis, threshold=level)
    edge = float(axis.along(np.array([wall]))[0]) if wall > 0 else 0.0
    # The upper third is for words.
    top = 1.7 * max(tallest, 10)
    sure = promised.kind is not BoundKind.ORDER_ONLY and promised.applies
    name = "promised" if sure else "order only" if promised.kind is BoundKind.ORDER_ONLY else "would be promised"
    refused = len(worst) - len(answered)
    datasets: dict[str, Records] = {
        "dots": values,
        # A sliver of hatching would look like broken ticks.
        "hatches": hatching(axis, until=wall, top=top) if edge > 0.01 else [],
        "impossible": [
            {"x": axis.left, "x2": min(wall, axis.right), "inside": edge > 0.6,
             "label": f"{'' if edge > 0.6 else '← '}impossible below {percent(wall)}"}
        ] if wall > 0 else [],
        "vacuous": [{"x": 1.0, "x2": axis.right}] if axis.right > 1 else [],
        "promise": [
            {"x": value, "label": f"{name} {percent(value)}", "sure": sure,
             "right": bool(axis.along(np.array([value]))[0] < 0.45)}
            for value in marks
        ],
        "typical": [{"text": f"○ {_said(answered)}"}] if beyond else [],
        "refused": [{"text": f"⊥ {refused:,} of {len(worst):,} refused"}] if refused else [],
        "reach": [{"x": axis.left, "y": 0.0}, {"x": axis.right, "y": top}],
    }  # fmt: skip
    body = worst_body(colours, n=n, log=axis.log, run=words.run, over=words.over)
    said = _observed(guarantee, answered, n=n, refused=refused, words=words)
    if wall > 0:
        said += f"; no mechanism can promise less than {percent(wall)}"
        if answered.min() < wall:
            said += " for all data, though one data set may do better, as here"
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=315, datasets=datasets),
        sentence=_beside(said, promised, answered),
        table={f"{words.run}s out of 100": [100 / DOTS] * DOTS, "worst error": [value["error"] for value in values],
               "rows": shortened([value["error"] * n for value in values])},
        title=TITLE,
    )  # fmt: skip


def _observed(guarantee: Guarantee, answered: Floats, *, n: int, refused: int, words: Words) -> str:
    """What happened, and how often there was no answer."""
    text = _said(answered, run=f" {words.run}s", on=f" on their worst {words.query}", n=n)
    if not text:
        alike = float(answered[0])
        text = f"every {words.run} errs by {percent(alike)} ({rows(alike, n)}) on its worst {words.query}"
    text = f"{guarantee.sentence()}: {text}"
    if refused:
        text += f"; {refused:,} of {len(answered) + refused:,} refused to answer and are not counted"
    return text


def _beside(text: str, promised: Bound, answered: Floats) -> str:
    """What happened, and then how often the promise was broken."""
    if not promised.value < np.inf:
        return f"{text}; the theorem gives an order of size, no number."
    if promised.vacuous:
        needed = "" if promised.rows_needed is None else f": it would need n of at least {promised.rows_needed:,}"
        return f"{text}; the promise, {percent(promised.value)}, is vacuous here{needed}."
    broken = promised.broken_by(answered)
    low, high = binomial_interval(broken, len(answered))
    condition = "the promise" if promised.applies else "what would be promised if every assumption held"
    if promised.kind is BoundKind.ORDER_ONLY:
        condition = "the theorem's order of size"
    return (
        f"{text}; {condition}, {percent(promised.value)}, was exceeded in {broken:,} of {len(answered):,} "
        f"({percent(float(low))} to {percent(float(high))} with 95% confidence; allowed {percent(promised.beta)})."
    )
