"""Programs of the lesson “Catch the cheat”: fifteen claims of epsilon-DP, of which two are true.

Thirteen come from ``broken``. Each is run on two neighbouring data sets that reveal its mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Integers, Neighbours
from dpcore.randomness import NoisyCounts, Preview, SparseVector
from dplab.audit.broken import counts, sparse_vectors
from dplab.audit.orders import Outcomes

EPSILON = counts.EPSILON
"""Claim of all programs."""
REPLACE, ADD = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE


@dataclass(frozen=True, kw_only=True, eq=False)
class Suspect:
    """One program and the data sets on which it is tested.

    Attributes:
        key: its short name.
        program: maps rows or answers, a sampler and a number of runs to outcomes (T, w).
        data: the two neighbouring data sets, or the answers that queries have on them.
        neighbours: the relation.
        publishes: its description.
        fault: its mistake, shown afterwards; empty for correct programs.
        runs: runs on each data set after which one round at 99.9% refutes it; 0 for correct programs.
    """

    key: str
    program: Callable[[NDArray[Any], Preview, int], Outcomes]
    data: tuple[NDArray[Any], NDArray[Any]]
    neighbours: Neighbours
    publishes: str
    fault: str = ""
    runs: int = 0

    def draw(self, side: int, preview: Preview, runs: int) -> Outcomes:
        """Return outcomes (T, w) on data set 0 or 1."""
        return self.program(self.data[side], preview, runs)


def honest_counts(rows: Integers, preview: Preview, runs: int) -> Integers:
    """Return a correct noisy histogram, where one row is replaced."""
    histogram = np.bincount(rows, minlength=counts.CELLS)[None, :]
    return preview.draw(NoisyCounts(histogram, epsilon=EPSILON, sensitivity=2), runs)


def honest_comparisons(answers: Integers, preview: Preview, runs: int) -> Outcomes:
    """Run Algorithm 1 of Lyu, Su and Li (2017), the catalogue's sparse vector: at most two positive answers."""
    gate = preview.draw(SparseVector(epsilon=EPSILON, sensitivity=1, updates=2), runs)
    outcomes = np.full((runs, len(answers)), -1, dtype=np.int8)
    for place, answer in enumerate(answers):
        still = ~gate.closed
        outcomes[still, place] = gate.above(np.full(runs, answer), 0)[still]
    return outcomes


def _rows(*cells: int) -> Integers:
    return np.array(cells, dtype=np.int64)


LONE = (_rows(0, 0, 0, 0, 1), _rows(0, 0, 0, 0, 2))
"""The last of five rows moves into another, empty cell."""
FULL = (_rows(*[0] * 9, 1), _rows(*[0] * 9))
"""Ten rows, and nine of them."""
FIVE = (_rows(0, 0, 0, 0, 0, 1), _rows(0, 0, 0, 0, 1, 1))
"""Five rows of a cell and four."""
NOTES = (_rows(1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5), _rows(1, 1, 2, 3, 3, 3, 5, 4, 5, 5, 5))
"""The notes' example, whose median no single row can change, and the same with one 3 less, where one can."""
ONE_RICH = (_rows(*[1] * 20), _rows(*[1] * 19, 100))
"""Twenty small numbers, and the same with a large one."""
VISITS = (_rows(3, 1, 1, 1), _rows(0, 1, 1, 1))
"""A person with three visits, and with none."""


def _swapped(queries: int) -> tuple[Integers, Integers]:
    """Return answers of ``queries`` zeros and as many ones, and the reverse."""
    low, high = np.zeros(queries, dtype=np.int64), np.ones(queries, dtype=np.int64)
    return np.concatenate([low, high]), np.concatenate([high, low])


SUSPECTS = (
    Suspect(
        key="honest-counts", program=honest_counts, data=LONE, neighbours=REPLACE,
        publishes="a noisy histogram",
    ),
    Suspect(
        key="honest-comparisons", program=honest_comparisons, data=_swapped(4), neighbours=ADD,
        publishes="which of eight counts are large",
    ),
    Suspect(
        key="seed-reused", program=counts.seed_reused, data=LONE, neighbours=REPLACE,
        publishes="a noisy histogram", runs=50,
        fault="Its generator uses the same seed every time, so its noise is known.",
    ),
    Suspect(
        key="n-leaked", program=counts.n_leaked, data=FULL, neighbours=ADD,
        publishes="a noisy histogram and the number of rows", runs=50,
        fault="It publishes the exact number of rows, although rows are added or removed.",
    ),
    Suspect(
        key="refuses-by-truth", program=counts.refuses_by_truth, data=NOTES, neighbours=REPLACE,
        publishes="a median, or no answer", runs=50,
        fault="It answers if no single row can change the median, without randomness. Whether it answers depends on "
            "one row.",
    ),
    Suspect(
        key="float-laplace", program=counts.float_laplace, data=(_rows(), _rows(0)), neighbours=ADD,
        publishes="a noisy count", runs=200,
        fault="Its noise is computed in floating point. The last bits tell which count it was added to.",
    ),
    Suspect(
        key="bare-empty-cells", program=counts.bare_empty_cells, data=LONE, neighbours=REPLACE,
        publishes="a noisy histogram", runs=200,
        fault="Empty cells get no noise, so a cell that is not 0 holds a row.",
    ),
    Suspect(
        key="suppressed-by-truth", program=counts.suppressed_by_truth, data=FIVE, neighbours=REPLACE,
        publishes="a noisy histogram without small cells", runs=200,
        fault="It leaves out cells whose true count is small.",
    ),
    Suspect(
        key="bounds-from-data", program=counts.bounds_from_data, data=ONE_RICH, neighbours=REPLACE,
        publishes="a noisy sum", runs=200,
        fault="The noise scale depends on the largest number in the data, so one large number shows in the noise.",
    ),
    Suspect(
        key="wrong-sensitivity", program=counts.wrong_sensitivity, data=VISITS, neighbours=REPLACE,
        publishes="a noisy total of visits", runs=500,
        fault="A person makes up to three visits, but the noise is scaled to one visit.",
    ),
    Suspect(
        key="same-noise-twice", program=counts.same_noise_twice, data=LONE, neighbours=REPLACE,
        publishes="a noisy histogram", runs=500,
        fault="All cells get the same noise, so the difference of two cells has none.",
    ),
    Suspect(
        key="variant-5", program=sparse_vectors.fifth, data=_swapped(1), neighbours=ADD,
        publishes="which of two counts are large", runs=1_000,
        fault="A sparse-vector algorithm without noise in its comparisons (variant 5 of Lyu, Su and Li).",
    ),
    Suspect(
        key="variant-6", program=sparse_vectors.sixth, data=_swapped(50), neighbours=ADD,
        publishes="which of a hundred counts are large", runs=2_000,
        fault="A sparse-vector algorithm that never stops (variant 6 of Lyu, Su and Li).",
    ),
    Suspect(
        key="variant-4", program=sparse_vectors.fourth, data=_swapped(25), neighbours=ADD,
        publishes="which of fifty counts are large", runs=5_000,
        fault="A sparse-vector algorithm whose noise does not grow with the number of positive answers (variant "
            "4 of Lyu, Su and Li).",
    ),
    Suspect(
        key="variant-3", program=sparse_vectors.third, data=(_rows(*[0] * 5, 1), _rows(*[1] * 5, 0)), neighbours=ADD,
        publishes="the first large count of six", runs=50_000,
        fault="A sparse-vector algorithm that publishes the noisy number it compared (variant 3 of Lyu, Su and Li).",
    ),
)  # fmt: skip
"""In the order of the runs that refute them; the lesson shuffles them."""
