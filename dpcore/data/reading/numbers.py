"""The public rule, in DuckDB's SQL, that parses a cell's text as a number, each cell by itself."""

from __future__ import annotations

CURRENCY = r"(?:US\$|R\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR|SEK|NOK|DKK|PLN|CAD|AUD|kr|zł)"
BLANK = "[ \u00a0\u2009\u202f]"
MINUS = "[-−–]"
EXPONENT = r"(?:[eE][-+]?\d{1,3})?"


def number(text: str, *, decimal: str) -> str:
    """SQL for the number that a text writes; NULL or not finite where it writes none.

    Thousands may be separated (by the sign that is not the decimal sign, blanks or apostrophes, in groups of three; by
    commas also as in India), a currency sign or a percent sign may stand beside the digits, and parentheses or a minus
    sign behind the digits make it negative. 12% reads 12.

    Args:
        text: SQL for the text.
        decimal: "." or ",".
    """
    groups = {",": r"\.", ".": ","}[decimal]
    grouped = [rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+" for mark in (groups, BLANK, "['’]")]
    if decimal == ".":
        grouped.append(r"[1-9]\d?(?:,\d{2})+,\d{3}")
    point = r"\." if decimal == "." else ","
    body = rf"(?:(?:{'|'.join(grouped)}|\d+)(?:{point}\d*)?|{point}\d+){EXPONENT}"
    money = rf"(?:{BLANK}*{CURRENCY})?{BLANK}*"
    sign, unit = rf"(?:[+]|{MINUS})", rf"(?:{BLANK}*(?:{CURRENCY}|%))?"
    signed = rf"{sign}?{money}{body}{unit}|{money}{sign}{body}{unit}|{money}{body}{unit}-"  # one sign at most
    form = _quoted(rf"{signed}|\({money}{body}{money}\)")
    # Full matches hold one run of digits and signs: it starts at the first digit, or at the point before it.
    marks = _quoted(f"{BLANK}|['’]")
    digits = f"regexp_replace(regexp_extract({text}, {_quoted(body)}), {marks}, '', 'g')"
    digits = f"replace(replace({digits}, '{groups[-1]}', ''), ',', '.')"
    factor = f"CASE WHEN regexp_matches({text}, {_quoted(rf'^(?:[(]|{money}{MINUS})|[^eE]-$')}) THEN -1 ELSE 1 END"
    written = f"CASE WHEN regexp_full_match({text}, {form}) THEN {factor} * try_cast({digits} AS DOUBLE) END"
    if decimal == ".":
        return f"coalesce(try_cast({text} AS DOUBLE), {written})"
    return f"CASE WHEN contains({text}, '.') THEN {written} ELSE coalesce(try_cast({text} AS DOUBLE), {written}) END"


def decimal_evidence(text: str, decimal: str) -> str:
    """SQL for whether a text can be a number with this decimal sign alone: its digits form no group of thousands."""
    point, groups = (r"\.", ",") if decimal == "." else (",", r"\.")
    plain = rf"\d+{point}(?:\d{{1,2}}|\d{{4,}})|(?:0|\d{{4,}})?{point}\d+|\d+{point}"
    body = rf"{plain}|\d{{1,3}}(?:{groups}\d{{3}})+{point}\d+"
    several = rf"[1-9]\d{{0,2}}(?:{groups}\d{{3}}){{2,}}"
    around = rf"(?:{CURRENCY}|%|[-+−–()]|{BLANK})*"
    return f"regexp_full_match({text}, {_quoted(f'{around}(?:{body}|{several}){around}')})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
