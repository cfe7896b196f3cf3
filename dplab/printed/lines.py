"""A table of printed and corrected numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

ORDER, NOT_PRINTED, NOT_KNOWN = "order only", "not printed", "not known"


@dataclass(frozen=True, kw_only=True)
class PrintedLine:
    """One number of a paper.

    Attributes:
        what: it is, with its symbol and where it is printed.
        printed: by the paper's formula; None: ``printed_words`` says what is there instead.
        holds: what is proved or computed here; None: ``holds_words`` says what is there instead.
        why: what differs, in a sentence.
        power: whether both numbers are decimal logarithms, of what is too large to write out.
        printed_words: "order only" only where the paper prints an order of magnitude.
        holds_words: why no number is proved or computed here.
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
        what: it is.
        rows: it needs, a decimal logarithm; constants of an order are 1.
        time: it takes, likewise.
        right: on which questions.
        synthetic: whether it makes rows.
        order: of its rows, in TeX; none where all constants are counted.
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
        title: of the system.
        lines: its numbers.
        reference: paper and theorems.
        link: settings of the page that runs it, by their names in links: those that hold.
        survey: methods that the paper compares.
    """

    title: str
    lines: tuple[PrintedLine, ...]
    reference: str
    link: dict[str, str]
    survey: tuple[MethodLine, ...] = ()


def log10_choose(n: float, k: float) -> float:
    """Decimal logarithm of a binomial coefficient."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(10)
