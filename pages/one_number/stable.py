"""The stable quantile: how often it answers, and what one changed row does to that."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
from typing_extensions import override

from dpcore.core import describe_error, rounded_up
from dpcore.data.columns import is_number
from dpcore.limits.bounds.rank import rank_bound
from dpcore.mechanisms.robust.exponential_median import ExponentialMedian
from dpcore.mechanisms.robust.stable_median import StableAnswer, StableMedian
from dplab.robust import StableRuns, always_answering, stable_runs
from pages.charts.picture import Axis, Curve, Dots, Picture
from pages.charts.words import percent, short_numbers
from pages.one_number.chance import Place, chance_curve, stability_axis
from pages.one_number.controls import OneNumberRequest
from pages.one_number.outcome import RefusableOutcome, draw_refusals
from pages.one_number.runs import WRONG, answers
from pages.one_number.words import nearly
from pages.shell.theorem import BETA


class StableOutcome(RefusableOutcome[StableAnswer]):
    """Previews of a statistic that is released if it is stable.

    Attributes:
        runs: stability, chances and previews.
    """

    privacy_help = (
        "δ is exact: the probability of an answer if one person can change it. No smaller δ would be correct."
    )

    @override
    def __init__(self, request: OneNumberRequest, mechanism: StableAnswer) -> None:
        super().__init__(request, mechanism)
        self.runs = stable_runs(mechanism, self.dataset, self.problem, seed=request.seed)
        self.refused = 1 - self.runs.observed.share
        self.curve = _stability_curve(self.runs, threshold=mechanism.threshold)

    @override
    def draw_headline(self) -> None:
        mechanism, runs = self.mechanism, self.runs
        what = mechanism.noun
        if isinstance(mechanism, StableMedian):
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
        left, right = st.columns(2)
        with left:
            st.subheader("When one person changes")
            st.markdown(_neighbours_table(self.runs))
            if isinstance(self.mechanism, StableMedian):
                self._draw_always_answering(self.mechanism.quantile)
        with right:
            st.subheader(
                "Where is the privacy lost?",
                help="The same rule without randomness: an answer if no single row can change it, else none. "
                "Propose-test-release instead proposes an answer, tests privately how many rows another answer is "
                "away, and then releases it. Noise scaled to smooth sensitivity uses the same distance.",
            )
            picture = without_randomness(self.mechanism, delta=self.runs.edge)
            self.request.draw(picture, key="robust_step", title="one row changes", badge=self.request.badge("exact"))

    def _draw_always_answering(self, quantile: float) -> None:
        """Draw answers of the exponential median, which never refuses, and its theorem."""
        st.subheader(
            "A mechanism that always answers",
            help="The stable median is never wrong if it answers. A mechanism that always answers may have an error "
            "instead. The exponential median is inverse sensitivity (Asi and Duchi 2020): a value is the likelier, the "
            "fewer rows must change before it is the median.",
        )
        epsilon, domain = self.mechanism.epsilon, self.problem.domain
        if is_number(domain) and self.runs.cell < domain.ordered:
            seed = self.request.seed
            values = always_answering(self.dataset, self.problem, epsilon=epsilon, quantile=quantile, seed=seed)
            picture = answers(domain=domain, truth=self.runs.cell, values=values)
            self.request.draw(picture, key="robust_wrong", title="answers of the exponential median")
        self._draw_rank_theorems(quantile)

    def _draw_rank_theorems(self, quantile: float) -> None:
        """Draw the guaranteed rank error of the exponential median, and on demand its lower bound."""
        problem = self.problem
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


def without_randomness(mechanism: StableAnswer, *, delta: float) -> Picture:
    """Return the chance of an answer at small stabilities, by the notes' first rule, which has no coin, and by this."""
    rows = np.arange(1, max(6, mechanism.threshold + 4))
    certain, chance = (rows > 1).astype(np.float64), mechanism.chance(rows)
    lost = float(np.maximum(np.diff(certain) - math.expm1(mechanism.epsilon) * certain[:-1], 0).max())
    return Picture(
        title="Probability of an answer, with and without randomness",
        x=Axis(title="stability: rows that must change", low=0.5, high=float(rows[-1])),
        y=Axis(title="probability of an answer", low=-0.04, high=1.15, form="~p", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            Curve(role="theory", name="with randomness", x=rows, y=chance),
            Curve(role=WRONG, name="without: not private", x=rows, y=certain, dash="dash"),
            Dots(role=WRONG, x=[1], y=[0.0], size=10, shape="x", hover=["one person can change it: never an answer"]),
            Dots(role=WRONG, x=[2], y=[1.0], size=10, shape="x", hover=["its neighbour: always an answer"]),
        ],
        sentence="Without randomness, data whose answer no single person can change always have an answer, and data "
        f"whose answer one can change never have one. Some of these are neighbours, so δ = {lost:g} at any ε. With "
        f"randomness, one row adds at most {rounded_up(delta)} to e^ε times the probability.",
        table={
            "rows that must change": rows.tolist(),
            "without randomness": certain.tolist(),
            "with": short_numbers(chance),
        },
        height=230,
    )
