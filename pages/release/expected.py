"""The error that a plan shows for a statistic beside the interval of its release: same statistic, level and unit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dpcore.core import DataError, ParameterError
from dpcore.queries.ranges import Intervals, Rectangles, Thresholds
from dprelease.downloads.statistics import ReleasedStatistic
from dprelease.plan.errors import Prediction, Predictions, known_predictions, predict
from dprelease.plan.questions import Plan
from dprelease.plan.released_part import plan_of_part
from dprelease.requests.parts import Request, RequestPart
from pages.charts.words import significant
from pages.shell.expected_error import noun_of, single_error
from pages.shell.tasks.jobs import begin, in_background
from pages.shell.tasks.memory import remember

ONE_OF = {Intervals.key: " for a range", Thresholds.key: " for a threshold", Rectangles.key: " for a rectangle"}
"""What the expected error of a plan is of, where its queries are not the cells that a file lists."""


def begin_errors(
    request: Request, part: RequestPart, statistic: ReleasedStatistic, *, key: str, mock: bool = False
) -> Callable[[], str]:
    """Begin to predict the expected error, and return what waits for it.

    That returns the expected error and that of the release as sentences; empty where either is unknown. Several that
    are begun before the first is waited for take the time of one.

    Args:
        request: the request.
        part: one of its parts.
        statistic: of this part, as it was released.
        key: makes the place of the computation on the page unique.
        mock: whether it is of a test run.
    """
    plan = plan_of_part(request, part, name=statistic.name) if statistic.half_widths.size else None
    if plan is None:
        return lambda: ""
    known: Predictions = remember("predicted", dict)
    job, work, place = f"expected|{plan.text.decode()}", partial(predict, plan, known=known), f"expected-{key}"
    begin(job, work, place=place)

    def finish() -> str:
        try:
            [prediction] = in_background(
                job, work, so_far=lambda: known_predictions(plan, known=known), label="Predicting the error.",
                place=place,
            )  # fmt: skip
        except (DataError, ParameterError):  # of mock data with too many rows
            return ""
        return _sentence(plan, part, prediction, statistic, mock=mock)

    return finish


def _sentence(
    plan: Plan, part: RequestPart, prediction: Prediction, statistic: ReleasedStatistic, *, mock: bool
) -> str:
    """Return both errors as sentences; empty while the expected one is not known."""
    half_widths, expected = statistic.half_widths, single_error(plan, plan.questions[0], prediction)
    if expected == "…":
        return ""
    low, high = (significant(float(each)) for each in (half_widths.min(), half_widths.max()))
    unit = noun_of(plan.table) if statistic.whole else statistic.unit
    unit = unit if unit == "%" else f" {unit}" * bool(unit)
    released = f"± {low}{unit}" if low == high else f"± {low} to {high}{unit}"
    of_what, each = _of_what(part, prediction, noun_of(plan.table)), " each" * (len(half_widths) > 1)
    here = "Test run" if mock else "Released"
    return f"Expected: {expected}{of_what}. {here}: {released}{each}. Both with {100 * statistic.level:g}% confidence."


def _of_what(part: RequestPart, prediction: Prediction, noun: str) -> str:
    """Return what the expected error is of: a group of some size, or a query that is not a cell."""
    if prediction.margin and prediction.margin.falls:
        return f" for {prediction.margin.people:,} {noun}"
    return ONE_OF.get(part.queries.key, "")
