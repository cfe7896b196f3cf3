"""The outcome of previews on the One number page: what each of its mechanisms shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import streamlit as st

from dpcore.core import Dataset, Guarantee, Mechanism, Problem
from dplab.robust import TRIALS
from pages.one_number.controls import OneNumberRequest
from pages.shell.theorem import all_digits


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome(ABC):
    """Previews of one mechanism, and how they are drawn.

    Attributes:
        request: the settings.
        dataset: the rows.
        problem: the public problem.
        mechanism: the mechanism at these settings.
        trials: the number of previews.
        without_number: whether rows without a number are left out.
    """

    request: OneNumberRequest
    dataset: Dataset
    problem: Problem
    mechanism: Mechanism
    trials: int = TRIALS
    without_number: bool = False

    @abstractmethod
    def draw_headline(self) -> None:
        """Draw the outcome in a sentence or two."""

    @abstractmethod
    def draw_answer(self) -> None:
        """Draw the answers, or the chance of one."""


class RefusableOutcome(Outcome):
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
