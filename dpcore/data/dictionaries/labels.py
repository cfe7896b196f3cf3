"""Labels as one text: a line each, or in one line between semicolons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpcore.data.reading.tables import BLANKS

BETWEEN = "; "
"""Separator of labels in one line."""
LABEL = re.compile(r'[ \t]*"((?:[^"]|"")*)"[ \t]*(?:;|$)|([^;]*)(?:;|$)')


def split_labels(text: str) -> tuple[str, ...]:
    """Return the labels of a text: one on each line, or separated by semicolons if there is only one line.

    Blank labels are dropped. A label that contains a semicolon is quoted, and a quote inside is doubled.

    >>> split_labels('A; east;B'), split_labels('"A; east";B')
    (('A', 'east', 'B'), ('A; east', 'B'))
    """
    text = text.replace("\r\n", "\n")
    parts = text.split("\n") if "\n" in text else [part for part, _ in label_parts(text)]
    return tuple(part.strip(BLANKS) for part in parts if part.strip(BLANKS))


def label_parts(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the labels of one line as they stand between semicolons, and whether each was quoted."""
    for match in LABEL.finditer(line):
        quoted = match[1] is not None
        yield match[1].replace('""', '"') if quoted else match[2], quoted


def labels_text(labels: Sequence[str]) -> str:
    """Return labels as they are stored, one on each line and spelled as in the file.

    A single label that would be parsed as several, or as a quoted one, ends with a newline.
    """
    is_ambiguous = len(labels) == 1 and joined_labels(labels) != labels[0]
    return "\n".join(labels) + "\n" * is_ambiguous


def joined_labels(labels: Sequence[str], *, special: str = ";") -> str:
    """Return labels in one line, separated by semicolons; a label with a special character is quoted."""

    def quoted(label: str) -> str:
        special_inside = any(character in label for character in special)
        return '"' + label.replace('"', '""') + '"' if special_inside or label.startswith('"') else label

    return BETWEEN.join(map(quoted, labels))
