"""Lesson: a mechanism that protects every person and betrays the population."""

from __future__ import annotations

import streamlit as st

from dpcore.core import ParameterError, exactly
from dpcore.figures import limits_population as figures
from dpcore.figures.figure import significant
from dpcore.limits import distributional
from pages.ui.charts import is_dark
from pages.ui.limits_kit import THEORY, guess_number, picture, reference, stops
from pages.ui.session import remembered

FAR = 4
"""How many lengths of the ruler a count must wander before its folded place says next to nothing of it."""


def lesson() -> None:
    """Controls, the question, the chance that two samples are told apart."""
    st.markdown(
        "Two polls ask different people of the **same** population. Surely a private answer to the one looks like a "
        "private "
        "answer to the other? Take the number of people who say yes, and fold it like a ruler: 0, 1, … up to m − 1, "
        "then "
        "back to 0, and so on. One person moves it by 1 at most, so a little noise makes it private."
    )
    left, right = st.columns(2)
    with left:
        n = int(stops("Rows n of each sample", (10, 100, 1000, 10_000, 100_000), 10_000, key="population-n"))
    with right:
        losses = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
        loss = stops("Privacy loss ε", losses, 0.1, key="population-epsilon", help_text="The ruler has length 2/ε.")
    guess = guess_number(
        "population",
        f"ε = {exactly(loss)} hides every single row. How often are two samples of the same population told apart with "
        f"a loss of **1 or more**{f', {significant(1 / loss)} times ε' if loss < 1 else ''}?",
        label="Your guess, percent of all pairs",
        low=0,
        high=100,
        default=0,
        unit="%%",
    )
    if guess is None:
        return
    apart = remembered(f"limits-population|{n}|{loss}", lambda: distributional.separation(n=n, epsilon=loss))
    try:
        limit = distributional.limit_far(loss)
    except ParameterError:
        limit = None
    picture(
        figures.told_apart(
            apart=apart, n=n, limit=limit, guess=guess / 100, badge="exact theory, nothing sampled", dark=is_dark()
        ),
        title="Two samples of one population",
        key="population_apart",
    )
    wanders = f"The count of a sample wanders by about √n = {significant(n**0.5)}"
    if n**0.5 >= FAR * apart.modulus:
        text = f"{wanders}, far more than the ruler's length {apart.modulus}: folded, they are as good as independent."
    else:
        text = (
            f"{wanders}, and the ruler's length is {apart.modulus}: with more rows the folded answers would be freer."
        )
    least = apart.beta(1.0)
    st.markdown(
        f"{text} Differential privacy protects rows; the stronger *distributional* privacy, which net mechanisms have, "
        "protects the sample. "
        + (
            f"Here it fails: (1, β)-distributional privacy needs β of at least {significant(least)}."
            if least
            else "At so large an ε, or on so few rows, this example does not break it."
        )
        + f" {THEORY}"
    )
    reference("Blum, Ligett and Roth (2013), section 7, Theorems 7.3 and 7.5.")
