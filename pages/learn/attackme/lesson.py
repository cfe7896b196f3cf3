"""Lesson: type sixteen secrets; counts of groups, in which nobody is named, give them back."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import exactly
from dpcore.experiments.limits import typed_bits
from pages.charts.words import percent
from pages.learn.attackme import figure
from pages.learn.kit import SIMULATED, draws_seed, guess_number, picture, why
from pages.shell.controls import choice, stops
from pages.shell.session import with_progress

PEOPLE = tuple(range(1, typed_bits.PEOPLE + 1))
BEFORE = (2, 3, 5, 8, 13)
"""Who says yes until the reader says otherwise; what they say stays in their session, and in no link."""


def lesson() -> None:
    """Sixteen answers, the question, what the attacker finds, and how much noise would stop it."""
    st.markdown(
        f"Sixteen people answer a question, and nobody should know their answers. Published are only **counts**: of "
        f"{typed_bits.GROUPS} random groups, how many say yes; no name, no single answer. Is that anonymous? "
        "Guess, look, then make the counts private, and watch the attack fail."
    )
    chosen = st.pills(
        "Who says yes? Change it: these are your secrets.",
        PEOPLE,
        selection_mode="multi",
        default=BEFORE,
        key="attack-me-bits",
        persist_state="session",
    )
    bits = np.isin(PEOPLE, chosen)
    left, right = st.columns(2)
    with left:
        noisy = choice("The counts are", {"exact": "exact", "noisy": "private"}, key="attack-me-counts") == "noisy"
    with right:
        epsilon = stops("Privacy loss ε of all counts together", typed_bits.LOSSES, 1.0, key="attack-me-epsilon")
        drawn = draws_seed()
    guess = guess_number(
        "attack-me",
        f"{typed_bits.GROUPS} exact counts of random groups among 16 people. How many of the 16 answers can somebody "
        "who sees nothing else work out?",
        label="Your guess, people",
        low=0,
        high=16,
        default=8,
    )
    if guess is None:
        return
    loss = epsilon if noisy else None
    found = typed_bits.attack(bits, epsilon=loss, seed=drawn)
    with_noise = f"noise at ε = {exactly(epsilon)}" if noisy else "exact counts"
    badge = f"true: typed by you · simulated, preview sampler, seed {drawn}"
    st.markdown(
        f"With {with_noise}, least squares finds **{round(found.share * 16)} of 16** answers; you guessed {guess}. "
        f"{SIMULATED}"
    )
    left, right = st.columns(2)
    with left:
        picture(figure.bits(truth=bits, found=found), key="attackme_bits", badge=badge)
    with right:
        shares = with_progress(
            f"limits-attack-me|{bits.tolist()}|{drawn}",
            lambda: typed_bits.sweep(bits, seed=drawn),
            label="Attacking 3,600 times.",
        )
        shown = figure.over_epsilon(shares=shares, epsilon=loss, guess=guess / 16)
        picture(shown, key="attackme_epsilon", badge=badge)
    first = " + ".join(f"x_{{{person}}}" for person in typed_bits.told(found, 0))
    st.latex(rf"{first} = {found.answers[0]:g}")
    if noisy:
        best = float(typed_bits.best_possible(np.array([epsilon]))[0])
        st.markdown(
            f"**Break it:** raise ε. At ε = {exactly(epsilon)} nobody, whatever they know of the others, finds more "
            f"than {percent(best)} of the answers on average."
        )
    else:
        st.markdown("**Break it:** make the counts private, and move ε.")
    why(
        r"\mathbb{E}[\text{share found}]\le\frac{e^{\varepsilon}}{1+e^{\varepsilon}}",
        "Above the theorem: the first published count as the attacker reads it, one equation in sixteen unknowns, and "
        f"there are {typed_bits.GROUPS} of them.",
        "Whoever knows all the others still faces odds of e^ε at most, for each answer on its own.",
        proved="Dinur and Nissim (2003); the wall: odds of e^ε at most, for each answer on its own.",
    )
