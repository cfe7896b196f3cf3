"""Lesson: the same wall for questions that weigh people instead of counting them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Neighbours, exactly
from dpcore.experiments.limits.reconstruction import BETA
from dpcore.experiments.limits.weighted_halves import attack, measured_errors, unavoidable
from dpcore.limits.attacks import fat_shattering
from pages.learn.fat import figure
from pages.learn.kit import THEORY, draws_seed, epsilon, guess_answer, picture, relation, why
from pages.learn.pictures import epsilon_grid
from pages.shell.controls import stops, whole
from pages.shell.session import remembered

SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ANSWERS = {
    "blind": "It falls to a blind guess: such weak weights say nothing",
    "less": "It falls somewhat",
    "same": "It stays the same",
}


def lesson() -> None:
    """Controls, the question, one run, the share by scale, the three constants."""
    st.markdown(
        "A question need not count; it may **weigh**: so much for each person, between 0 and 1. Suppose that for every "
        "half of the people some question weighs that half only a little more than the others: γ above a level, "
        "instead of γ below it. Is an accurate answer still dangerous?"
    )
    left, right = st.columns(2)
    with left:
        points = int(stops("People d", (8, 16, 32, 64, 128, 256), 64, key="fat-points"))
        scale = stops("Scale γ", SCALES, 0.1, key="fat-scale", help_text="Half the weight between in and out.")
        loss = epsilon("fat", default=2.0)
    with right:
        uneven = whole("Levels differ by, in percent of γ", 0, 100, 50, key="fat-uneven")
        neighbours = relation(
            "fat",
            default=Neighbours.ADD_REMOVE_ONE,
            help_text="The paper's constant uses e^ε between data sets that differ in one row gone and one row new.",
        )
        drawn = draws_seed()
    guess = guess_answer(
        "fat",
        f"One release at ε = {exactly(loss)}. First the questions weigh 1 for in and 0 for out (γ = 0.5), then only "
        "0.51 and 0.49 (γ = 0.01). What happens to the share of the secret half that the attacker finds?",
        label="Your guess",
        answers=ANSWERS,
    )
    if guess is None:
        return
    st.markdown(
        f"“{ANSWERS[guess]}”: {'right' if guess == 'same' else 'not so'}. The share stays the same: the "
        "attacker knows the weights and scales them away."
    )
    badge = f"true: generated secret · released: simulated, preview sampler, seed {drawn}"
    seen = attack(
        points=points,
        scale=scale,
        scales=SCALES,
        spread=uneven / 100,
        epsilon=loss,
        neighbours=neighbours,
        seed=drawn,
    )
    left, right = st.columns(2)
    with left:
        picture(figure.weights(seen, scale=scale), key="fat_weights", badge=badge)
    with right:
        picture(figure.by_scale(scales=SCALES, shares=seen.shares, scale=scale), key="fat_scale", badge=badge)
    errors = remembered(
        f"limits-fat|{points}|{scale}|{uneven}|{neighbours}|{drawn}",
        lambda: measured_errors(points=points, levels=seen.levels, scale=scale, neighbours=neighbours, seed=drawn),
    )
    spread = float(np.ptp(seen.levels))
    forbidden = unavoidable(epsilon_grid(loss), points=points, scale=scale, spread=spread, neighbours=neighbours)
    picture(
        figure.errors_by_epsilon(forbidden=forbidden, points=points, epsilon=loss, measured=errors),
        key="fat_constants",
        badge=badge,
    )
    bound = fat_shattering.error_bound(
        points=points, scale=scale, spread=spread, epsilon=loss, neighbours=neighbours, beta=BETA
    )
    why(
        r"(2\gamma-s)\,|T\setminus T'|\le2\alpha n",
        "An attacker who reads answers within α finds a half T' that misses few of the true half T; s is how far the "
        "levels lie apart.",
        "What shrinks with γ is only the error that gives protection.",
        f"{bound.statement} {bound.note} {THEORY}",
        proved=f"{bound.reference}; Lemmas 1 and 2.",
    )
