"""Canonical JSON: equal documents have equal bytes and equal digests."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any

from dpcore.core import ParameterError

Document = Mapping[str, Any]
MAX_CHARACTERS = 1 << 24
MAX_DEPTH = 64
MAX_VALUES = 1_000_000
"""Largest number of lists, mappings and commas of a text: each takes up to 100 bytes of memory after parsing."""


def canonical(document: Any) -> bytes:
    """Encode texts, whole numbers, truth values, lists and mappings as JSON: sorted keys, no blanks, UTF-8.

    Raises:
        ParameterError: it holds a float, as programs write floats differently.

    >>> canonical({"b": [1, True], "a": "x"})
    b'{"a":"x","b":[1,true]}'
    """
    _refuse_floats(document)
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    except (TypeError, ValueError):
        raise ParameterError("A document may contain only strings, integers, booleans, lists and mappings.") from None


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise ParameterError("A document may not contain floats: write decimals as strings.")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ParameterError("The keys of a document must be strings.")
        for each in value.values():
            _refuse_floats(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _refuse_floats(each)


def digest(document: Any) -> str:
    """Return the SHA-256 of the canonical form in hexadecimal."""
    return hashlib.sha256(canonical(document)).hexdigest()


def digest_of_bytes(contents: bytes) -> str:
    """Return the SHA-256 of a file's contents in hexadecimal."""
    return hashlib.sha256(contents).hexdigest()


def fresh_salt() -> str:
    """Return 128 random bits in hexadecimal; a salted digest cannot be checked against guesses."""
    return secrets.token_hex(16)


def parse_document(text: str | bytes, *, what: str) -> dict[str, Any]:
    """Parse the mapping of a JSON text.

    Args:
        text: text of at most MAX_CHARACTERS.
        what: name of the document for error messages.

    Raises:
        ParameterError: it is no JSON mapping, names a key twice, holds NaN or infinity, is deeper than MAX_DEPTH, or
            has more than MAX_VALUES.
    """
    if len(text) > MAX_CHARACTERS:
        raise ParameterError(f"The {what} is too long.")
    if _count_marks(text) > MAX_VALUES:
        raise ParameterError(f"The {what} contains more than {MAX_VALUES:,} values.")
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
        json.dumps(document, ensure_ascii=False).encode()  # an unpaired surrogate cannot be encoded
    except (ValueError, RecursionError):
        raise ParameterError(f"The {what} is not JSON with unique keys and finite numbers.") from None
    if not isinstance(document, dict):
        raise ParameterError(f"The {what} must be a JSON mapping.")
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inside for value in values if isinstance(value, dict | list)]
    if level:
        raise ParameterError(f"The {what} nests lists or mappings more than {MAX_DEPTH} deep.")
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
