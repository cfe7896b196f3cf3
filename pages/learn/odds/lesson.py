"""Lesson: what an ε means to someone who already suspects you."""

from __future__ import annotations

import streamlit as st

from dpcore.core import exactly
from pages.learn.kit import THEORY, epsilon, guess_number, picture, why
from pages.learn.odds import figure
from pages.shell.controls import stops, whole


def lesson() -> None:
    """Controls, the question, belief before and after, chance of guessing right."""
    st.markdown(
        "Someone knows **everyone else** in the data, and suspects you. They look at what is released. How much surer "
        "can they be? Privacy loss ε says: their odds are multiplied by e^ε at most, whatever else they know and "
        "however they compute."
    )
    left, right = st.columns(2)
    with left:
        percents = whole("How sure they are before, percent", 1, 99, 10, key="odds-prior")
        loss = epsilon("odds", default=1.0)
    with right:
        delta = stops("Slack δ", (0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2), 0, key="odds-delta")
    prior = percents / 100
    guess = guess_number(
        "odds",
        f"They think it {percents}% likely. How likely can they think it at most, after a release at "
        f"ε = {exactly(loss)}?",
        label="Your guess, percent",
        low=0,
        high=100,
        default=50,
        unit="%%",
    )
    if guess is None:
        return
    badge = "exact theory: holds for every release and every attacker"
    left, right = st.columns(2)
    with left:
        shown = figure.belief(prior=prior, epsilon=loss, delta=delta, guess=guess / 100)
        picture(shown, key="odds_belief", badge=badge)
    with right:
        picture(figure.guessing(prior=prior, epsilon=loss, delta=delta), key="odds_guess", badge=badge)
    why(
        r"\frac{\Pr[\text{you}\mid y]}{\Pr[\text{not you}\mid y]}\le e^{\varepsilon}\,"
        r"\frac{\Pr[\text{you}]}{\Pr[\text{not you}]}\qquad(\delta=0)",
        "It does **not** say that nothing is learned about people like you, nor that bad odds were good before. The ε "
        f"of several releases add up, and a person with several rows gets the ε of each. {THEORY}",
        proved="Dwork, McSherry, Nissim and Smith (2006); Kasiviswanathan and Smith (2014); Wasserman and Zhou (2010), "
        "Theorem 2.4; Kairouz, Oh and Viswanath (2017) for δ.",
    )
