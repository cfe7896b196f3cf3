"""Detection of a text file's header and separator, from the numbers of fields in the first rows."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.core import DataError
from dpcore.data.reading.first_row import NUMBER_LIKE
from dpcore.data.reading.format import Format

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE_ROWS = 50
SAMPLE_CHARACTERS = 1 << 16
MIN_SHARE = 0.8
"""Of the sampled rows below the header that must have as many fields as each other."""
SEP_LINE = re.compile(r'\n*"?sep=([^\w\s"]|[\t ])"?[,;\t]*\n', re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A sampled row: its fields, and where it starts in the text."""

    fields: tuple[str, ...]
    start: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Position of the header and form of the rows below it.

    Attributes:
        start: characters above the header.
        separator: what stands between fields; empty where the header itself has to tell.
        row_names: whether rows have one field more than the header: R's row names.
        notes: public sentences about what was skipped.
    """

    start: int
    separator: str
    row_names: bool
    notes: tuple[str, ...]


def find_layout(top: str, *, ending: str, settings: Format, header: bool | None, private: bool) -> Layout:
    """Return the layout of a text, from its settings and, where these are empty, from the number of fields by row.

    Args:
        top: the beginning of the text.
        ending: ".tsv" means tabs.
        settings: what a user said.
        header: False where the first row is a record: then nothing above it is guessed.
        private: whether the rows are private. Then the first row is the header unless the settings skip lines, and it
            alone tells the separator: another row in its place would stand on the screen as the columns' names.

    Raises:
        DataError: there are not as many lines as are to be skipped, or the first is a title that tells no separator.
    """
    start, notes = 0, list[str]()
    separator = settings.separator or ("\t" if ending == ".tsv" else "")
    if settings.skip:
        parts = top.split("\n", settings.skip)
        if len(parts) <= settings.skip:
            raise DataError(f"it has fewer than the {settings.skip:,} lines that are to be skipped.")
        start = len(top) - len(parts[-1])
    if match := SEP_LINE.match(top, start):
        separator = settings.separator or match[1]
        start = match.end()
        notes.append("Its first line names the separator and was skipped.")
    row_names, guessed = False, not separator
    if private and not separator:
        separator = separator_of(top[start:].lstrip("\n").split("\n", 1)[0])
    if header is not False:
        guess, above, row_names = _find_header(top[start:], separator)
        if settings.skip is None and above and not private:
            separator = guess
            lines = sum(bool(line.strip()) for line in top[start : start + above].split("\n"))
            if lines:
                notes.append(f"{lines:,} line{'s were' if lines > 1 else ' was'} skipped above the header.")
            start += above
        elif row_names:
            separator = guess
    if guessed and not row_names:
        _check_title(top[start:])
    return Layout(start=start, separator=separator, row_names=row_names, notes=tuple(notes))


def separator_of(line: str) -> str:
    """Return the most frequent separator of a line, outside quotes."""
    return max(SEPARATORS, key=re.sub('"[^"]*"', "", line).count)


def _check_title(text: str) -> None:
    """Raise DataError where a separator is to be told from a first line that has none, and rows below have one.

    Of rows about people nothing above the header is skipped unasked. Under a title, fields between commas are too many
    for one column, which is said later; fields between other separators would be read as one column.
    """
    sample = text[:SAMPLE_CHARACTERS]
    first = re.sub('"[^"]*"', "", sample.lstrip("\n").split("\n", 1)[0])
    if any(separator in first for separator in SEPARATORS):
        return
    for separator, called in SEPARATORS.items():
        widths = [len(row.fields) for row in _sampled(sample, separator, whole=len(sample) == len(text))]
        later = widths[1:][len(widths) // 2 - 1 :] if len(widths) > 2 else []
        width = max(later, key=later.count, default=1)
        if separator != "," and width > 1 and later.count(width) >= MIN_SHARE * len(later):
            raise DataError(
                f"row 1 has no separator, but the rows below have {called}. If row 1 is a title, set "
                "Format: Lines to skip (--format skip=1). If there is only one column, set Separator to a "
                "comma."
            )


def _find_header(text: str, separator: str) -> tuple[str, int, bool]:
    """Return separator, characters above the header, and whether it is R's: one name short."""
    sample = text[:SAMPLE_CHARACTERS]
    whole = len(sample) == len(text)
    usual = separator or separator_of(sample.lstrip("\n").split("\n", 1)[0])
    best: tuple[float, int, str, int, bool] = (0.0, 0, usual, 0, False)
    for candidate in [usual] if separator else dict.fromkeys([usual, *SEPARATORS]):
        rows = _sampled(sample, candidate, whole=whole)
        place, row_names, share, width = _header_of(rows)
        agree = len(rows) < 3 or (width > 1 and (row_names or len(rows[1].fields) >= len(rows[0].fields)))
        if candidate == usual and place == 0 and agree:
            return candidate, 0, row_names
        if (share, width) > best[:2] and (width > 1 or candidate == usual):
            best = share, width, candidate, rows[place].start if rows else 0, row_names
    return best[2], best[3], best[4]


def _header_of(rows: Sequence[Row]) -> tuple[int, bool, float, int]:
    """Place of the header among the rows, whether it is one name short, the share that fits it, and its width."""
    place = 0
    while place < len(rows) - 2 and _is_comment(rows[place]):
        place += 1
    widths = [len(row.fields) for row in rows]
    later = widths[len(widths) // 2 :]
    width = max(set(later), key=later.count) if later else 1
    share = later.count(width) / len(later) if later else 0.0
    if len(rows) < 3 or width == 1 or share < MIN_SHARE:
        return place, False, share, width
    body = rows[place + 1 :]
    fits = all(len(row.fields) == width for row in body)
    if widths[place] == width - 1 and len(body) > 1 and fits and _have_row_names(body):
        return place, True, share, width
    if widths[place] > 1 and widths[place] == widths[place + 1] != width:
        return place, False, share, width  # two rows that agree are no title
    first = next((i for i in range(place, len(rows)) if widths[i] == width), place)
    if first > place and (first > len(rows) // 2 or any(each > 1 for each in widths[place:first])):
        return place, False, share, width
    if first > place and rows[first].fields[-1].strip() == "" and width - 1 == widths[first - 1]:
        return place, False, share, width  # a header above rows with a comma behind them
    while first < len(rows) - 2 and _is_title(rows[first]):
        first += 1
    if first > place and all(NUMBER_LIKE.fullmatch(field.strip()) for field in rows[first].fields):
        return place, False, share, width  # one column of numbers with decimal commas has no title
    return first, False, share, width


def _have_row_names(rows: Sequence[Row]) -> bool:
    """Return whether all rows begin with R's row names: in quotes, or numbered; a comma behind rows is no column."""
    if not any(row.fields[-1].strip() for row in rows):
        return False
    numbered = all(row.fields[0] == str(place) for place, row in enumerate(rows, start=1))
    return numbered or all(row.text.startswith('"') for row in rows)


def _is_comment(row: Row) -> bool:
    return re.match(r"#(\s|#|$)|(//|%)\s", row.text) is not None


def _is_title(row: Row) -> bool:
    """Return whether a row is a workbook's title: three fields or more, with text in the first alone, or in none."""
    return _is_comment(row) or (len(row.fields) > 2 and not any(field.strip() for field in row.fields[1:]))


def _sampled(sample: str, separator: str, *, whole: bool) -> list[Row]:
    """Return the first rows that are not empty; one that may be cut short is left out."""
    lines = re.findall(r"[^\n]*\n|[^\n]+$", sample)
    starts = [0, *itertools.accumulate(map(len, lines))]
    rows, before = list[Row](), 0
    reader = csv.reader(io.StringIO(sample, newline="\n"), delimiter=separator, skipinitialspace=separator != " ")
    try:
        for fields in reader:
            start, before = starts[before], reader.line_num
            if fields and any(sample[start : starts[before]].strip("\n")):
                rows.append(Row(fields=tuple(fields), start=start, text=sample[start : starts[before]]))
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error:
        return rows
    return rows if whole or len(rows) > SAMPLE_ROWS else rows[:-1]
