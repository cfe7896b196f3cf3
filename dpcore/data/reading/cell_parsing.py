"""Public rules, in DuckDB's SQL, that parse a cell's text as a yes, a no or a date."""

from __future__ import annotations

from dpcore.core import ParameterError
from dpcore.data.reading.format import DAY_FIRST, LOCAL, Format

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


SLASHED = r"\d{1,2}[/-]\d{1,2}[/-](?:\d{4}|\d{2})"
"""Dates whose order must be known: 01/02/2021."""
DOTTED = r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})"
YEAR_FIRST = r"\d{4}[./-]\d{1,2}[./-]\d{1,2}"
COMPACT = r"(?:1[5-9]|2[0-2])\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
SERIAL = r"[1-9]\d{4}(?:\.\d+)?"
"""Days since 1899-12-30, as Excel stores dates: of the years 1927 to 2173."""
HOUR = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?)?"
WORDED = r"\d{1,2}[- ](?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[- ](?:\d{4}|\d{2})"
"""29 February 2024 or 29-Feb-24, in English."""


def day(text: str, settings: Format) -> str:
    """SQL for a text's day in one of the forms that ISO 8601 does not have; NULL for none.

    Year first, with points for day, month, year, as 20240229, with the name of the month in
    English, as Excel's serial number; 01/02/2021 only where the settings say which comes first. Of years of two
    digits those from 69 on are of the last century.
    """
    text = f"coalesce({text}, '')"  # or DuckDB cannot bind some functions to a column of NULL alone
    whole = f"split_part(split_part({text}, 'T', 1), ' ', 1)"
    parts = [f"split_part(regexp_replace({whole}, '[./]', '-', 'g'), '-', {place})" for place in (1, 2, 3)]

    def date(year: str, month: str, number: str) -> str:
        century = (
            f"CASE WHEN length({year}) > 2 THEN {year} WHEN {year} < '69' THEN '20' || {year} ELSE '19' || {year} END"
        )
        return f"try_cast(({century}) || '-' || lpad({month}, 2, '0') || '-' || lpad({number}, 2, '0') AS DATE)"

    first, second, third = parts
    day_first, month_first = date(third, second, first), date(third, first, second)
    forms = {
        f"{YEAR_FIRST}{HOUR}": date(first, second, third),
        f"{DOTTED}{HOUR}": day_first,
        COMPACT: date(f"substr({text}, 1, 4)", f"substr({text}, 5, 2)", f"substr({text}, 7, 2)"),
        SERIAL: f"(DATE '1899-12-30' + CAST(floor(try_cast({text} AS DOUBLE)) AS INTEGER))",
    }
    number, name, year = (f"split_part(replace({text}, '-', ' '), ' ', {place})" for place in (1, 2, 3))
    month = f"CAST((instr('janfebmaraprmayjunjulaugsepoctnovdec', lower(substr({name}, 1, 3))) + 2) // 3 AS VARCHAR)"
    forms[WORDED] = date(year, month, number)
    if settings.date_order:
        forms[f"{SLASHED}{HOUR}"] = day_first if settings.date_order == DAY_FIRST else month_first
    whens = " ".join(f"WHEN regexp_full_match({text}, '{form}') THEN {sql}" for form, sql in forms.items())
    return f"CASE {whens} END"


def period(text: str, step: str, settings: Format | None = None) -> str:
    """SQL for the number of a date's day, week or month since that of 1970-01-01, or its year; NULL for what is none.

    A date is written year-month-day, as 2024-02-29, with a time behind it or not. A time with an offset is an instant:
    its day is the one in UTC. Other times do not count. Where the step is a week (2024-W09), a month (2024-02) or a
    year (2024), dates may be written so, too; a date that says less than its step is none. Weeks are those of ISO 8601.

    Args:
        text: SQL for the text.
        step: "day", "week", "month" or "year".
        settings: a file's, with which the forms of ``day`` are read, too, and which may ask for local days: those that
            stand in the text, whatever its offset. None for ISO 8601 alone.
    """
    if step not in STEPS:
        raise ParameterError(f"Dates are counted in one of {', '.join(STEPS)}.")
    iso = f"CAST(try_cast({text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS DATE)"
    clock = CLOCK
    if settings:
        clock = f"{CLOCK}( (UTC|GMT))?"
        written = f"regexp_replace({text}, ' (UTC|GMT)$', 'Z')"
        local = settings.days == LOCAL
        iso = f"try_cast(substr({text}, 1, 10) AS DATE)" if local else iso.replace(text, written, 1)
    # Casts are tried: the database may make them of texts of other forms, too.
    year, month = f"try_cast(substr({text}, 1, 4) AS INTEGER)", f"try_cast(substr({text}, 6, 2) AS INTEGER)"
    fourth = f"try_cast(substr({text}, 1, 4) || '-01-04' AS DATE)"  # of January: it is in the first week
    monday = f"({fourth} + try_cast(substr({text}, 7, 2) AS INTEGER) * 7 - isodow({fourth})::INTEGER - 6)"
    forms = {f"{DAY}({clock})?": _number(iso, step)}
    if step == "week":
        # The Thursday of a week lies in the week's year: there is no 2023-W53, nor a week 0.
        forms[WEEK] = f"CASE WHEN year({monday} + 3) = {year} THEN {_number(monday, step)} END"
    if step == "month":
        forms[MONTH] = f"({year} - 1970) * 12 + {month} - 1"
    if step == "year":
        forms |= {MONTH: year, YEAR: year}
    whens = " ".join(f"WHEN regexp_full_match({text}, '{form}') THEN {number}" for form, number in forms.items())
    other = f" ELSE {_number(day(text, settings), step)}" if settings else ""
    return f"CASE {whens}{other} END"


def _number(day: str, step: str) -> str:
    """SQL for a day's number in its step."""
    days = f"({day} - {EPOCH})"
    if step == "day":
        return days
    if step == "week":
        return f"floor(({days} + 3) / 7)"  # the Monday before 1970 is three days away
    return f"year({day})" if step == "year" else f"(year({day}) - 1970) * 12 + month({day}) - 1"
