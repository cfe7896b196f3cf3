"""A table of printed and corrected numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

ORDER, NOT_PRINTED, NOT_KNOWN = "order only", "not printed", "not known"


@dataclass(frozen=True, kw_only=True)
class PrintedLine:
    """One number of a paper.

    Attributes:
        what: name of the number, with its symbol and its place in the paper.
        printed: value of the paper's formula; None: ``printed_words`` is shown instead.
        holds: value proved or computed here; None: ``holds_words`` is shown instead.
        why: explanation of the difference.
        power: whether both values are decimal logarithms, of numbers that are too large to write out.
        printed_words: "order only" where the paper prints an order of magnitude.
        holds_words: reason why there is no value.
    """

    what: str
    printed: float | None
    holds: float | None
    why: str
    power: bool = False
    printed_words: str = NOT_PRINTED
    holds_words: str = NOT_KNOWN


@dataclass(frozen=True, kw_only=True)
class MethodLine:
    """A method of a paper's survey.

    Attributes:
        what: name of the method.
        rows: decimal logarithm of the rows it needs; constants of an order are 1.
        time: decimal logarithm of its running time, likewise.
        right: queries for which it is accurate.
        synthetic: whether it releases synthetic rows.
        order: order of its rows, in TeX; empty where all constants are counted.
    """

    what: str
    rows: float
    time: float
    right: str
    synthetic: bool = False
    order: str = ""


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A system's numbers at a reader's settings.

    Attributes:
        title: name of the system.
        lines: its numbers.
        reference: paper and theorems.
        link: settings of the page that runs it, by link parameter.
        survey: methods that the paper compares.
    """

    title: str
    lines: tuple[PrintedLine, ...]
    reference: str
    link: dict[str, str]
    survey: tuple[MethodLine, ...] = ()


def log10_choose(n: float, k: float) -> float:
    """Return the decimal logarithm of a binomial coefficient."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(10)
