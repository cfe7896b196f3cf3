"""JSON documents that others wrote: one mapping, or one sentence that says why not."""

from __future__ import annotations

import json
from typing import Any

from dpcore.core.basics import ParameterError
from dpcore.core.sizes import MAX_DOCUMENT_CHARACTERS, MAX_DOCUMENT_DEPTH, MAX_DOCUMENT_VALUES


def parse_document(text: str | bytes, *, what: str) -> dict[str, Any]:
    """Parse the mapping of a JSON text.

    Args:
        text: text of at most MAX_DOCUMENT_CHARACTERS.
        what: name of the document for error messages.

    Raises:
        ParameterError: it is no JSON mapping, names a key twice, holds NaN or infinity, is deeper than
            MAX_DOCUMENT_DEPTH, or has more than MAX_DOCUMENT_VALUES.
    """
    if len(text) > MAX_DOCUMENT_CHARACTERS:
        raise ParameterError(f"The {what} is too long.")
    if _count_marks(text) > MAX_DOCUMENT_VALUES:
        raise ParameterError(f"The {what} contains more than {MAX_DOCUMENT_VALUES:,} values.")
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
        json.dumps(document, ensure_ascii=False).encode()  # an unpaired surrogate cannot be encoded
    except (ValueError, RecursionError):
        raise ParameterError(f"The {what} is not JSON with unique keys and finite numbers.") from None
    if not isinstance(document, dict):
        raise ParameterError(f"The {what} must be a JSON mapping.")
    level: list[Any] = [document]
    for _ in range(MAX_DOCUMENT_DEPTH):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
    if level:
        raise ParameterError(f"The {what} nests lists or mappings more than {MAX_DOCUMENT_DEPTH} deep.")
    return document


def _count_marks(text: str | bytes) -> int:
    """Return an upper bound on the number of values of a JSON text without parsing it."""
    if isinstance(text, bytes):
        return sum(text.count(mark) for mark in (b"[", b"{", b","))
    return sum(text.count(mark) for mark in ("[", "{", ","))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError
    return mapping


def _refuse_constant(name: str) -> None:
    raise ValueError
