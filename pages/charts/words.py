"""Words in a picture: numbers of three significant digits, shares of n and rows; labels, every one fit to be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Domain, Floats, Integers, rounded_down, rounded_up

MAX_COUNTED = 2.0**53
"""Whole numbers from here on are no counts."""


def short_numbers(values: NDArray[Any] | Sequence[float], *, step: float = 0.0) -> list[float | None]:
    """Numbers with four significant digits, whole ones (counts) with all of theirs; null where there is none.

    Where ``step`` is positive, as many digits more as tell places apart that are a step from each other.
    """
    array = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(array)
    finite_values = np.where(finite, array, 0.0)
    size = np.where(finite_values != 0, np.abs(finite_values), 1.0)
    # One of the two is 1 and the other a whole power of ten: the division rounds as reading the decimal number would.
    digits = 3 - np.floor(np.log10(size))
    if step > 0:
        digits = np.maximum(digits, -math.floor(math.log10(step)))
    up, down = 10.0 ** np.minimum(np.maximum(digits, 0), 300), 10.0 ** np.minimum(np.maximum(-digits, 0), 300)
    short = np.rint(finite_values * up / down) * down / up
    # A count is often a share times n, and then off by its last bit.
    whole = np.rint(finite_values)
    count = (np.abs(finite_values - whole) <= 1e-12 * size) & (size < MAX_COUNTED)
    short = np.where(count, whole, short)
    return [number if is_finite else None for number, is_finite in zip(short.tolist(), finite.tolist(), strict=True)]


def minus(text: str) -> str:
    """A number in print, its hyphens made minus signs."""
    return text.replace("-", "−")


def significant(value: float) -> str:
    """A number with three significant digits, written out: 1,230 and 0.0000123."""
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
    """A fraction of n with three significant digits; beyond all rows, how many times n."""
    return f"{significant(value)} times n" if abs(value) > 1 else f"{significant(100 * value)}%"


def percent_up(value: float) -> str:
    """A bound as a share with three significant digits, rounded up: what is printed holds."""
    return f"{rounded_up(value)} times n" if abs(value) > 1 else f"{rounded_up(_hundredfold(value))}%"


def percent_down(value: float) -> str:
    """A share with three significant digits, rounded down: at least so much."""
    return f"{rounded_down(_hundredfold(value))}%"


def _hundredfold(value: float) -> float:
    """Return 100 times a share as it is written: 100 · 0.0041 is 0.41, and not 0.41000000000000003 in binary."""
    return float(Decimal(repr(float(value))) * 100)


def confidence(beta: float) -> str:
    """The share of releases that keep a promise, rounded down."""
    return f"{rounded_down(100 * (1 - beta))}%"


def mark_suggested(title: str) -> str:
    """The name of the mechanism that a rule of public numbers takes."""
    return f"{title} (suggested)"


def with_weaker(title: str, weaker: str) -> str:
    """A mechanism's name, and what its guarantee has besides ε; in short where the name says the kind itself.

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
    """A fraction of n as a number of rows."""
    count = minus(f"{value * n:,.0f}")
    return f"{'0' if count == '−0' else count} {'' if abs(value) > 1 else f'of {n:,} '}rows"


def rows_up(value: float, n: int) -> str:
    """A fraction of n as a number of rows, rounded up: at most so many."""
    return rows(math.ceil(value * n - 1e-9) / n, n)


def lower_first(title: str) -> str:
    """A title after a colon: its first letter is small, a symbol or a name stays what it is.

    >>> within("The sanitizer at two norms T"), within("ReleaseHalfspaces, where it can be run")
    ('the sanitizer at two norms T', 'ReleaseHalfspaces, where it can be run')
    """
    first, space, rest = title.partition(" ")
    return f"{first.lower() if first == first.capitalize() else first}{space}{rest}"


def as_code(text: str) -> str:
    """Somebody's words inside Markdown: as code, where nothing is obeyed."""
    return "`" + "".join(letter if letter.isprintable() and letter != "`" else "'" for letter in text) + "`"


MAX_LABELS = 40
LONGEST_LABEL = 40
"""Letters of a label that are shown."""


def printable_labels(labels: Iterable[str]) -> list[str]:
    """Printable, short, and still all different: two labels that look alike must not share a bar.

    Labels are what people typed. They are data of a specification and never part of an expression.
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
    """Places of the largest counts (k,), largest first, at most MAX_LABELS; the lower place first among equals."""
    return np.argsort(-counts, kind="stable")[:MAX_LABELS]


def group_cells(counts: Floats, domain: Domain, cells: Integers) -> Floats:
    """Rows in each kept cell, then in all others together (if any), then in the reserved cell (if any).

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
    """A name for each column of grouped()."""
    names = [domain.describe(int(cell)) for cell in cells]
    if len(cells) < domain.ordered:
        names.append(f"{domain.ordered - len(cells):,} others")
    if domain.missing:
        names.append(domain.describe(domain.ordered))
    return printable_labels(names)
