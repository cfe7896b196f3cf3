"""Equalised root: Gaussian noise on a triangular transform of the counts, within 5% of a bound for all transforms.

For Gaussian noise the root R of the queries' matrix, R^2 = W'W, would be the best thing to measure if all its columns
had the same length. They nearly have: dividing them makes a strategy whose root mean square error is within
5% of a bound that no strategy is below, where rows are added or removed (Li and Miklau 2013). Only the products of its
columns matter, X_ij = R_ij/√(R_ii R_jj), so a triangular factor X = LL' is measured: A = L', in whole steps, and solved
backwards.

Why it is private: a row that comes or goes moves A·x by a column of A, one that is replaced by the difference of two.
Columns are whole numbers, so the longest such move is found exactly, over all cells or pairs of cells; discrete
Gaussian noise is calibrated to it (``privacy/gaussian_vectors.py``). The transform is made from sizes alone. Solving,
and the public n, are post-processing.

On more cells than a triangle has room for, the sums of a tree are measured instead (``weighted_tree.py``): A has a row
for each, and all else is the same. It errs by a quarter more than the bound.

Notation: epsilon = ε, delta = δ; S, steps of a weight; sigma = σ, of the noise in steps; X = A'A/S^2; M = X^-1, less
its part along the ones where n is public.

References:
    Li, Hay, Rastogi, Miklau and McGregor (2010); Li and Miklau (2013), the bound; Canonne, Kamath and Steinke (2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypedDict

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    DomainType,
    Entry,
    Floats,
    HistogramState,
    Integers,
    Neighbours,
    Problem,
    checkpoint,
    delta_param,
    epsilon_param,
    rounded_up,
    rows_up,
)
from dpcore.mechanisms.ranges.weighted_tree import WeightedTree
from dpcore.mechanisms.ranges.windows import WindowsRelease, steps_param, worst_square_of
from dpcore.privacy.gaussian_vectors import sigma_of_draw
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.ranges import Intervals, Thresholds
from dpcore.randomness import GaussianCounts, Sampler

MAX_CELLS = 4096
"""On which a triangle is measured."""
BLOCK = 512
"""Columns of which products are made at a time."""


def spectrum(cells: int, *, prefixes: bool) -> tuple[Floats, Floats]:
    """Return the angles of R's eigenvectors, and its eigenvalues, (U,) each."""
    k = np.arange(1, cells + 1)
    angle = np.pi * ((2 * k - 1) / (2 * cells + 1) if prefixes else k / (cells + 1))
    return angle, 1 / (2 * np.sin(angle / 2)) * (1.0 if prefixes else math.sqrt(cells + 1))


def root(cells: int, *, prefixes: bool) -> Floats:
    """Return R (U, U) with R^2 = W'W, W all prefixes or all ranges as rows of zeros and ones.

    The eigenvectors are sines, so R_ij = f(i - j) - f(i + j) for a sum f of cosines. Their angles are whole shares of a
    turn, so f is a Fourier transform of the eigenvalues.
    """
    angle, eigenvalues = spectrum(cells, prefixes=prefixes)
    turn = 2 * (2 * cells + 1) if prefixes else 2 * (cells + 1)
    spread = np.zeros(turn)
    spread[np.rint(angle * turn / (2 * np.pi)).astype(np.int64)] = eigenvalues
    f = np.fft.fft(spread).real[: 2 * cells + 1] * 2 / (2 * cells + 1 if prefixes else 2 * (cells + 1))
    of_difference = sliding_window_view(np.concatenate([f[cells - 1 : 0 : -1], f[:cells]]), cells)[::-1]
    of_sum = sliding_window_view(f[2:], cells)
    matrix: Floats = of_difference - (of_sum[::-1, ::-1] if prefixes else of_sum)  # prefixes are counted from the end
    return matrix


class Triangle:
    """A in whole steps, upper triangular, with the reserved cell measured alone, and what releases need of it.

    Args:
        cells: how many in order.
        spare: cells that are measured alone.
        prefixes: whether the queries are prefixes; else ranges.
        known: whether the number of rows is public.
        steps: the length of a column.
    """

    def __init__(self, cells: int, *, spare: int, prefixes: bool, known: bool, steps: int) -> None:
        products = root(cells, prefixes=prefixes)
        checkpoint()
        lengths = np.sqrt(np.diag(products))
        factor = np.linalg.cholesky(products / lengths[:, None] / lengths)
        checkpoint()
        whole = np.rint(steps * factor.T).astype(np.int64)
        np.fill_diagonal(whole, np.maximum(1, np.diag(whole)))
        # Short numbers: on the most cells it takes 32 MB.
        self.whole = np.pad(whole, ((0, spare), (0, spare))).astype(np.int16)
        self.whole[cells:, cells:] = steps * np.eye(spare, dtype=np.int16)
        self.cells, self.prefixes, self.steps, self.known = cells, prefixes, steps, known
        self.numbers = len(self.whole)
        ones = np.ones((1, self.numbers))
        self.ones = self._turned(self._turned(ones, transposed=True), transposed=False)[0]  # X^-1 1

    def _turned(self, values: Floats, *, transposed: bool) -> Floats:
        """A^-1 or A'^-1 times each row of values (T, size), A in columns of length 1."""
        from scipy.linalg import solve_triangular

        solution: Floats = solve_triangular(self.whole / self.steps, values.T, trans=int(transposed)).T
        return solution

    def shift(self, neighbours: Neighbours) -> int:
        """The longest move of A x between neighbours in steps, rounded up: over all cells or all pairs of them."""
        exact = self.whole.astype(np.float64)  # products of whole numbers far below 2^53: exact
        squares = (exact**2).sum(axis=0)
        longest = squares.max() if neighbours is Neighbours.ADD_REMOVE_ONE else 0.0
        if neighbours is Neighbours.REPLACE_ONE:
            for first in range(0, self.numbers, BLOCK):
                checkpoint()
                end = first + BLOCK  # of what the columns of a block have, above and with the diagonal
                products = exact[:end, first:end].T @ exact[:end, first:]
                moves = squares[first:end, None] + squares[first:] - 2 * products
                longest = max(longest, moves.max())
        return math.isqrt(int(longest) - 1) + 1

    def measured(self, counts: Integers) -> Integers:
        """Return the measured values of counts (size,), in steps: (size,)."""
        values: Integers = self.whole @ counts  # counts are long, and so are their sums
        return values

    def counts(self, measured: Floats, *, n: int) -> Floats:
        """Cells' estimated rows (T, size) from measured values (T, size), in rows."""
        estimates = self._turned(measured, transposed=False)
        if self.known:
            estimates += self.ones * ((n - estimates.sum(axis=1, keepdims=True)) / self.ones.sum())
        return estimates

    def shares(self, queries: Floats) -> Floats:
        """Return the coefficients of the measured values' noise in estimates of queries (Q, size): (Q, size)."""
        if self.known:
            queries = queries - (queries @ self.ones / self.ones.sum())[:, None]
        return self._turned(queries, transposed=True)

    def squares(self, first: Integers, last: Integers) -> Floats:
        """Variance of the sums of cells ``first`` to ``last`` (Q,), both included, for noise of one row: (Q,)."""
        cell = np.arange(self.numbers)
        queries = (cell >= first[:, None]) & (cell <= last[:, None])
        variances: Floats = (self.shares(queries.astype(np.float64)) ** 2).sum(axis=1)
        return variances

    def worst(self) -> float:
        """Return the largest variance of all queries, for noise of one row: from the sums of M along both sides."""
        from scipy.linalg.lapack import dpotri

        upper, _ = dpotri(self.whole / self.steps)  # X^-1 from its factor
        checkpoint()
        inverse = upper + np.triu(upper, 1).T
        if self.known:
            inverse -= np.outer(self.ones, self.ones / self.ones.sum())
        return worst_square_of(inverse[: self.cells, : self.cells], prefixes=self.prefixes)


class Sizes(TypedDict):
    """Public sizes that determine a transform."""

    cells: int
    spare: int
    prefixes: bool
    known: bool
    steps: int
    tree: bool


@lru_cache(maxsize=4)
def transform(*, tree: bool, cells: int, **sizes: Any) -> Triangle | WeightedTree:
    """Return the transform for these ``Sizes``; cached: sizes alone."""
    return (WeightedTree if tree else Triangle)(cells, **sizes)


@lru_cache(maxsize=64)
def longest_move(**sizes: Any) -> tuple[int, int]:
    """Return the number of measured values, and the shift under the relation of ``known``; cached: sizes alone."""
    transformed = transform(**sizes)
    return transformed.numbers, transformed.shift(
        Neighbours.REPLACE_ONE if sizes["known"] else Neighbours.ADD_REMOVE_ONE
    )


@lru_cache(maxsize=64)
def worst_square(**sizes: Any) -> float:
    """Return an upper bound on every query's variance, for noise of one row; cached: sizes alone."""
    return transform(**sizes).worst()


@dataclass(frozen=True, kw_only=True)
class EqualisedRoot(GaussianMechanism):
    """A triangular transform of the counts with discrete Gaussian noise, solved backwards."""

    data_independent: ClassVar[bool] = True
    epsilon: float = epsilon_param()
    delta: float = delta_param()
    steps: int = steps_param(1024, 1, 4096, stops=(1, 64, 1024, 4096))

    def is_tree(self, problem: Problem) -> bool:
        """Return whether a tree is measured: there is no room for a triangle."""
        return problem.domain.ordered > MAX_CELLS

    def solver(self, problem: Problem) -> Triangle | WeightedTree:
        """Return the transform for the problem's sizes."""
        return transform(**self._sizes(problem))

    def shift(self, problem: Problem) -> tuple[int]:
        """Return the shift of all measured values together under a neighbour, in steps."""
        return longest_move(**self._sizes(problem))[1:]

    def sigma(self, problem: Problem) -> float:
        """Return the parameter of the Gaussian noise, in steps."""
        numbers, shift = longest_move(**self._sizes(problem))
        return sigma_of_draw(epsilon=self.epsilon, delta=self.delta, numbers=numbers, squared_shift=shift**2)

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw of all measured values, in steps."""
        numbers, shift = longest_move(**self._sizes(problem))
        return ((self.sigma(problem), numbers, shift**2),)

    def variance(self, problem: Problem, indices: Integers) -> Floats:
        """Variance in rows^2 of the answers to the queries ``indices`` (Q,), whatever the data are, at most: (Q,)."""
        assert isinstance(problem.queries, Thresholds | Intervals)
        return self.solver(problem).squares(*problem.queries.ends(indices)) * (self.sigma(problem) / self.steps) ** 2

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Sub-Gaussian tails for each query (Canonne, Kamath and Steinke 2020, Lemma 20), a union bound over them."""
        sigma, square = self.sigma(problem) / self.steps, worst_square(**self._sizes(problem))
        rows = sigma * math.sqrt(2 * square * math.log(2 * problem.queries.count / beta))
        return Bound(
            value=rows / problem.n,
            kind=BoundKind.GUARANTEE,
            statement=f"Every {problem.queries.one} has noise of σ = {rounded_up(math.sqrt(square) * sigma)} rows at "
            f"most. No answer has an error above {rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=r"\alpha\le\frac{\sigma}{nS}\sqrt{2v\ln\frac{2|Q|}\beta},\quad v=\max_w w^\top Mw",
            reference="least squares; sub-Gaussian tails, union bound over the class",
            beta=beta,
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: one factor for a size, and a release solves one triangle; a tree takes two passes."""
        cells = problem.domain.ordered
        if self.is_tree(problem):
            return 1e-6 * cells, 2e-7 * cells
        return 3e-10 * cells**3, 1e-9 * cells**2

    @override
    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> WindowsRelease:
        problem = state.problem
        solver = self.solver(problem)
        values = solver.measured(state.histogram)[None, :]
        sigma, _, squared_shift = self.gaussians(problem)[0]
        measured = sampler.draw(GaussianCounts(values, sigma=sigma, squared_shift=squared_shift), trials)
        return self.release(WindowsRelease, state, sampler, trials, measured=measured, solver=solver, steps=self.steps)

    def _sizes(self, problem: Problem) -> Sizes:
        """Return the public sizes that determine the transform."""
        cells = problem.domain.ordered
        return {
            "cells": cells,
            "spare": problem.domain.size - cells,
            "prefixes": isinstance(problem.queries, Thresholds),
            "known": problem.neighbours is Neighbours.REPLACE_ONE,
            "steps": self.steps,
            "tree": self.is_tree(problem),
        }


ENTRIES = (
    Entry(
        key="root",
        mechanism=EqualisedRoot,
        title="Equalised root",
        story="Gaussian noise on sums chosen for all ranges at once. If rows are added or removed, within 5% of "
        "a lower bound for such noise. δ is above 0. Above 4,096 cells it uses the sums of a tree, with a "
        "25% larger error.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds, Intervals),
        references=("Li and Miklau (2013)", "Canonne, Kamath and Steinke (2020)"),
        tiny={"steps": 3, "delta": 0.01},
    ),
)
