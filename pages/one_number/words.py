"""Chances in words, never rounded to none or to all."""

from __future__ import annotations

from dpcore.core import exactly


def in_100(chance: float) -> str:
    """Return a chance as so many in 100, never rounded to none or to all."""
    if chance <= 0:
        return "none of 100"
    if chance >= 1:
        return "all of 100"
    if chance < 0.01:
        return "fewer than 1 in 100"
    if chance > 0.99:
        return "more than 99 in 100"
    return f"about {100 * chance:.0f} in 100"


def refusals(chance: float) -> str:
    """Return how many runs give no answer; where none does, that all give one.

    >>> refusals(0), refusals(0.2)
    ('all of 100 runs give an answer', 'about 20 in 100 runs give no answer (⊥)')
    """
    return "all of 100 runs give an answer" if chance <= 0 else f"{in_100(chance)} runs give no answer (⊥)"


def nearly(chance: float, *, digits: int = 3, certain: bool = False) -> str:
    """Return a chance with so many digits, rounded to 1 only where a proof says that it is certain."""
    text = exactly(float(f"{chance:.{digits}g}"))
    return text if certain or float(text) < 1 else f"above {1 - 10.0**-digits:g}"


def nearly_percent(share: float, *, digits: int = 3) -> str:
    """Return a share in percent with so many digits, never rounded to all."""
    text = f"{100 * share:.{digits}g}"
    return f"{text}%" if float(text) < 100 else f"above {100 - 10.0 ** (2 - digits):.{digits}g}%"
