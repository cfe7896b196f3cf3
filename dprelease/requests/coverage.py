"""Coverage of a statistic: its bounds, its treatment of missing values, and the number of rows."""

from __future__ import annotations

from dpcore.core import Domain, Mechanism, Neighbours, Problem, exactly
from dpcore.data.columns import Number, is_labels, is_number
from dpcore.data.dates import is_ages, is_dates
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from dpcore.mechanisms.robust.counted_mean import CountedMean


def coverage(mechanism: Mechanism, problem: Problem) -> str:
    """Return sentences on the bounds, missing values and rows of a released value; empty for other releases.

    >>> from dpcore.queries.ranges import Thresholds
    >>> ages = Number(high=80, bins=80, missing=True)
    >>> problem = Problem(domain=ages, queries=Thresholds(domain=ages), n=200, neighbours=Neighbours.ADD_REMOVE_ONE)
    >>> coverage(CountedMean(epsilon=1.0), problem).partition(". ")[2]
    'The number of rows with a value is released with the mean.'
    """
    if mechanism.releases != "value":
        return ""
    return f"{_values(problem.domain)} {_rows(mechanism, problem)}"


def _values(domain: Domain) -> str:
    """Return the sentence on bounds and missing values."""
    if is_labels(domain) and not domain.missing:
        return f"Another label, or none, counts as “{domain.labels[0]}”."
    if not is_number(domain):
        return "Rows with another label, or none, are left out."
    noun, (low, high) = ("Dates" if is_dates(domain) else "Numbers"), bounds(domain)
    one = noun.lower().removesuffix("s")
    if is_ages(domain):
        noun, one = f"Ages on {domain.day}", "date of birth"
    if not domain.clamp:
        return f"{noun} outside {low} to {high} count as missing; rows without a {one} are left out."
    left_out = f"rows without a {one} are left out" if domain.missing else f"a missing {one} counts as {low}"
    return f"{noun} are clipped to {low} and {high}; {left_out}."


def bounds(line: Number) -> tuple[str, str]:
    """Return the declared bounds as text."""
    if is_dates(line):
        return line.first, line.last
    unit = f" {line.unit}" if line.unit else ""
    low, high = line.bounds
    return exactly(low) + unit, exactly(high) + unit


def _rows(mechanism: Mechanism, problem: Problem) -> str:
    """Return the sentence on the number of rows."""
    if isinstance(mechanism, CountedMean):
        return "The number of rows with a value is released with the mean."
    if problem.neighbours is not Neighbours.REPLACE_ONE:
        return f"The number of rows used is private. n = {problem.n:,} is a declared round number."
    if isinstance(mechanism, ClippedMean) or not problem.domain.missing:
        return f"All n = {problem.n:,} rows are used; n is public."
    return f"n = {problem.n:,} is public. How many of these rows are used is private."
