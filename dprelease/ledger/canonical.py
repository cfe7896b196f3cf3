"""Canonical JSON: equal documents have equal bytes and equal digests."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any

from dpcore.core import ParameterError


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
