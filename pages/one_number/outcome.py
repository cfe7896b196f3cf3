"""The outcome of previews on the One number page: what each of its mechanisms shows."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import streamlit as st
from typing_extensions import override

from dpcore.core import Mechanism
from dpcore.data.columns import Number, is_number
from dpcore.queries.ranges import Thresholds
from dplab.robust import TRIALS, present_rows
from pages.charts.picture import Picture
from pages.one_number.controls import OneNumberRequest
from pages.one_number.runs import outcomes
from pages.one_number.words import refusals
from pages.shell.theorem import all_digits

MechanismT = TypeVar("MechanismT", bound=Mechanism)


class Outcome(ABC, Generic[MechanismT]):
    """Previews of one mechanism, and how they are drawn.

    Attributes:
        request: the settings.
        mechanism: the mechanism at these settings.
        dataset: the rows.
        problem: the public problem.
        trials: the number of previews.
        without_number: whether rows without a number are left out.
    """

    trials = TRIALS
    without_number = False

    def __init__(self, request: OneNumberRequest, mechanism: MechanismT) -> None:
        """Read the rows; subclasses preview the mechanism on them."""
        self.request, self.mechanism, self.dataset = request, mechanism, request.dataset()
        self.problem = request.problem(self.dataset.n)

    def leave_out_missing(self) -> Number:
        """Leave out rows without a number, as only previews may; return the domain of numbers."""
        self.without_number = self.problem.domain.missing
        if self.without_number:
            self.dataset = present_rows(self.dataset)
        domain = self.dataset.domain
        assert is_number(domain)
        queries = Thresholds(domain=domain)
        self.problem = dataclasses.replace(self.problem, domain=domain, queries=queries, n=self.dataset.n)
        return domain

    @abstractmethod
    def draw_headline(self) -> None:
        """Draw the outcome in a sentence or two."""

    @abstractmethod
    def draw_answer(self) -> None:
        """Draw the answers, or the chance of one."""


class RefusableOutcome(Outcome[MechanismT]):
    """Previews of a mechanism that refuses to answer at random.

    Attributes:
        refused: the share of previews without an answer.
        wrong: the share of previews with another answer than the whole data give.
        curve: the chance of an answer, for the data and their neighbours.
        badge: the badge of exact chances.
        privacy_help: a sentence about the privacy guarantee.
    """

    refused: float
    wrong = 0.0
    curve: Picture
    badge = ""
    privacy_help: str

    @override
    def draw_answer(self) -> None:
        request, guarantee = self.request, self.mechanism.guarantee(self.problem)
        left, right = st.columns(2)
        with left:
            st.subheader("Probability of an answer")
            request.draw(self.curve, key="robust_chance", title="probability of an answer", badge=self.badge)
        with right:
            picture = outcomes(refused=self.refused, wrong=self.wrong)
            request.draw(picture, key="robust_outcomes", title="outcomes", heading="Results of the runs")
            st.markdown(
                f"Privacy: {guarantee.sentence()}, for each single answer. :orange-badge[theory]",
                help=" ".join(part for part in (self.privacy_help, all_digits(guarantee)) if part),
            )

    @abstractmethod
    def draw_one_person(self) -> None:
        """Draw the effect of one changed row on the chance of an answer."""


def draw_refusals(share: float) -> None:
    """Draw the share of refusals as the headline."""
    words = refusals(share)
    st.header(f"{words[0].upper()}{words[1:]}")
