"""Categories in a picture: the fullest first, the rest together, every label fit to be drawn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dpcore.core import Domain, Floats, Integers

MOST_LABELS = 40
LONGEST_LABEL = 40
"""Letters of a label that are shown."""


def drawable(labels: Iterable[str]) -> list[str]:
    """Printable, short, and still all different: two labels that look alike must not share a bar.

    Labels are what people typed. They are data of a specification and never part of an expression.
    """
    seen: set[str] = set()
    shown = []
    for label in labels:
        text = "".join(letter if letter.isprintable() else "�" for letter in label) or "(empty)"
        if len(text) > LONGEST_LABEL:
            text = text[: LONGEST_LABEL - 1] + "…"
        candidate, copies = text, 1
        while candidate in seen:
            copies += 1
            candidate = f"{text} ({copies})"
        seen.add(candidate)
        shown.append(candidate)
    return shown


def fullest(counts: Floats) -> Integers:
    """Places of the largest counts (k,), largest first, at most MOST_LABELS; the lower place first among equals."""
    return np.argsort(-counts, kind="stable")[:MOST_LABELS]


def grouped(counts: Floats, domain: Domain, kept: Integers) -> Floats:
    """Rows in each kept cell, then in all others together (if any), then in the reserved cell (if any).

    Args:
        counts: rows per cell, (F, size).
        domain: what the cells are.
        kept: the cells with a bar of their own.
    """
    fitting = counts[:, : domain.ordered]
    parts = [fitting[:, kept]]
    if len(kept) < domain.ordered:
        others = np.ones(domain.ordered, dtype=np.bool_)
        others[kept] = False
        parts.append(fitting[:, others].sum(axis=1, keepdims=True))
    if domain.missing:
        parts.append(counts[:, domain.ordered :])
    return np.concatenate(parts, axis=1)


def group_names(domain: Domain, kept: Integers) -> list[str]:
    """A name for each column of grouped()."""
    names = [domain.describe(int(cell)) for cell in kept]
    if len(kept) < domain.ordered:
        names.append(f"{domain.ordered - len(kept):,} others")
    if domain.missing:
        names.append(domain.describe(domain.ordered))
    return drawable(names)
