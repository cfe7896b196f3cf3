"""Medians that always answer, near the exact one: with smooth noise, and near the middle of subsamples' answers."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Generic, TypeVar

import numpy as np
import streamlit as st
from typing_extensions import override

from dpcore.core import Integers, Mechanism, ValueRelease, rounded_up
from dpcore.data.columns import Number, is_number
from dpcore.mechanisms.robust.smooth_median import SmoothMedian, power_of_two_delta, smooth_sensitivity
from dpcore.mechanisms.subsamples.near import MedianOfMedians
from dpcore.randomness import Preview
from dplab.robust import VoteLaws
from pages.charts.picture import Axis, Bars, Curve, Dots, Picture, Rule
from pages.charts.words import percent, short_numbers, significant
from pages.one_number.controls import OneNumberRequest
from pages.one_number.outcome import Outcome
from pages.one_number.runs import answers
from pages.one_number.subsamples import EXACT, vote_laws
from pages.shell.theorem import BETA, all_digits

AnsweringT = TypeVar("AnsweringT", bound=Mechanism)


class NearOutcome(Outcome[AnsweringT], Generic[AnsweringT]):
    """Previews of a median that always answers.

    Attributes:
        truth: the exact answer's cell.
        values: released cells, (T,).
    """

    truth: int
    values: Integers

    @property
    def domain(self) -> Number:
        """The numbers of which the median is."""
        assert is_number(self.problem.domain)
        return self.problem.domain

    def preview(self) -> None:
        """Sample the released cells."""
        state = self.mechanism.prepare(self.dataset, self.problem)
        release = self.mechanism.run(state, Preview(self.request.seed), self.trials)
        assert isinstance(release, ValueRelease)
        self.values = release.values

    @override
    def draw_headline(self) -> None:
        domain = self.domain
        off = float(np.quantile(np.abs(self.values - self.truth), 0.95)) * domain.width
        within = f"lie within {rounded_up(off)} {domain.unit} of the median" if off else "lie in the cell of the median"
        st.header(f"95 in 100 answers {within}")
        st.markdown(f"{self.about()} :gray-badge[true] :blue-badge[simulated]")

    @abstractmethod
    def about(self) -> str:
        """Return what the data are like, in a sentence."""

    @abstractmethod
    def own_picture(self) -> tuple[str, Picture, str]:
        """Return the title, the picture and the badge of why it is so near."""

    @override
    def draw_answer(self) -> None:
        domain, guarantee = self.domain, self.mechanism.guarantee(self.problem)
        left, right = st.columns(2)
        with left:
            picture = answers(domain=domain, truth=self.truth, values=self.values, key=self.request.entry.key)
            self.request.draw(picture, key="robust_wrong", title="answers", heading="Answers")
            st.markdown(
                f"Privacy: {guarantee.sentence()}, for each single answer. :orange-badge[theory]",
                help=all_digits(guarantee) or None,
            )
        with right:
            title, picture, badge = self.own_picture()
            self.request.draw(picture, key="robust_why", title=title, badge=self.request.badge(badge), heading=title)


class SmoothOutcome(NearOutcome[SmoothMedian]):
    """Previews of the median with smooth noise."""

    @override
    def __init__(self, request: OneNumberRequest, mechanism: SmoothMedian) -> None:
        super().__init__(request, mechanism)
        self.leave_out_missing()
        state = mechanism.prepare(self.dataset, self.problem)
        self.truth, _, self.moves = mechanism.step(state)
        self.preview()

    @override
    def about(self) -> str:
        domain, steps = self.domain, self.mechanism.ladder(self.problem)
        smooth = smooth_sensitivity(self.moves, smoothness=steps.smoothness) * domain.width
        coarse = power_of_two_delta(epsilon=self.mechanism.epsilon, delta=self.mechanism.delta, cells=domain.ordered)
        return (
            f"One row can move this median by up to **{significant(int(self.moves[0]) * domain.width)} "
            f"{domain.unit}**. Its smooth sensitivity is **{significant(smooth)} {domain.unit}**, rounded up to a "
            f"power of {significant(math.exp(steps.smoothness))}. With powers of two, δ would be {significant(coarse)}."
        )

    @override
    def own_picture(self) -> tuple[str, Picture, str]:
        domain, steps = self.domain, self.mechanism.ladder(self.problem)
        picture = smooth_picture(self.moves, smoothness=steps.smoothness, width=domain.width, unit=domain.unit)
        return "How far one row can move the median", picture, EXACT


class MedianOfMediansOutcome(NearOutcome[MedianOfMedians]):
    """Previews of a value near the middle of the subsamples' medians.

    Attributes:
        law: the law of a subsample's answer.
    """

    @override
    def __init__(self, request: OneNumberRequest, mechanism: MedianOfMedians) -> None:
        super().__init__(request, mechanism)
        self.law: VoteLaws = vote_laws(request, mechanism, self.dataset, self.problem)
        self.truth = int(self.law.state.question.values[self.law.truth])
        self.trials = max(20, min(self.trials, (1 << 22) // mechanism.buckets))
        release = mechanism.run(self.law.state, Preview(request.seed), self.trials)
        self.values = release.values

    def near(self) -> tuple[int, float, bool]:
        """Return the buckets within which enough subsamples answer, the share that does, and whether that is enough."""
        needed = self.mechanism.agreement_needed(self.mechanism.plan(self.problem), BETA)
        off = np.abs(np.arange(len(self.law.law)) - self.law.truth)
        shares = np.cumsum(np.bincount(off, weights=self.law.law))
        place = min(int(np.searchsorted(shares, needed - 1e-9)), len(shares) - 1)
        return place, float(shares[place]), needed <= 1

    @override
    def about(self) -> str:
        place, share, enough = self.near()
        words = f"within {place} bucket{'s' * (place != 1)} of it" if place else "the same"
        return (
            f"{percent(self.law.agreement)} of subsamples answer as the whole data do. {percent(share)} answer "
            f"{words}, {'which' if enough else 'and even that'} is {'' if enough else 'not '}enough."
        )

    @override
    def own_picture(self) -> tuple[str, Picture, str]:
        domain = self.domain
        law, question = self.law.law, self.law.state.question
        starts = domain.low + np.searchsorted(question.groups, np.arange(len(law))) * domain.width
        picture = Picture(
            title="Answers of the subsamples",
            x=Axis(title=domain.unit or "answer"),
            y=Axis(title="share of the subsamples", low=0, high=1.25 * float(law.max()), form="~p"),
            marks=[
                Bars(role="true", start=starts, end=np.append(starts[1:], domain.high), value=law, opacity=0.6),
                Rule(role="ink", x=float(domain.points()[self.truth]), label="whole data"),
            ],
            sentence=f"{percent(self.law.agreement)} of subsamples answer as the whole data do; the others lie close.",
            table={"answer": list(question.names), "share of subsamples": short_numbers(law)},
            height=230,
        )
        return "Answers of the subsamples", picture, EXACT


def smooth_picture(moves: Integers, *, smoothness: float, width: float, unit: str) -> Picture:
    """Return the picture of how far one row can move the median after k changed rows, and of its weighted values."""
    k = np.arange(len(moves))
    far, weighted = moves * width, moves * width * np.exp(-smoothness * k)
    best = int(np.argmax(weighted))
    shown = int(min(len(k), max(10, 3 * best + 1, np.searchsorted(far, far[-1]) + 1, 2 / smoothness)))
    places = np.unique(np.linspace(0, shown - 1, min(shown, 240)).round().astype(int))
    places = np.unique(np.append(places, best))
    return Picture(
        title="How far one row can move the median",
        x=Axis(title="rows changed before, k", low=0, high=max(1, shown - 1)),
        y=Axis(title=unit or "distance", low=0, high=1.15 * max(float(far[places].max()), width)),
        marks=[
            Curve(role="true", name="A_k: after k changed rows", x=places, y=far[places]),
            Curve(role="theory", name="e^(−βk)·A_k", x=places, y=weighted[places], dash="dash"),
            Dots(role="theory", name="S: the largest", x=[best], y=[float(weighted[best])], size=11, shape="diamond"),
            Rule(role="quiet", x=best, label=f"k = {best:,}", dash="dash"),
        ],
        sentence=f"Now one row can move the median by {significant(float(far[0]))} {unit}, after {best:,} changed "
        f"rows by {significant(float(far[best]))}. Weighted by e^(−βk) this is the largest: S = "
        f"{significant(float(weighted[best]))}.",
        table={"k": places.tolist(), "A_k": far[places].tolist(), "weighted": weighted[places].tolist()},
        height=230,
    )
