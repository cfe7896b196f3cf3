"""Texts in pictures: numbers with three significant digits, shares of n, rows, and printable labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Domain, Floats, Integers, rounded_down, rounded_up

MAX_COUNTED = 2.0**53
"""Floats from here on are not exact counts."""


def short_numbers(values: NDArray[Any] | Sequence[float], *, step: float = 0.0) -> list[float | None]:
    """Return numbers with four significant digits, counts with all of them, and None for NaN and infinity.

    With a positive ``step`` they have enough digits to separate values that differ by it.
    """
    array = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(array)
    finite_values = np.where(finite, array, 0.0)
    size = np.where(finite_values != 0, np.abs(finite_values), 1.0)
    # One of the two factors is 1, the other a power of ten: the division rounds as parsing the decimal number would.
    digits = 3 - np.floor(np.log10(size))
    if step > 0:
        digits = np.maximum(digits, -math.floor(math.log10(step)))
    up, down = 10.0 ** np.minimum(np.maximum(digits, 0), 300), 10.0 ** np.minimum(np.maximum(-digits, 0), 300)
    short = np.rint(finite_values * up / down) * down / up
    # A count is often computed as a share times n, with an error in the last bit.
    whole = np.rint(finite_values)
    count = (np.abs(finite_values - whole) <= 1e-12 * size) & (size < MAX_COUNTED)
    short = np.where(count, whole, short)
    return [number if is_finite else None for number, is_finite in zip(short.tolist(), finite.tolist(), strict=True)]


def minus(text: str) -> str:
    """Return a number's text with minus signs for hyphens."""
    return text.replace("-", "−")


def significant(value: float) -> str:
    """Return a number with three significant digits, not in scientific notation: 1,230 and 0.0000123."""
    if not math.isfinite(value):
        return "no value" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    places = 2 - math.floor(math.log10(abs(value)))
    if not -13 < places < 10:
        return minus(f"{value:.2e}")
    text = f"{round(value, places):,.{max(0, places)}f}"
    return minus(text.rstrip("0").rstrip(".") if "." in text else text)


def percent(value: float) -> str:
    """Return a fraction of n as a percentage with three significant digits; above 1 as a multiple of n."""
    return f"{significant(value)}·n" if abs(value) > 1 else f"{significant(100 * value)}%"


def percent_up(value: float) -> str:
    """Return an upper bound as a percentage with three significant digits, rounded up."""
    return f"{rounded_up(value)}·n" if abs(value) > 1 else f"{rounded_up(_hundredfold(value))}%"


def percent_down(value: float) -> str:
    """Return a lower bound as a percentage with three significant digits, rounded down."""
    return f"{rounded_down(_hundredfold(value))}%"


def _hundredfold(value: float) -> float:
    """Return 100 times a share as it is written: 100 · 0.0041 is 0.41, and not 0.41000000000000003 in binary."""
    return float(Decimal(repr(float(value))) * 100)


def confidence(beta: float) -> str:
    """Return the confidence 1 − β as a percentage, rounded down."""
    return f"{rounded_down(100 * (1 - beta))}%"


def mark_suggested(title: str) -> str:
    """Return the name of a mechanism, marked as the suggested one."""
    return f"{title} (suggested)"


def with_weaker(title: str, weaker: str) -> str:
    """Return a mechanism's name with the rest of its guarantee (δ or γ), shortened if the name has its kind.

    >>> with_weaker("Sparse histogram (random privacy)", "random privacy, γ = 0.05")
    'Sparse histogram (random, γ = 0.05)'
    >>> with_weaker("Equalised root", "δ = 1e-6"), with_weaker("Hierarchy (Hb)", "")
    ('Equalised root (δ = 1e-6)', 'Hierarchy (Hb)')
    """
    kind, _, number = weaker.partition(", ")
    if number and title.endswith(f" ({kind})"):
        return f"{title.removesuffix(f' ({kind})')} ({kind.partition(' ')[0]}, {number})"
    return f"{title} ({weaker})" if weaker else title


def rows(value: float, n: int) -> str:
    """Return a fraction of n as a number of rows."""
    count = minus(f"{value * n:,.0f}")
    return f"{'0' if count == '−0' else count} {'' if abs(value) > 1 else f'of {n:,} '}rows"


def rows_up(value: float, n: int) -> str:
    """Return a fraction of n as a number of rows, rounded up."""
    return rows(math.ceil(value * n - 1e-9) / n, n)


def guaranteed_rows(value: float, n: int) -> str:
    """Return a guaranteed fraction of n as a number of rows, rounded up as the sentence of its theorem rounds it.

    >>> guaranteed_rows(0.49209, 10_000), guaranteed_rows(1e-4, 10_000)
    ('4,930 of 10,000 rows', '1 of 10,000 rows')
    """
    return rows(float(rounded_up(value * n)) / n, n)


def lower_first(title: str) -> str:
    """Return a title with a lower-case first letter, for use after a colon; symbols and names are unchanged.

    >>> lower_first("The sanitizer at two norms T"), lower_first("ReleaseHalfspaces, where it can be run")
    ('the sanitizer at two norms T', 'ReleaseHalfspaces, where it can be run')
    """
    first, space, rest = title.partition(" ")
    return f"{first.lower() if first == first.capitalize() else first}{space}{rest}"


def as_code(text: str) -> str:
    """Return a user's text as Markdown code, in which no markup is interpreted."""
    return "`" + "".join(letter if letter.isprintable() and letter != "`" else "'" for letter in text) + "`"


MAX_LABELS = 40
LONGEST_LABEL = 48
"""Maximum number of letters of a label."""


def printable_labels(labels: Iterable[str]) -> list[str]:
    """Return printable, short and distinct labels: two labels that look alike must not share a bar.

    Labels come from users: they are data and never part of an expression.
    """
    used: set[str] = set()
    result_labels = []
    for label in labels:
        text = "".join(letter if letter.isprintable() else "�" for letter in label) or "(empty)"
        if len(text) > LONGEST_LABEL:
            text = text[: LONGEST_LABEL - 1] + "…"
        candidate, copies = text, 1
        while candidate in used:
            copies += 1
            candidate = f"{text} ({copies})"
        used.add(candidate)
        result_labels.append(candidate)
    return result_labels


def largest_cells(counts: Floats) -> Integers:
    """Return the indices of the largest counts (k,), in decreasing order, at most MAX_LABELS."""
    return np.argsort(-counts, kind="stable")[:MAX_LABELS]


def group_cells(counts: Floats, domain: Domain, cells: Integers) -> Floats:
    """Return rows in each of some cells, then in all others together (if any), then in the reserved cell (if any).

    Args:
        counts: rows per cell, (F, size).
        domain: what the cells are.
        cells: the cells with a bar of their own.
    """
    ordered_counts = counts[:, : domain.ordered]
    parts = [ordered_counts[:, cells]]
    if len(cells) < domain.ordered:
        others = np.ones(domain.ordered, dtype=np.bool_)
        others[cells] = False
        parts.append(ordered_counts[:, others].sum(axis=1, keepdims=True))
    if domain.missing:
        parts.append(counts[:, domain.ordered :])
    return np.concatenate(parts, axis=1)


def group_names(domain: Domain, cells: Integers) -> list[str]:
    """Return a name for each column of group_cells()."""
    names = [domain.describe(int(cell)) for cell in cells]
    if len(cells) < domain.ordered:
        names.append(f"{domain.ordered - len(cells):,} others")
    if domain.missing:
        names.append(domain.describe(domain.ordered))
    return printable_labels(names)
