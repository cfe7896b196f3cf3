"""Memory checks before an allocation: a link, a plan, a request or a declaration may name any size."""

from __future__ import annotations

from dpcore.core.basics import ParameterError

MAX_BYTES = 1 << 30
"""Bytes that one step of the work may take, with what it copies on the way: a gibibyte."""


def check_memory(numbers: float, *, what: str, smaller: str, each: int = 8) -> None:
    """Raise ParameterError where so many numbers are more than MAX_BYTES.

    Args:
        numbers: how many there are.
        what: is made of them, as the beginning of a sentence.
        smaller: which setting to change, as the end of a sentence.
        each: bytes of one, with its copies.

    >>> check_memory(1e9, what="A law of Gaussian noise", smaller="take a larger epsilon")
    Traceback (most recent call last):
    ...
    dpcore.core.basics.ParameterError: A law of Gaussian noise would take 7,629 MiB of memory: take a larger epsilon.
    """
    if numbers * each > MAX_BYTES:
        mebibytes = f"{numbers * each / (1 << 20):,.0f} MiB"
        raise ParameterError(f"{what} would take {mebibytes} of memory: {smaller}.")
