"""The net mechanism: choose one of all small databases, the likelier the closer its answers.

A database of m synthetic points answers every query of a class within some resolution, however many rows it stands for:
such databases are a net. The exponential mechanism picks one of them with chance in proportion to
e^(-epsilon · n · (its worst error)/2). This was the first proof that private synthetic data can answer a whole class of
queries; its authors called it inefficient, since the net has astronomically many members. For queries on a line or on
single cells it need not be: members at each distance from the data are counted in closed form, and one is drawn without
listing any (dpcore/mechanisms/net). Releases are drawn in whole numbers, previews in doubles.

Permute-and-flip tries the members in random order and keeps each with the same chance as above (relative to the best),
until one is kept. It is never worse, and no more than the exponential mechanism where very many members are about
equally good; it needs the whole list, so it takes the most points, up to m, whose list is short enough.

Why it is private: replacing, adding or removing a row moves the number of rows in any query's set by at most 1, so the
score -max |m · (rows in the set) - n · (points in the set)|, a whole number, by at most m; n is public. Either choice
with weights e^(epsilon · score/(2m)) is epsilon-DP, under either relation, and what is released is the choice alone.

Accuracy: some member errs by at most the resolution, and the one chosen by at most (2/(epsilon n))·ln(|N|/beta) more,
except with chance beta. |N| = C(U + m - 1, m) counts multisets of the U cells, the one for missing values among them.
Resolution: put ⌊m·F + ½⌋ of the points at or below each cell, F being the share of rows there. Each threshold then errs
by at most 1/(2m), and an interval or a cell, as a difference of two, by at most 1/m. (General nets need ln|C|/(2α²)
points for a resolution of α; the order of the line saves all but 1/(2α) of them.)

Notation (paper): epsilon = ε; points = m; |N| = size of the net; beta = β (δ in the paper).

References:
    Blum, Ligett and Roth (2013), Algorithm 1, Properties 3.3 and 3.4; McSherry and Talwar (2007), Theorem 6;
    McKenna and Sheldon (2020) for permute-and-flip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    PointsRelease,
    Problem,
    PureMechanism,
    Release,
    State,
    epsilon_param,
    param,
    rounded_up,
    rows_up,
)
from dpcore.mechanisms.net.databases import ScoredNet, candidates, listable
from dpcore.queries.ranges import Cells, Intervals, Thresholds
from dpcore.randomness import DatabaseChoice, Sampler
from dpcore.randomness.choices import RULES

WEIGHTS = r"\Pr[D']\propto\exp\Bigl(-\frac{\varepsilon n}{2}\max_{q\in C}|q(D)-q(D')|\Bigr)"
"""Chance of each database of the net, in TeX."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetState(State):
    """The net beside the data: candidates with their scores, or what counts them."""

    net: ScoredNet


@dataclass(frozen=True, kw_only=True)
class NetMechanism(PureMechanism):
    """A private choice among all databases of m points."""

    epsilon: float = epsilon_param()
    points: int = param(
        20, 1, 100, label="Synthetic points", symbol="m", log=True, stops=(2, 5, 10, 20, 50, 100),
        help="Number of points that represent all rows. More points are finer, but there are more databases to "
             "choose from, and that increases the error.",
    )  # fmt: skip
    rule: str = param(
        "exponential",
        label="Rule",
        choices=RULES,
        help="Exponential mechanism, or permute-and-flip. Permute-and-flip is never worse but needs a list of "
        "all candidates.",
    )

    def requested_points(self, problem: Problem) -> int:
        """Return the number of points that the mechanism is set to."""
        return self.points

    def size(self, problem: Problem) -> int:
        """Return the points of a database, m; for permute-and-flip the most, up to m, whose databases can be listed."""
        m = self.points
        while self.rule != "exponential" and m > 1 and not listable(problem.queries, points=m):
            m -= 1
        return m

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """The net's resolution and the choice's loss, apart; Property 3.4 is the case where the two are equal."""
        m, size, n = self.size(problem), problem.domain.size, problem.n
        resolution = 1 / (2 * m) if isinstance(problem.queries, Thresholds) else 1 / m
        number = candidates(size=size, points=m)
        rows = 2 / self.epsilon * (math.log(number) - math.log(beta))
        tuples = 2 / self.epsilon * (m * math.log(size) - math.log(beta))
        many = f"{number:,}" if number < 10**7 else f"about 10^{math.log10(number):.0f}"
        return Bound(
            value=resolution + rows / n,
            kind=BoundKind.GUARANTEE,
            statement=f"{m} point{'s resolve' if m > 1 else ' resolves'} the worst {problem.queries.one} to "
            f"{rounded_up(resolution)} of n. Choosing among {many} databases adds an error of at most "
            f"{rows_up(rows)} rows, with confidence 1 − {beta:g}.",
            formula=(r"\alpha\le\frac1{2m}" if isinstance(problem.queries, Thresholds) else r"\alpha\le\frac1m")
            + r"+\frac{2}{\varepsilon n}\ln\frac{\binom{|X|+m-1}{m}}{\beta}",
            reference="Blum, Ligett and Roth (2013), Property 3.4, with its two terms separate",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.floor(rows / (1 - resolution)) + 1 if resolution < 1 else None,
            note=f"All databases of m points are an α-net with α = {rounded_up(resolution)}: for any data, one of them "
            "answers every query within α. "
            f"Counting ordered tuples, |X|^m, as the paper does, the choice would add {tuples:,.0f} rows.",
        )

    @override
    def preview_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on two cores: a list is made once, by candidates; counting takes time in proportion to the cells."""
        m, size = self.size(problem), problem.domain.size
        if not listable(problem.queries, points=m):
            each = 2e-7 * m * m if isinstance(problem.queries, Cells) else 1e-5 * m
            return max(4e-4, each) * size, 4e-7 * size
        number, gaps = candidates(size=size, points=m), size * (m + 1)
        if self.rule == "exponential":
            return 2e-7 * number, 0.0
        # A noise for each score there is: a gap between data and points, or in intervals some pairs of gaps.
        scores = gaps * gaps // 10 if isinstance(problem.queries, Intervals) else gaps
        return 2e-7 * number, 2e-8 * min(number, m * problem.n, scores)

    @override
    def release_seconds(self, problem: Problem) -> tuple[float, float]:
        """Measured on one core: counts without rounding, of each value in each band or height, cell by cell.

        Nothing is shared by questions, as all of it depends on the rows. A cell without rows is counted faster.
        """
        m, size = self.size(problem), problem.domain.size
        if listable(problem.queries, points=m):
            return self.preview_seconds(problem)
        values = m + 1
        if isinstance(problem.queries, Cells):  # each value adds up all below it
            cell, with_rows = 3e-4 + 7.2e-6 * values**2, 1e-3
        elif isinstance(problem.queries, Intervals):  # bands have two limits, so there are more of them
            cell, with_rows = 3e-4 + 4e-5 * values, 1.1e-3 + 4e-5 * values
        else:
            cell, with_rows = 6e-5 + 5e-6 * values, 2.2e-4 + 1.1e-5 * values
        return 0.0, cell * size + with_rows * min(size, problem.n)

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> NetState:
        """The candidates' scores, where they can be listed."""
        net = ScoredNet(problem.queries, dataset.histogram, points=self.size(problem), rows=problem.n)
        return NetState(problem=problem, net=net)

    @override
    def warm_up(self, state: NetState) -> Iterator[None]:
        """Counts that another epsilon did not need, or the list's order."""
        if state.net.candidates is None:
            yield from state.net.layers.prepare(self.epsilon / (2 * state.net.kernel.points))
        else:
            _ = state.net.candidates.ranked  # remembered there

    @override
    def run(self, state: NetState, sampler: Sampler, trials: int = 1) -> PointsRelease:
        m = state.net.kernel.points
        points = sampler.draw(DatabaseChoice(state.net, epsilon=self.epsilon, sensitivity=m, rule=self.rule), trials)
        return self.release(PointsRelease, state, sampler, trials, points=points, weights=np.full(points.shape, 1 / m))

    @override
    def possible(self, release: Release) -> bool:
        """So many points of one share, in order."""
        m = self.size(release.problem)
        return isinstance(release, PointsRelease) and release.is_database(points=m, share=1 / m)


ENTRIES = (
    Entry(
        key="net",
        mechanism=NetMechanism,
        presets={"rule": "exponential"},
        title="Net mechanism",
        story="Chooses one small synthetic database among all possible ones. The closer its answers, the more "
        "likely it is. This was the first proof that private data can answer a whole query class; here it "
        "runs exactly.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells),
        references=("Blum, Ligett and Roth (2013), Algorithm 1", "McSherry and Talwar (2007)"),
        weights=WEIGHTS,
        tiny={"points": 3},
    ),
    Entry(
        key="net-flip",
        mechanism=NetMechanism,
        presets={"rule": "permute_and_flip"},
        title="Net mechanism, permute-and-flip",
        story="The same choice by a newer rule, which is never worse on the same list. It needs the list, so on "
        "many cells it uses fewer points than you choose.",
        domains=(DomainType.NUMBER, DomainType.LABELS),
        queries=(Thresholds, Intervals, Cells),
        references=("McKenna and Sheldon (2020)", "Blum, Ligett and Roth (2013), Algorithm 1"),
        weights=r"\Pr[\text{stop at }D']=\exp\Bigl(-\frac{\varepsilon n}{2}\bigl(e(D')-\min e\bigr)\Bigr),\quad "
        r"e(D')=\max_{q\in C}|q(D)-q(D')|",
        tiny={"points": 3},
    ),
)
