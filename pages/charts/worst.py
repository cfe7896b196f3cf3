"""The possible/impossible map: what is impossible, observed, promised and vacuous, on one axis; for every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Bound, BoundKind, Floats, Guarantee, describe_error
from dpcore.limits.chance import binomial_interval
from dplab.measure import ErrorReport
from dplab.printed.table_one import MethodErrors
from pages.charts.picture import Axis, Dots, Mark, Picture, Region, Rule, Words, empty_picture
from pages.charts.words import percent, percent_down, percent_up, rows, short_numbers, significant

TITLE = "Worst error: guaranteed and observed"
HEADROOM = 1.7
"""Height of the picture, in tallest stacks."""
BELOW_WORDS = 0.85
"""How far up the promise is drawn: above it stands how many releases err, and no word crosses a line."""
DOTS = 50
"""Each stands for two releases in a hundred (a quantile dot plot, Kay et al. 2016)."""
COLUMNS = 44
"""Dots that fit side by side; the dots' size follows from it."""
INSIDE, WIDE = 205, 445
"""Usual pixels inside the axes: dots on a narrower screen overlap before they vanish."""

_NO_GUARANTEE = Words(role="vacuous", text="no guarantee", x=1, y=0.6, inside=True, turned=True, shift=(-8, 0))
"""Of errors of 100% and more."""


@dataclass(frozen=True, kw_only=True)
class TrialNouns:
    """Nouns with which a page describes its errors.

    Attributes:
        run: one of the trials: a release, a conversation.
        query: one of the answers whose worst is drawn.
        over: which answers these are.
    """

    run: str = "release"
    query: str = "query"
    over: str = "all queries"


def worst_error(*, report: ErrorReport, lower: Bound | None, span: Span | None = None) -> Picture:
    """The map of releases of a table, from their report."""
    return worst_map(
        worst=report.worst,
        n=report.problem.n,
        guarantee=report.guarantee,
        promised=report.bound,
        lower=lower,
        span=span,
    )


def shared_span(parts: Sequence[tuple[ErrorReport, Bound | None]]) -> Span:
    """Return the axis on which the errors and bounds of several reports lie, for maps side by side."""
    answered = np.concatenate([report.answered for report, _ in parts])
    return span_for(answered, [each for report, lower in parts for each in _bounds(report.bound, lower) if each])


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
    """Return a percentage of releases, as a whole number unless it is less than one."""
    return significant(share) if share < 1 else f"{share:.0f}"


def _exceedance_label(answered: Floats) -> str:
    """Return how many err by how much in the few letters that a narrow picture has room for."""
    level, beyond = typical_failure(answered)
    alike, value = _failures(answered, level)
    return f"≈ {_in_100(beyond)} in 100: error {'' if alike else '> '}{percent(value)}"


def _failures(answered: Floats, level: float) -> tuple[bool, float]:
    """Return whether all errors above the level are one and the same, and that one; else the level."""
    above = answered[answered > level]
    alike = len(above) > 1 and bool((above == above[0]).all())
    return alike, float(above[0]) if alike else level


def _exceedance_sentence(answered: Floats, *, run: str, on: str, n: int) -> str:
    """Return the sentence on how many runs exceed the usual error; empty if all errors are equal."""
    level, beyond = typical_failure(answered)
    if not beyond:
        return ""
    alike, value = _failures(answered, level)
    size = f"{percent(value)} ({rows(value, n)})"
    return f"about {_in_100(beyond)} in 100{run} have an error {'of ' if alike else 'above '}{size}{on}" + (
        ", none by more" if alike else ""
    )


def worst_map(
    *,
    worst: Floats,
    n: int,
    guarantee: Guarantee,
    promised: Bound,
    lower: Bound | None,
    nouns: TrialNouns = TrialNouns(),
    span: Span | None = None,
) -> Picture:
    """Return observed errors as dots, with their upper bound and the lower bound for all mechanisms.

    Args:
        worst: largest error of each run (T,), as fractions of n; NaN where it refused to answer.
        n: rows.
        guarantee: of each run.
        promised: the promised worst error.
        lower: an error that no mechanism can guarantee to stay below; None if no theorem applies.
        nouns: what the page calls all this.
        span: of the axis, if it is shared with another map.
    """
    answered = worst[~np.isnan(worst)]
    if not len(answered):
        return empty_picture(title=TITLE, sentence=f"Every previewed {nouns.run} gave no answer (⊥).")
    value, wall = _bounds(promised, lower)
    span = span or span_for(answered, [each for each in (value, wall) if each])
    level, beyond = typical_failure(answered)
    stacks = stack_dots(answered, span, threshold=level)
    top = HEADROOM * max(stacks.tallest, 10)  # the upper third is for words
    refused = len(worst) - len(answered)
    marks: list[Mark] = []
    if span.right > 1:
        marks += [
            Region(role="vacuous", x=(1.0, span.right)),
            *([] if value >= 1 else [_NO_GUARANTEE]),  # else the bound's line is called so
        ]
    marks += _impossible(wall, span, top)
    dots = Dots(
        role="released",
        name=f"worst error of 2 in 100 {nouns.run}s",
        legend=False,
        x=stacks.x,
        y=stacks.y,
        shape="circle",
        size=float(np.clip(0.94 * INSIDE / top, 5, 0.94 * WIDE / COLUMNS)),
        hollow=stacks.beyond.tolist(),
        hover=[f"worst error {percent(float(error))} ({rows(float(error), n)})" for error in stacks.error],
    )
    marks.append(dots)
    if value:
        marks.append(_promise(promised, on_the_left=_share_along(span, value) > 0.55))
    if beyond:
        text = f"○ {_exceedance_label(answered)}"
        marks.append(Words(role="released", text=text, x=1, y=1, inside=True, align="right", shift=(-2, -8), size=13))
    if refused:
        text = f"⊥ {refused:,} of {len(worst):,} gave no answer"
        marks.append(Words(role="ink", text=text, x=0, y=1, inside=True, align="left", shift=(4, -8)))
    sentence = _outcome_sentence(guarantee, answered, n=n, refused=refused, nouns=nouns)
    if wall > 0:
        sentence += f". No mechanism can guarantee less than {percent_down(wall)}"
        if np.quantile(answered, 1 - promised.beta) < wall:
            sentence += " on all data; on one data set the error may be smaller, as here"
    title = f"worst error over {nouns.over}, share of n{' (log)' if span.log else ''}"
    return Picture(
        title=TITLE,
        x=Axis(title=title, log=span.log, low=span.left, high=span.right, form=".3~p", rows=n),
        y=Axis(low=0, high=top, shown=False),
        marks=marks,
        sentence=_with_promise(sentence, promised, answered, n=n),
        # Within, the words would cross the promise or the dots on some data.
        caption=f"A dot: 2 in 100 {nouns.run}s.",
        table={f"{nouns.run}s out of 100": [100 / DOTS] * DOTS, "worst error": short_numbers(stacks.error)},
        height=315,
    )


def _bounds(promised: Bound, lower: Bound | None) -> tuple[float, float]:
    """Return the promised error and the lower bound; 0 for one that is none."""
    wall = lower.value if lower is not None and lower.applies else 0.0
    return (promised.value if 0 < promised.value < np.inf else 0.0), wall


def _share_along(span: Span, value: float) -> float:
    """Return the position of a value along the picture, from 0 to 1."""
    return float(span.along(np.array([value]))[0])


def _impossible(wall: float, span: Span, top: float) -> list[Mark]:
    """Return the region below the lower bound: hatched, with its edge and its label."""
    if wall <= 0:
        return []
    edge = min(wall, span.right)
    inside = _share_along(span, wall) > 0.6
    label = f"{'' if inside else '← '}impossible below {percent_down(wall)}"
    hatched = Region(role="impossible", x=(span.left, edge), y=(0, top))
    return [
        hatched,
        Rule(role="impossible", x=edge, label=label, side="left" if inside else "right", line=2, reach=BELOW_WORDS),
    ]


def _promise(promised: Bound, *, on_the_left: bool) -> Rule:
    """Return the promised error: solid where it is a guarantee, dashed where it is not, or exceeds 100%."""
    only_order = promised.kind is BoundKind.ORDER_ONLY
    sure = promised.applies and not only_order
    name = "guaranteed" if sure else "order only" if only_order else "would be guaranteed"
    if promised.vacuous:  # a number beyond 100% would read as a promise
        name, sure = "no guarantee", False
    return Rule(
        role="theory",
        name=name,
        x=promised.value,
        label=name if promised.vacuous else f"{name} {percent_up(promised.value)}",
        width=3,
        dash="solid" if sure else "dash",
        side="left" if on_the_left else "right",
        line=1,
        reach=BELOW_WORDS,
    )


def _outcome_sentence(guarantee: Guarantee, answered: Floats, *, n: int, refused: int, nouns: TrialNouns) -> str:
    """Return the observed errors and refusals as a sentence."""
    text = _exceedance_sentence(answered, run=f" {nouns.run}s", on=f" on their worst {nouns.query}", n=n)
    if not text:
        alike = float(answered[0])
        text = f"every {nouns.run} has an error of {percent(alike)} ({rows(alike, n)}) on its worst {nouns.query}"
    text = f"{guarantee.sentence()}: {text}"
    if refused:
        text += f"; {refused:,} of {len(answered) + refused:,} gave no answer (⊥) and are not counted"
    return text


def _with_promise(text: str, promised: Bound, answered: Floats, *, n: int) -> str:
    """Return a sentence followed by how often the bound was exceeded."""
    if promised.vacuous:
        sentence = describe_error(promised, n=n)
        return f"{text}; {sentence[0].lower()}{sentence[1:]}"
    broken = promised.broken_by(answered)
    low, high = binomial_interval(broken, len(answered))
    condition = "The guaranteed error" if promised.applies else "The error to be guaranteed if all assumptions were met"
    if promised.kind is BoundKind.ORDER_ONLY:
        condition = "The theorem's order of magnitude"
    return (
        f"{text}. {condition}, {percent_up(promised.value)}, was exceeded in {broken:,} of "
        f"{len(answered):,}. With 95% confidence that is {percent(float(low))} to {percent(float(high))}; "
        f"β = {percent(promised.beta)} is allowed."
    )


@dataclass(frozen=True, kw_only=True)
class Span:
    """The horizontal axis of one picture: from left to right, equal steps or equal factors."""

    left: float
    right: float
    log: bool

    def along(self, values: Floats) -> Floats:
        """Return the positions of values along the axis, from 0 to 1."""
        if self.log:
            share: Floats = np.log(values / self.left) / np.log(self.right / self.left)
        else:
            share = (values - self.left) / (self.right - self.left)
        return share

    def value(self, share: Floats) -> Floats:
        """The inverse of along()."""
        if self.log:
            value: Floats = self.left * (self.right / self.left) ** share
        else:
            value = self.left + share * (self.right - self.left)
        return value


def span_for(answered: Floats, marks: list[float]) -> Span:
    """An axis that holds the observed errors and every mark.

    Equal factors where equal steps would press the dots together: a promise can be a hundred times what happens.
    """
    extremes = [float(answered.min()), float(answered.max())] if len(answered) else []
    positive = [value for value in [*extremes, *marks] if value > 0]
    if not positive:
        return Span(left=0.0, right=1.0, log=False)
    if extremes and extremes[0] > 0 and max(positive) > 4 * extremes[1]:
        return Span(left=min(positive) / 1.5, right=max(positive) * 2, log=True)
    return Span(left=0.0, right=max(positive) * 1.1, log=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Stacks:
    """Fifty dots stacked where they would overlap, shapes (50,): places, heights, what each stands for."""

    x: Floats
    y: Floats
    error: Floats
    beyond: Booleans
    tallest: int


def stack_dots(answered: Floats, span: Span, *, threshold: float) -> Stacks:
    """Quantiles stacked where they would overlap (Wilkinson 1999); a dot knows whether it is beyond the threshold."""
    quantiles = np.quantile(answered, (np.arange(DOTS) + 0.5) / DOTS)
    places = span.along(quantiles)
    x, y = np.empty(DOTS), np.empty(DOTS)
    tallest = start = 0
    while start < DOTS:
        stop = max(start + 1, int(np.searchsorted(places, places[start] + 1 / COLUMNS, side="left")))
        x[start:stop] = span.value(places[start:stop].mean())
        y[start:stop] = np.arange(stop - start) + 0.5
        tallest, start = max(tallest, stop - start), stop
    return Stacks(x=x, y=y, error=quantiles, beyond=quantiles > threshold, tallest=tallest)


def method_errors(runs: Sequence[MethodErrors], *, about: str, n: int) -> Picture:
    """Return the worst errors of several methods on the same rows, with the guaranteed ones.

    Args:
        runs: their errors.
        about: the queries in words.
        n: rows.
    """
    places = np.arange(len(runs))[::-1]
    means, low, high = (np.array([of(each.worst) for each in runs]) for of in (np.mean, np.min, np.max))
    proved = np.array([each.guaranteed for each in runs])
    floor = 0.5 / n
    told = proved < 1
    least = runs[int(means.argmin())]
    return Picture(
        title="Worst error of each method",
        x=Axis(title="worst error, share of n", log=True, low=max(floor, float(low.min()) / 1.5), high=1.2, form="~p"),
        y=Axis(labels=tuple(each.title for each in reversed(runs)), grid=True),
        marks=[
            Dots(
                role="released",
                name="observed, mean and range of releases",
                x=np.maximum(means, floor),
                y=places,
                low=np.maximum(low, floor),
                high=np.maximum(high, floor),
                across=True,
                hover=[
                    f"{each.title}, {each.setting}: {percent(float(mean))} ({rows(float(mean), n)})"
                    for each, mean in zip(runs, means, strict=True)
                ],
            ),
            Dots(role="theory", name="guaranteed, if below 100%", x=proved[told], y=places[told], shape="diamond-open"),
        ],
        sentence=f"Of {len(runs)} methods, {least.title} has the smallest worst error over {about}: "
        f"{percent(float(means.min()))} of n, on average over {len(least.worst)} releases.",
        table={
            "method": [each.title for each in runs],
            "settings": [each.setting for each in runs],
            "worst error": short_numbers(means),
            "mean error": short_numbers([float(each.mean.mean()) for each in runs]),
            "guaranteed worst error": [percent_up(each) if each < 1 else "none" for each in proved.tolist()],
            "synthetic rows": ["yes" if each.synthetic else "no" for each in runs],
        },
        height=290,
    )
