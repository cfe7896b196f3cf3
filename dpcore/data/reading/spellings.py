"""How a cell's text is read as a yes, a no or a date: public rules, written in DuckDB's SQL."""

from __future__ import annotations

from dpcore.core import ParameterError

YES, NO = ("yes", "true", "y", "t"), ("no", "false", "n", "f")
"""In capitals or not; the numbers 1 and 0 are a yes and a no, too."""
STEPS = ("day", "week", "month", "year")
DAY = r"\d{4}-\d{2}-\d{2}"
CLOCK = r"[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?"
WEEK, MONTH, YEAR = r"\d{4}-W\d{2}", r"\d{4}-(0[1-9]|1[0-2])", r"\d{4}(\.0)?"
EPOCH = "DATE '1970-01-01'"


def truth(text: str) -> str:
    """SQL for 0 where a text says no, 1 where it says yes, else 2."""
    number = f"try_cast({text} AS DOUBLE)"
    return (
        f"CASE WHEN lower({text}) IN {YES} OR {number} = 1 THEN 1"
        f" WHEN lower({text}) IN {NO} OR {number} = 0 THEN 0 ELSE 2 END"
    )


def period(text: str, step: str) -> str:
    """SQL for the number of a date's day, week or month since that of 1970-01-01, or its year; NULL for what is none.

    A date is written year-month-day, as 2024-02-29, with a time behind it or not. A time with an offset is an instant:
    its day is the one in UTC. Other times do not count. Where the step is a week (2024-W09), a month (2024-02) or a
    year (2024), dates may be written so, too; a date that says less than its step is none. Weeks are those of ISO 8601.
    """
    if step not in STEPS:
        raise ParameterError(f"Dates are counted in one of {', '.join(STEPS)}.")
    day = f"CAST(try_cast({text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS DATE)"
    # Casts are tried: the database may make them of texts of other forms, too.
    year, month = f"try_cast(substr({text}, 1, 4) AS INTEGER)", f"try_cast(substr({text}, 6, 2) AS INTEGER)"
    fourth = f"try_cast(substr({text}, 1, 4) || '-01-04' AS DATE)"  # of January: it is in the first week
    monday = f"({fourth} + try_cast(substr({text}, 7, 2) AS INTEGER) * 7 - isodow({fourth})::INTEGER - 6)"
    forms = {f"{DAY}({CLOCK})?": _number(day, step)}
    if step == "week":
        # The Thursday of a week lies in the week's year: there is no 2023-W53, nor a week 0.
        forms[WEEK] = f"CASE WHEN year({monday} + 3) = {year} THEN {_number(monday, step)} END"
    if step == "month":
        forms[MONTH] = f"({year} - 1970) * 12 + {month} - 1"
    if step == "year":
        forms |= {MONTH: year, YEAR: year}
    whens = " ".join(f"WHEN regexp_full_match({text}, '{form}') THEN {number}" for form, number in forms.items())
    return f"CASE {whens} END"


def _number(day: str, step: str) -> str:
    """SQL for a day's number in its step."""
    days = f"({day} - {EPOCH})"
    if step == "day":
        return days
    if step == "week":
        return f"floor(({days} + 3) / 7)"  # the Monday before 1970 is three days away
    return f"year({day})" if step == "year" else f"(year({day}) - 1970) * 12 + month({day}) - 1"
