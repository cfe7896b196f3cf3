"""A table of printed and corrected numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PrintedLine:
    """One number of a paper.

    Attributes:
        what: it is, with its symbol and where it is printed.
        printed: by the paper's formula; None: the paper gives an order of magnitude only.
        holds: what is proved or computed here; None: nothing better is known.
        why: what differs, in a sentence.
        power: whether both numbers are decimal logarithms, of what is too large to write out.
    """

    what: str
    printed: float | None
    holds: float | None
    why: str
    power: bool = False


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A system's numbers at a reader's settings.

    Attributes:
        title: of the system.
        lines: its numbers.
        reference: paper and theorems.
        link: settings of the page that runs it, by their names in links: those that hold.
    """

    title: str
    lines: tuple[PrintedLine, ...]
    reference: str
    link: dict[str, str]


def log10_choose(n: float, k: float) -> float:
    """Decimal logarithm of a binomial coefficient."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(10)
