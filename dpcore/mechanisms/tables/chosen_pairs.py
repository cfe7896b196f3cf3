"""Chosen pairs: tables of those pairs of columns alone that a private score finds furthest from independence.

Noise on the tables of all pairs is shared by all pairs. Where it would be large, fewer tables with less noise are
better: the product of single columns predicts well what nearly independent columns have. So single columns are released
first. Then each pair is scored by how far its table is from the product of the two released columns, in absolute
difference over all cells, and all scores get noise. From each a public penalty is taken for the noise that measuring
the table would have (AIM's idea); of several numbers of pairs, that with the largest sum of what is left is measured.
So few tables are measured where few pairs depend on each other, and all where all do. What a pair's table says beyond
its columns is measured, as contrasts.

Noisy scores instead of choices by the exponential mechanism, one by one: they tell how many pairs are worth it, and
compose with all other draws as one Gaussian vector, without the loss of a conversion.

Why it is private: all three steps are discrete Gaussian noise on whole numbers, and later ones look at what was
released before. Adding a row moves the contrasts of columns by a vector of known length (``residual_planner``). Given
the released columns, their products are public, and are rounded to a quarter of a row. Then a row, in one cell of a
pair's table, moves the pair's score by at most 1, all P scores by a vector of length sqrt(P) at most; replacing a row
moves each by at most 2. Given the noisy scores, each pair has a public whole weight, 0 if it is not chosen. The squares
of the weights, times the squared lengths by which a neighbour moves the pairs' contrasts, sum to at most a constant
(``WEIGHT``), so a neighbour moves all weighted contrasts together by a vector of at most that length. The proofs of
``gaussian_vectors`` hold for draws made one after the other:

- zero-concentrated privacy adds up in the same way (Bun and Steinke 2016, Lemma 2.3);
- each discrete draw is, whatever was released before, within the factor 1 +- eta a number of a rounded continuous one,
  so all of them are within the product of the factors of rounded continuous draws made one after the other; and such
  draws, moved by mu_1, mu_2, ... standard deviations, are no easier to tell apart than one draw moved by
  sqrt(mu_1^2 + mu_2^2 + ...) (Dong, Roth and Su 2022, Corollary 3.3).

A person with c rows moves each draw, whatever was released before, by at most c times as far as one row.

Contrasts of pairs that are not chosen are drawn too, from 0, and dropped, so that the number of draws is public.

Notation: epsilon = ε, delta = δ; P pairs.

References:
    McKenna, Mullins, Sheldon and Miklau (2022), AIM: An Adaptive and Iterative Mechanism for Differentially Private
    Synthetic Data; McKenna, Miklau and Sheldon (2021), Winning the NIST Contest.
    Dong, Roth and Su (2022), Gaussian Differential Privacy.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from dpcore.core import Floats, Integers, Neighbours
from dpcore.mechanisms.tables.cliques import CliqueTypes
from dpcore.mechanisms.tables.contrasts import centred, contrast_rows, kappa
from dpcore.mechanisms.tables.plan import ResidualPlan, clique_types_of, draws_of, residual_plan
from dpcore.mechanisms.tables.shape_groups import cells, shape_groups_of
from dpcore.privacy.gaussian_vectors import calibrate, delta_of
from dpcore.queries.marginals import Set
from dpcore.randomness import GaussianCounts, Sampler

STEPS = 4
"""Scores are whole numbers of this part of a row, to which products of columns are rounded."""
SCORES_SHARE = 0.05
"""Share of the squared privacy loss for scores."""
PENALTY = 0.3
"""Share of the expected absolute noise of a pair's table that is taken from its score."""
WEIGHT = 1 << 28
"""Length by which a neighbour moves the weighted contrasts of all chosen pairs at most."""
NUMBERS_TRIED = 24
"""Numbers of pairs among which the best by noisy scores is taken."""
BLOCK = 1 << 22
"""Cells of a pair's table, in all trials, that are scored at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ChosenPairs:
    """The noise of columns, scores and chosen tables; public.

    Attributes:
        columns: plan of single columns.
        score_sigma: parameter of the noise on a score, in steps.
        score_shift: squared length by which a neighbour moves all scores, in steps.
        table_sigma: parameter of the noise on a weighted contrast.
        table_shift: squared length by which a neighbour moves all weighted contrasts.
    """

    columns: ResidualPlan
    score_sigma: float
    score_shift: int
    table_sigma: float
    table_shift: int

    @cached_property
    def _kinds(self) -> tuple[Set, ...]:
        """Types of pairs, in the order in which their contrasts are drawn."""
        return tuple(key for key in self._cliques.keys if sum(key) == 2)

    @property
    def _cliques(self) -> CliqueTypes:
        return clique_types_of(self.columns.cliques.sizes, 2)

    @cached_property
    def pairs(self) -> list[Set]:
        """All pairs, in the order of their scores and contrasts."""
        return [pair for key in self._kinds for pair in self._cliques.sets[key]]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Cells of both columns of each pair."""
        return [tuple(self.columns.cliques.sizes[a] for a in pair) for pair in self.pairs]

    @cached_property
    def rows(self) -> Integers:
        """Number of contrasts of each pair, (P,)."""
        return np.array([contrast_rows(shape) for shape in self.shapes])

    @cached_property
    def _shifts(self) -> list[int]:
        """Squared length by which a neighbour moves the contrasts of each pair at most, (P,)."""
        return [squared_shift(shape, self.columns.neighbours) for shape in self.shapes]

    @property
    def draws(self) -> tuple[tuple[float, int, int], ...]:
        """Sigma, number of draws and squared shift of columns, scores and contrasts, in this order."""
        scores = (self.score_sigma, len(self.pairs), self.score_shift)
        return (*draws_of(self.columns), scores, (self.table_sigma, int(self.rows.sum()), self.table_shift))

    def drawn(
        self, sampler: Sampler, columns: list[Floats], contrasts: Mapping[Set, Integers], *, trials: int
    ) -> tuple[Integers, Integers]:
        """Return noisy scores (T, P) and weighted noisy contrasts of all pairs (T, rows), 0 where they are not chosen.

        Args:
            sampler: draws the noise.
            columns: released counts of each column, (T, s) each.
            contrasts: true ones of sets of up to two columns at least, by type.
            trials: T.
        """
        found = self._scores(columns, self._tables(contrasts))
        scores = sampler.draw(GaussianCounts(found, sigma=self.score_sigma, squared_shift=self.score_shift), trials)
        weights = np.repeat(self.weights(scores), self.rows, axis=1)
        true = weights * np.concatenate([contrasts[key] for key in self._kinds])
        noisy = sampler.draw(GaussianCounts(true, sigma=self.table_sigma, squared_shift=self.table_shift), trials)
        return scores, np.where(weights > 0, noisy, 0)

    def weights(self, scores: Integers) -> Integers:
        """Return each pair's weight, 0 where it is not chosen: post-processing of noisy scores, (T, P) to (T, P).

        Of several numbers of pairs that is taken whose scores, less the expected noise, have the largest sum.
        """
        spread = self.table_sigma / WEIGHT
        noise = np.array(
            [
                PENALTY * STEPS * spread * cells(shape) * math.sqrt(2 / math.pi * lengths(shape) * shift / kappa(shape))
                for shape, shift in zip(self.shapes, self._shifts, strict=True)
            ]
        )
        many = np.unique(np.geomspace(1, len(noise), NUMBERS_TRIED).round())
        best, most = np.zeros(scores.shape, dtype=np.bool_), np.zeros(len(scores))
        for count in many.astype(int).tolist():
            gains = np.maximum(scores - math.sqrt(count) * noise, 0.0)
            order = np.argsort(-gains, axis=1, kind="stable")[:, :count]
            chosen = np.zeros(scores.shape, dtype=np.bool_)
            np.put_along_axis(chosen, order, np.take_along_axis(gains, order, axis=1) > 0, axis=1)
            total = np.where(chosen, gains, 0.0).sum(axis=1)
            best, most = np.where((total > most)[:, None], chosen, best), np.maximum(total, most)
        return np.where(best, self._weights_of(best.sum(axis=1)), 0)

    def _weights_of(self, counts: Integers) -> Integers:
        """Return the weight of each pair if so many are chosen, (T,) to (T, P): each with an equal share of WEIGHT^2.

        Whole numbers: the squares of all weights times the shifts of their pairs sum to at most WEIGHT^2.
        """
        several = sorted(set(counts.tolist()))
        table = [[math.isqrt(WEIGHT**2 // (max(many, 1) * shift)) for shift in self._shifts] for many in several]
        return np.array(table, dtype=np.int64)[np.searchsorted(several, counts)]

    def measured(self, numbers: Integers) -> dict[Set, tuple[Floats, float]]:
        """Return the centred noisy tables of the chosen pairs, and the variance of each along any direction.

        Args:
            numbers: noisy scores and contrasts of one release, end to end.
        """
        weights = self.weights(numbers[None, : len(self.pairs)])[0].tolist()
        parts = np.split(numbers[len(self.pairs) :], np.cumsum(self.rows)[:-1])
        variances = self.variances(sum(map(bool, weights)))
        return {
            pair: (centred(part / weight, shape), variances[pair])
            for pair, part, weight, shape in zip(self.pairs, parts, weights, self.shapes, strict=True)
            if weight
        }

    def variances(self, many: int) -> dict[Set, float]:
        """Return the variance of each pair's centred table along any direction, if so many pairs are chosen."""
        weights = self._weights_of(np.array([many]))[0].tolist()
        return {
            pair: (self.table_sigma / weight) ** 2 / kappa(shape)
            for pair, weight, shape in zip(self.pairs, weights, self.shapes, strict=True)
        }

    def _tables(self, contrasts: Mapping[Set, Integers]) -> dict[Set, Integers]:
        """Return the true tables of all pairs from their contrasts: their sums, rounded to whole counts."""
        groups = shape_groups_of(self._cliques)
        residuals = groups.residuals({key: contrasts[key].astype(np.float64) for key in self._cliques.keys})
        tables: dict[Set, Integers] = {}
        for shape, group in groups.groups.items():
            if len(shape) == 2:
                counts = np.rint(groups.assembled(residuals, group)).astype(np.int64)
                tables |= dict(zip(group.sets, counts, strict=True))
        return tables

    def _scores(self, columns: list[Floats], counts: Mapping[Set, Integers]) -> Integers:
        """Return each pair's distance from the product of its columns in steps, (T, P)."""
        trials = len(columns[0])
        scores = np.zeros((trials, len(self.pairs)), dtype=np.int64)
        for place, (one, other) in enumerate(self.pairs):
            true = STEPS * counts[one, other]
            block = max(1, BLOCK // true.size)
            for start in range(0, trials, block):
                first, second = columns[one][start : start + block], columns[other][start : start + block]
                total = first.sum(axis=1)[:, None, None]
                product = np.rint(STEPS * first[:, :, None] * second[:, None, :] / total).astype(np.int64)
                scores[start : start + block, place] = np.abs(true - product).sum(axis=(1, 2))
        return scores


def lengths(shape: tuple[int, ...]) -> float:
    """Return p, the product of 1 - 1/s: the squared length of a record's centred table."""
    return math.prod(1 - 1 / size for size in shape)


def squared_shift(shape: tuple[int, ...], neighbours: Neighbours) -> int:
    """Return the squared length by which a neighbour moves the contrasts of a pair at most: see ``cliques``."""
    # Inner products of the contrasts of two cells of a column, if they are the same and if they are not.
    (same, differ), (other_same, other_differ) = (
        (1, -1) if size == 2 else (size * (size - 1), -size) for size in shape
    )
    if neighbours is Neighbours.ADD_REMOVE_ONE:
        return same * other_same
    return 2 * (same * other_same - min(differ * other_same, same * other_differ, differ * other_differ))


@lru_cache(maxsize=64)
def chosen_pairs(
    *, sizes: tuple[int, ...], columns_share: float, neighbours: Neighbours, epsilon: float, delta: float
) -> ChosenPairs:
    """Return the noise with which pairs are chosen and measured, at the least noise proved for the target.

    Args:
        sizes: cells of each column.
        columns_share: share of the squared privacy loss for single columns.
        neighbours: the relation.
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.

    Raises:
        ParameterError: epsilon or delta is out of range.
    """
    alone = residual_plan(sizes=sizes, ways=1, neighbours=neighbours, epsilon=epsilon, delta=delta)
    pairs, furthest = math.comb(len(sizes), 2), sum(neighbours.histogram_shift) * STEPS
    score_shift, table_shift = pairs * furthest**2, WEIGHT**2
    rows = sum(contrast_rows(shape) for shape in combinations(sizes, 2))
    # One kind of neighbour stands for all: the one that moves columns, scores and tables furthest.
    sigmas, counts, shifts = np.array(draws_of(alone), dtype=np.float64).T
    spent = math.sqrt(float((shifts / sigmas**2).sum()) / columns_share)
    rest = [score_shift / SCORES_SHARE, table_shift / (1 - SCORES_SHARE - columns_share)]
    relative, counts = np.append(sigmas * spent, np.sqrt(rest)), np.append(counts, [pairs, rows])
    squared = np.append(shifts, [score_shift, table_shift])[None, :]
    sigmas = calibrate(relative, epsilon=epsilon, delta=delta, counts=counts, squared_shifts=squared)
    proved = delta_of(epsilon, sigmas=sigmas, counts=counts, squared_shifts=squared)
    *column_sigmas, score_sigma, table_sigma = sigmas.tolist()
    parts = (dataclasses.replace(part, sigma=sigma) for part, sigma in zip(alone.parts, column_sigmas, strict=True))
    return ChosenPairs(
        columns=dataclasses.replace(alone, parts=tuple(parts), delta=proved),
        score_sigma=score_sigma,
        score_shift=score_shift,
        table_sigma=table_sigma,
        table_shift=table_shift,
    )
