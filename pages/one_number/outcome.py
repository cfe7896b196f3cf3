"""The outcome of previews on the One number page: what each of its mechanisms shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import streamlit as st

from dpcore.core import Guarantee, Mechanism
from dplab.robust import TRIALS
from pages.one_number.controls import OneNumberRequest
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

    @abstractmethod
    def draw_headline(self) -> None:
        """Draw the outcome in a sentence or two."""

    @abstractmethod
    def draw_answer(self) -> None:
        """Draw the answers, or the chance of one."""


class RefusableOutcome(Outcome[MechanismT]):
    """Previews of a mechanism that refuses to answer at random."""

    @abstractmethod
    def draw_one_person(self) -> None:
        """Draw the effect of one changed row on the chance of an answer."""


def draw_privacy(guarantee: Guarantee, *, text: str) -> None:
    """Draw the guarantee, rounded up; a text and all its digits on demand."""
    st.markdown(
        f"Privacy: {guarantee.sentence()}, for each single answer. :orange-badge[theory]",
        help=" ".join(part for part in (text, all_digits(guarantee)) if part),
    )
