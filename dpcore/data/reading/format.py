"""Settings for reading a file: public, chosen by a user or guessed, and the same for neighbouring tables.

A cell is read by these settings alone, whatever the other cells are. Of rows about people no setting is guessed from
values: the separator is guessed from the first rows' structure, the decimal sign from the separator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcore.core import ParameterError
from dpcore.core.sizes import MAX_CODE_CHARACTERS, MAX_MISSING_CODES, MAX_SHEETS, MAX_SKIPPED_LINES

ENCODINGS = ("utf-8", "cp1252", "latin-1", "mac-roman", "cp850", "utf-16", "utf-16-le", "utf-16-be")
DECIMALS = {".": "a decimal point", ",": "a decimal comma"}
DAY_FIRST, MONTH_FIRST = "day first", "month first"
UTC, LOCAL = "utc", "local"
NAMED_SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}


@dataclass(frozen=True, kw_only=True)
class Format:
    """Settings for reading the text of a file; an empty setting is guessed.

    Attributes:
        separator: the character between fields.
        decimal: "." or ","; the other one may separate thousands, as may blanks and apostrophes.
        date_order: "day first" or "month first", for dates such as 01/02/2021.
        encoding: one of ``ENCODINGS``; empty for UTF-8, or UTF-16 with a byte order mark.
        skip: lines above the header; None to guess.
        missing: texts that count as missing in every column, besides an empty cell; numbers match by value.
        days: "utc" or "local": which day a time with an offset belongs to.
        header: whether the first row holds names; None where a user says, or it is seen to.
        sheet: which sheet of a workbook is read, from 1.

    Raises:
        ParameterError: a setting is not one of these.
    """

    separator: str = ""
    decimal: str = ""
    date_order: str = ""
    encoding: str = ""
    skip: int | None = None
    missing: tuple[str, ...] = ()
    days: str = UTC
    header: bool | None = None
    sheet: int = 1

    def __post_init__(self) -> None:
        if len(self.separator) > 1 or self.separator.isalnum() or self.separator in ('"', "\n", "\r", "\0", "_", "."):
            raise ParameterError("The separator must be one character, neither a letter, a digit nor a quotation mark.")
        if self.decimal not in ("", *DECIMALS):
            raise ParameterError("The decimal sign is a point or a comma.")
        if self.date_order not in ("", DAY_FIRST, MONTH_FIRST):
            raise ParameterError(f"The date order is “{DAY_FIRST}” or “{MONTH_FIRST}”.")
        if self.encoding not in ("", *ENCODINGS):
            raise ParameterError(f"The encoding is one of {', '.join(ENCODINGS)}.")
        if self.skip is not None and (isinstance(self.skip, bool) or not 0 <= self.skip <= MAX_SKIPPED_LINES):
            raise ParameterError(f"Between 0 and {MAX_SKIPPED_LINES:,} lines can be skipped.")
        if self.header not in (None, True, False):
            raise ParameterError("The header is true or false: whether the first row holds names.")
        if isinstance(self.sheet, bool) or not 1 <= self.sheet <= MAX_SHEETS:
            raise ParameterError(f"The sheet is a number from 1 to {MAX_SHEETS:,}.")
        if self.days not in (UTC, LOCAL):
            raise ParameterError(f"Days are “{UTC}” or “{LOCAL}”.")
        if len(self.missing) > MAX_MISSING_CODES or any(
            not code.strip() or len(code) > MAX_CODE_CHARACTERS or not code.isprintable() for code in self.missing
        ):
            raise ParameterError(
                f"At most {MAX_MISSING_CODES} codes for missing values, each of 1 to {MAX_CODE_CHARACTERS} characters."
            )

    @property
    def text(self) -> str:
        """The settings that are not the usual ones, as a Python dictionary: for ``df.attrs["format"]`` and digests.

        >>> Format(decimal=",", missing=("-99", "?")).text
        "{'decimal': ',', 'missing': ('-99', '?')}"
        """
        usual = Format()
        return repr({name: value for name, value in vars(self).items() if value != getattr(usual, name)})


USUAL = Format()
"""Nothing is set."""
DEFAULT_FORMATS = (USUAL, *(Format(separator=each, decimal=".") for each in ("", ",")), Format(separator=","))
"""Settings that read a file as it is read without any: commas, a decimal point, no code for missing."""


WRITTEN: dict[str, Callable[[str], Any]] = {
    "separator": lambda text: NAMED_SEPARATORS.get(text, text),
    "decimal": str,
    "date_order": lambda text: f"{text.removesuffix('-first')} first",
    "encoding": str,
    "skip": int,
    "days": str,
    "sheet": int,
}
"""How ``read_format`` reads each setting but the codes for missing values, of which there may be several."""


def read_format(text: str) -> Format:
    r"""Return the settings that a text such as ``decimal=, date_order=day missing=-99 missing=?`` names.

    Args:
        text: settings between blanks; ``missing`` may be repeated, a separator may be called by its name (tab).

    Raises:
        ParameterError: a setting is unknown or is not one of those allowed.

    >>> read_format("separator=tab decimal=, missing=-99 missing=?").text
    "{'separator': '\\t', 'decimal': ',', 'missing': ('-99', '?')}"
    """
    settings, codes = dict[str, Any](), list[str]()
    for part in text.split():
        name, _, value = part.partition("=")
        if name == "missing":
            codes.append(value)
        elif name not in WRITTEN or (WRITTEN[name] is int and not (value.isdecimal() and len(value) < 6)):
            raise ParameterError(
                "A format is written as in “separator=; decimal=, date_order=day encoding=cp1252 skip=2 missing=-99 "
                "days=local sheet=2”."
            )
        else:
            settings[name] = WRITTEN[name](value)
    return Format(**settings, missing=tuple(codes))
