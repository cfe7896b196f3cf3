"""Statistics by group in words: their titles, their predicted margins, and targets in their own unit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dprelease.ledger.units import Price
from dprelease.plan.compare import OtherNoise
from dprelease.plan.errors import Prediction
from dprelease.plan.groups import MEAN, PEOPLE, QUANTILES, RATIO, SHARE, SLOPE, SPREAD, SUM
from dprelease.plan.margins import Margin
from dprelease.plan.planned_question import PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.plan.titles import following_titles
from pages.charts.words import confidence
from pages.shell.expected_error import amount_of, noun_of

USUAL_SHARE = 0.05
"""Share of the range to which the people that a group needs refer, where no target is set."""
COUNT_SHARE = 0.1
"""Share of a count that its ± may be, for the smallest count that a statistic serves."""
SCALES = {
    PEOPLE: "n",
    SHARE: "the group",
    SUM: "the largest sum",
    MEAN: "the range",
    SPREAD: "the range",
    RATIO: "the middle ratio",
    SLOPE: "the ratio of the ranges",
    QUANTILES: "the group",
}
"""What a margin's share is of, by statistic."""
ASSUMED = {
    SPREAD: " It is the margin of the mean.",
    RATIO: " Assumed: both means lie in the middle of their ranges.",
    SLOPE: " Assumed: the second number's standard deviation is an eighth of its range.",
}
NO_MARGIN = "No margin of this ratio can be predicted: the middle of its divisor's range is 0."
TARGET = re.compile(r"(?:±\s*)?(\d+(?:[.,]\d+)?|[.,]\d+)\s*(%?)\s*(.*)")


def margin_sentence(plan: Plan, question: PlannedQuestion, margin: Margin | None) -> str:
    """Return the predicted margin of a group and the people that a group needs."""
    if margin is None:
        return NO_MARGIN
    noun, level = noun_of(plan.table), f"{confidence(plan.beta)} confidence"
    if not margin.share < 1:  # as wide as all possible values: the first order says nothing more
        return f"At this ε, noise hides a group of {margin.people:,} {noun}."
    wide = f"± {amount_of(margin, margin.share, question.statistic, noun=noun)}"
    if not margin.falls:
        return f"{wide}{' per group' * bool(question.by)}, with {level}."
    size, assumed = f"{margin.people:,} {noun}", ASSUMED.get(question.statistic, "")
    if not question.by:
        return f"{wide} for {size}, with {level}.{assumed}"
    text = f"{wide} per group of {size}, with {level}."
    if not question.min_rows:
        text = f"{wide} if all groups have {size}, with {level}."
    share = USUAL_SHARE if question.target is None else question.target
    needed = margin.people_needed(share)
    if needed is not None:
        aim = amount_of(margin, share, question.statistic, noun=noun)
        text += f" For ± {aim} a group needs {needed:,} {noun}."
    return text + assumed


def noise_sentence(other: OtherNoise, price: Price) -> str:
    """Return how much smaller other noise makes the margins of statistics by group, at the price of the plan."""
    text = (
        f"At the same {price.measure.letter}, {other.name} noise makes each ± by group at least "
        f"{_smaller(other.margins)}, and of all rows together {_smaller(other.totals)}."
    )
    if other.price.delta > price.delta:
        text += f" Its δ is {other.price.delta_words}."
    return text


def _smaller(ratio: float) -> str:
    """Return a ratio of margins in words: "22% smaller", "1.3 times as large".

    >>> _smaller(0.775), _smaller(1.278), _smaller(0.999)
    ('22% smaller', '1.3 times as large', 'as large')
    """
    if ratio > 1.005:
        return f"{ratio:.2g} times as large"
    percent = math.floor(100 * (1 - ratio))
    return f"{percent}% smaller" if percent else "as large"


def following_sentences(plan: Plan, question: PlannedQuestion, margins: Sequence[Margin]) -> str:
    """Return the predicted margins of the other statistics of the same counters, one sentence each."""
    noun = noun_of(plan.table)
    wide = [amount_of(each, each.share, key, noun=noun) for key, each in zip(question.also, margins, strict=True)]
    titles = following_titles(plan.table, question)
    return "".join(
        f" {title}, from the same draw: ± {each}{' per group' * bool(question.by)}."
        for title, each in zip(titles, wide, strict=True)
    )


def smallest_group(plan: Plan, question: PlannedQuestion, prediction: Prediction) -> str:
    """Return the smallest group that a statistic serves: "120 people"; a dash where it has none."""
    margin, noun = prediction.margin, noun_of(plan.table)
    needed: int | None = None
    if margin and margin.falls and question.by and math.isfinite(margin.share):
        needed = margin.people_needed(USUAL_SHARE if question.target is None else question.target)
    elif question.statistic in ("", PEOPLE) and not question.quantity and prediction.single < 1:
        needed = math.ceil(prediction.single * plan.n / COUNT_SHARE * (1 - 1e-12))
    return "–" if needed is None else f"{needed:,} {noun}"


def read_margin(text: str, margin: Margin) -> float | None:
    """Return a typed margin as a share of the margin's scale, above 0 and below 1; None for any other text.

    >>> hours = Margin(half_width=2.0, scale=80.0, people=300, falls=True, unit="h")
    >>> read_margin("1.2 h", hours), read_margin("± 4", hours), read_margin("1%", hours), read_margin("9 kg", hours)
    (0.015, 0.05, 0.01, None)
    """
    match = TARGET.fullmatch(text.strip())
    if not match or match[3] not in ("", margin.unit, "people") or (match[2] and match[3]):
        return None
    number = float(match[1].replace(",", "."))
    share = number / 100 if match[2] else number / margin.scale
    return share if 0 < share < 1 else None


def target_text(question: PlannedQuestion, margin: Margin | None) -> str:
    """Return the target of a statistic by group as it is typed: in its own unit, a share as a percentage."""
    if question.target is None:
        return ""
    if margin is None or question.statistic in (SHARE, QUANTILES):
        return f"{100 * question.target:.3g}%"
    return f"{question.target * margin.scale:.6g}"


def of_scale(question: PlannedQuestion) -> str:
    """Return what the errors of a statistic by group are shares of."""
    return f"of {SCALES[question.statistic]}"


def wide_margins(plan: Plan, predictions: Sequence[Prediction]) -> list[int]:
    """Return the indices of the statistics by group whose predicted margin is above their target."""
    return [
        place
        for place, (question, prediction) in enumerate(zip(plan.questions, predictions, strict=True))
        if question.statistic
        and question.target is not None
        and not math.isnan(prediction.promised)  # computed
        and (prediction.margin is None or prediction.margin.share > question.target * (1 + 1e-9))
    ]
