"""The stable quantile: how often it answers, and what one changed row does to that."""

from __future__ import annotations

import streamlit as st
from typing_extensions import override

from dpcore.core import describe_error, rounded_up
from dpcore.data.columns import is_number
from dpcore.limits.bounds.rank import rank_bound
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.stable_median import StableMedian
from dplab.robust import StableRuns, always_answering, stable_runs
from pages.charts.picture import Picture
from pages.charts.words import percent
from pages.one_number.chance import Place, chance_curve, stability_axis
from pages.one_number.controls import OneNumberRequest
from pages.one_number.outcome import RefusableOutcome, draw_refusals
from pages.one_number.runs import answers
from pages.one_number.words import nearly
from pages.shell.theorem import BETA


class StableOutcome(RefusableOutcome[StableMedian]):
    """Previews of the stable quantile.

    Attributes:
        runs: stability, chances and previews.
    """

    privacy_help = (
        "δ is exact: the probability of an answer if one person can change it. No smaller δ would be correct."
    )

    @override
    def __init__(self, request: OneNumberRequest, mechanism: StableMedian) -> None:
        super().__init__(request, mechanism)
        self.runs = stable_runs(mechanism, self.dataset, self.problem, seed=request.seed)
        self.refused = 1 - self.runs.observed.share
        self.curve = _stability_curve(self.runs, threshold=mechanism.threshold)

    @override
    def draw_headline(self) -> None:
        mechanism, runs = self.mechanism, self.runs
        what = "median" if mechanism.quantile == 0.5 else f"{mechanism.quantile:g}-quantile"
        draw_refusals(1 - runs.chance[runs.stable])
        st.markdown(
            f"**{runs.stable:,}** of {self.problem.n:,} rows must change before the {what} "
            f"({self.problem.domain.describe(runs.cell)}) does. At about **{mechanism.threshold:,}**, half "
            "of the runs give an answer. :gray-badge[true]",
            help=f"At a stability of **{mechanism.stability_needed(0.05):,}** or more, 95 in 100 runs give an "
            "answer. More rows, a coarser grid, a larger ε or a larger δ help.",
        )

    @override
    def draw_one_person(self) -> None:
        mechanism, domain = self.mechanism, self.problem.domain
        left, right = st.columns(2)
        with left:
            st.subheader("When one person changes")
            st.markdown(_neighbours_table(self.runs))
        with right:
            st.subheader(
                "A mechanism that always answers",
                help="The stable median is never wrong if it answers. A mechanism that always answers may have "
                "an error instead.",
            )
            if is_number(domain) and self.runs.cell < domain.ordered:
                values = always_answering(
                    self.dataset,
                    self.problem,
                    epsilon=mechanism.epsilon,
                    quantile=mechanism.quantile,
                    seed=self.request.seed,
                )
                picture = answers(domain=domain, truth=self.runs.cell, values=values)
                self.request.draw(picture, key="robust_wrong", title="answers of the exponential median")
            self._draw_rank_theorems()

    def _draw_rank_theorems(self) -> None:
        """Draw the guaranteed rank error of the exponential median, and on demand its lower bound."""
        problem, quantile = self.problem, self.mechanism.quantile
        always = ExponentialMedian(epsilon=self.mechanism.epsilon, quantile=quantile)
        impossible = rank_bound(problem, always.guarantee(problem), beta=BETA, quantile=quantile)
        st.markdown(
            f"{describe_error(always.accuracy(problem, BETA), n=problem.n)} :orange-badge[theory]",
            help=impossible.statement if impossible is not None else None,
        )


def _stability_curve(runs: StableRuns, *, threshold: int) -> Picture:
    """Return the curve with the data, two neighbours, the previews' share of answers, and the impossible."""
    stable, seen, mine = runs.stable, runs.observed, runs.chance[runs.stable]
    names = {
        stable: "these data",
        stable - 1: "one row changed, lower stability",
        stable + 1: "one row changed, higher stability",
    }
    return chance_curve(
        curves={"probability of an answer": runs.curve},
        data=[Place(name=name, x=rows, chance=runs.chance[rows]) for rows, name in names.items() if rows >= 1],
        x=stability_axis(runs.curve.x, threshold=threshold),
        threshold=threshold,
        seen=seen,
        # The most that can be is 1 where its closed form says so: no rounding.
        sentence=f"At stability {stable:,} the probability of an answer is {nearly(mine)}; {seen.answered:,} of "
        f"{seen.trials:,} previews gave one ({percent(seen.low)} to {percent(seen.high)} with 95% "
        "confidence). Hatched: impossible for a mechanism that is never wrong; the upper bound on these "
        f"data is {nearly(runs.max_chance, certain=runs.max_chance >= 1)}. Dotted: upper bound if wrong "
        "answers are allowed, on the worst data of that stability. Diamonds: these data with one row "
        "changed.",
    )


def _neighbours_table(runs: StableRuns) -> str:
    """Return chances of an answer: of the data, of the worst neighbour, and at the edge."""
    stable = runs.stable
    lines = ["| data | stability | probability of an answer |", "|---|---|---|"]
    lines.append(f"| yours | {stable:,} | {nearly(runs.chance[stable], digits=4)} |")
    if stable > 1:
        against = nearly(runs.chance[stable - 1], digits=4)
        lines.append(f"| one person changed, against it | {stable - 1:,} | {against} |")
    lines.append(f"| stability 1: one person can change the answer | 1 | {rounded_up(runs.edge)} = δ |")
    return "\n".join(lines)
