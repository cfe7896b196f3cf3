"""Synthetic rows from tables that agree, where the attributes form a tree.

Rows cannot be drawn from all tables of k attributes at once: in general no data set has exactly these tables, and
finding out whether one has is hard. They can be drawn from some of the tables: those of a tree of attributes in
which each hangs on one other (Chow and Liu 1968), or of a junction tree of larger tables, where each new attribute
hangs on k - 1 others that are together in a table already drawn. Such rows have exactly the tables of the tree, up
to rounding; attributes that are not neighbours depend on each other only through those between them.
The tree is chosen from the released tables, so that it costs no privacy. Rows are then moved until they nearly have
other released tables, too (``fit_rows``).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpcore.core import Floats, Integers, ParameterError, checkpoint
from dpcore.mechanisms.tables.release import Tables
from dpcore.queries.marginals import Set

ROUNDS = 6
"""Number of passes over all tables."""
DECAY = 0.8
"""Factor by which the moved share of the remaining difference shrinks from pass to pass."""
COPIED_SHARE = 0.6
"""Share of the moved rows that become copies of rows already in the target cell."""
BLOCK = 1 << 20
"""Numbers of the laws of rows that are held at once."""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Order in which attributes of synthetic rows are drawn, each given some before it.

    Attributes:
        steps: each attribute with the ones its value is drawn from, which come before it.
    """

    steps: tuple[tuple[int, Set], ...]

    def tables(self) -> list[Set]:
        """Return the tables that the rows follow."""
        return [tuple(sorted((attribute, *given))) for attribute, given in self.steps]


def answers_only(*, attributes: int, ways: int) -> str:
    """Return the caption of synthetic rows: which tables they follow, and that they need not follow all."""
    if ways >= attributes:
        return "These rows follow the released table of all attributes."
    if ways == 1:
        return (
            "No synthetic rows are made here: tables of one attribute do not show how attributes depend on each other."
        )
    tree = attributes - ways + 1
    return (
        f"These rows follow {tree:,} of the {math.comb(attributes, ways):,} released tables, which form a "
        "tree. All others follow from these. Often no rows have exactly all released tables, because of "
        "their noise."
    )


def widest_tree(tables: Tables, *, attributes: int, ways: int) -> Tree:
    """Return the tree of tables of k attributes with the most mutual information, chosen greedily.

    It starts with the k attributes of largest total correlation. Then it adds again and again the attribute with the
    largest mutual information (in bits, from the tables themselves) with k - 1 attributes of one table already drawn.

    Raises:
        ParameterError: tables have one attribute only.
    """
    if ways < 2:
        raise ParameterError(answers_only(attributes=attributes, ways=ways))
    information = {
        (attribute, tuple(a for a in chosen if a != attribute)): bits
        for chosen, table in tables.items()
        if len(chosen) == ways
        for attribute, bits in zip(chosen, _mutual_information(table), strict=True)
    }
    first = max(
        (chosen for chosen in tables if len(chosen) == ways), key=lambda chosen: _total_correlation(tables[chosen])
    )
    steps = [(attribute, first[:place]) for place, attribute in enumerate(first)]
    bases = set(combinations(first, ways - 1))
    left = set(range(attributes)) - set(first)
    while left:
        attribute, given = max(((a, base) for a in sorted(left) for base in sorted(bases)), key=information.__getitem__)
        steps.append((attribute, given))
        bases |= set(combinations(sorted((attribute, *given)), ways - 1))
        left.remove(attribute)
    return Tree(steps=tuple(steps))


def _mutual_information(table: Floats) -> list[float]:
    """Return, for each attribute of a table, its mutual information with the others in bits."""
    whole = table / table.sum()
    joint = _entropy(whole)
    return [own + _entropy(whole.sum(axis=axis)) - joint for axis, own in enumerate(_entropies(whole))]


def _total_correlation(table: Floats) -> float:
    """Return the sum of the attributes' entropies less their joint entropy, in bits."""
    whole = table / table.sum()
    return sum(_entropies(whole)) - _entropy(whole)


def _entropies(whole: Floats) -> list[float]:
    """Return the entropy of each attribute of a table of chances, in bits."""
    axes = range(whole.ndim)
    return [_entropy(whole.sum(axis=tuple(a for a in axes if a != axis))) for axis in axes]


def _entropy(chances: Floats) -> float:
    positive = chances[chances > 0]
    return float(-(positive * np.log2(positive)).sum())


def synthetic_rows(tables: Tables, tree: Tree, *, rows: int, seed: int) -> Integers:
    """Draw rows (rows, d) that follow the tree's tables: post-processing of a release, so any generator will do.

    Rows are dealt out rather than drawn one by one: within all rows with the same values of the given attributes, each
    value gets its share, rounded up or down by chance. So tables are met to within a few rows.

    Args:
        tables: tables that agree, in rows.
        tree: as widest_tree gives it.
        rows: how many.
        seed: for shuffling.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    drawn = np.zeros((rows, len(tree.steps)), dtype=np.int64)
    for attribute, given in tree.steps:
        chosen = tuple(sorted((attribute, *given)))
        around = tables[chosen] if chosen in tables else _summed(tables, chosen)
        law = np.moveaxis(around, chosen.index(attribute), -1)
        shape = law.shape[:-1]
        law = law.reshape(-1, law.shape[-1])
        # Given values that never occur together have no conditional law: take the attribute's own.
        unconditional = law.sum(axis=0)
        occurs = law.sum(axis=1, keepdims=True) > 0
        law = np.where(occurs, law, unconditional)
        law = np.cumsum(law, axis=1) / law.sum(axis=1, keepdims=True)
        group = (
            np.ravel_multi_index(tuple(drawn[:, a] for a in given), shape) if given else np.zeros(rows, dtype=np.int64)
        )
        order = np.lexsort((generator.random(rows), group))
        sizes = np.bincount(group, minlength=len(law))
        starts = np.cumsum(sizes) - sizes
        place = np.arange(rows) - starts[group[order]]
        # Even steps through the group with one start by chance: systematic sampling.
        position = (place + generator.random(len(law))[group[order]]) / sizes[group[order]]
        drawn[order, attribute] = _values_at(position, law, group[order])
    return generator.permutation(drawn, axis=0)


def _values_at(position: Floats, law: Floats, group: Integers) -> Integers:
    """Return the value of each row at a position in [0, 1) of its group's cumulative law, (rows,)."""
    values, block = np.zeros(len(position), dtype=np.int64), max(1, BLOCK // law.shape[1])
    for start in range(0, len(position), block):  # a law for each row would take much memory
        checkpoint()
        part = slice(start, start + block)
        values[part] = (law[group[part]] <= position[part, None]).sum(axis=1)
    return values.clip(0, law.shape[1] - 1)


def _summed(tables: Tables, chosen: Set) -> Floats:
    """Return a smaller table as the sum of one that holds it."""
    around = next(larger for larger in tables if set(chosen) <= set(larger))
    total: Floats = tables[around].sum(axis=tuple(place for place, a in enumerate(around) if a not in chosen))
    return total


def fit_rows(rows: Integers, tables: Tables, *, seed: int) -> Generator[float, None, Integers]:
    """Move rows (n, d) towards these tables, in ROUNDS passes over all of them in random order; yields the share done.

    Args:
        rows: cells, not changed.
        tables: what the rows' tables should be, up to a factor.
        seed: of the post-processing; it needs no secrecy.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    moved, sets, share = np.array(rows, dtype=np.int64, order="F"), list(tables), 1.0
    for passed in range(ROUNDS):
        for number, place in enumerate(generator.permutation(len(sets))):
            yield (passed + number / len(sets)) / ROUNDS
            _move(moved, sets[place], tables[sets[place]], share=share, generator=generator)
        share *= DECAY
    return moved


def _move(
    rows: Integers, chosen: Sequence[int], table: Floats, *, share: float, generator: np.random.Generator
) -> None:
    """Move a share of the rows that one table has too many of in some cells to cells that lack rows."""
    n = len(rows)
    codes = np.ravel_multi_index(tuple(rows[:, a] for a in chosen), table.shape)
    counts = np.bincount(codes, minlength=table.size)
    lacking = table.reshape(-1) * (n / table.sum()) - counts
    coins = generator.random((2, table.size))
    leaving = np.minimum((np.maximum(-lacking, 0) * share + coins[0]).astype(np.int64), counts)
    coming = (np.maximum(lacking, 0) * share + coins[1]).astype(np.int64)
    many = min(int(leaving.sum()), int(coming.sum()))
    if not many:
        return
    shuffled = generator.permutation(n)
    order = shuffled[
        np.argsort(codes[shuffled].astype(np.uint16 if table.size <= 1 << 16 else np.int64), kind="stable")
    ]
    starts = np.cumsum(counts) - counts
    cells = np.repeat(np.arange(table.size), leaving)
    among = np.arange(len(cells)) - np.repeat(np.cumsum(leaving) - leaving, leaving)
    movers = generator.permutation(order[starts[cells] + among])[:many]
    target = generator.permutation(np.repeat(np.arange(table.size), coming))[:many]
    copied = (generator.random(many) < COPIED_SHARE) & (counts[target] > 0)
    onto = target[copied]
    model = order[starts[onto] + (generator.random(len(onto)) * counts[onto]).astype(np.int64)]
    rows[movers[copied]] = rows[model]
    for attribute, values in zip(chosen, np.unravel_index(target[~copied], table.shape), strict=True):
        rows[movers[~copied], attribute] = values
