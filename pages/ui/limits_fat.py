"""Lesson: the same wall for questions that weigh people instead of counting them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Floats, Neighbours, exactly
from dpcore.figures import limits_fat as figures
from dpcore.figures.limits_vc import BETA
from dpcore.limits import fat_shattering, halves
from dpcore.mechanisms import entry
from dpcore.randomness import Preview
from pages.ui.charts import is_dark
from pages.ui.limits_kit import THEORY, epsilon, guess_answer, picture, reference, seed, slider, stops
from pages.ui.limits_runs import EPSILONS, release_half, weighted_error
from pages.ui.session import remembered

SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
RUNS = 200
IDENTITY = entry("identity")
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
        "instead "
        "of γ below it. Is an accurate answer still dangerous?"
    )
    left, right = st.columns(2)
    with left:
        points = int(stops("People d", (8, 16, 32, 64, 128, 256), 64, key="fat-points"))
        scale = stops("Scale γ", SCALES, 0.1, key="fat-scale", help_text="Half the weight between in and out.")
        loss = epsilon("fat", default=2.0)
    with right:
        uneven = slider("Levels differ by, in percent of γ", 0, 100, 50, key="fat-uneven")
        neighbours = Neighbours(
            st.radio(
                "Neighbours", [str(each) for each in Neighbours], format_func=lambda each: Neighbours(each).words,
                key="fat-neighbours", bind="query-params", index=1,
                help="The paper's constant uses e^ε between two data sets that differ in one row gone and one row new.",
            )
        )  # fmt: skip
        drawn = seed()
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
        "attacker knows the weights and scales them away. What shrinks with γ is only the error that gives protection."
    )
    unit = np.random.Generator(np.random.SFC64(drawn)).permutation(np.linspace(-0.5, 0.5, points))
    truth = halves.random_half(Preview(drawn), points=points)[0]
    badge = f"true: generated secret · released: simulated, preview sampler, seed {drawn}"
    sampler = Preview(drawn + 1)
    release = release_half(
        IDENTITY, truth, repeats=1, epsilon=loss, sampler=sampler, trials=RUNS,
        neighbours=neighbours,
    )  # fmt: skip
    shares = np.array([
        halves.recovered(fat_shattering.reconstruct(release, levels=_levels(unit, each, uneven), scale=each), truth)
        for each in SCALES
    ])  # fmt: skip
    levels = _levels(unit, scale, uneven)
    spread = float(np.ptp(levels))
    one = fat_shattering.reconstruct(release.part(0, 1), levels=levels, scale=scale)
    left, right = st.columns(2)
    with left:
        picture(
            figures.weights(levels=levels, scale=scale, truth=truth, chosen=one.chosen[0], badge=badge, dark=is_dark()),
            title="One question, one attack",
            key="fat_weights",
        )
    with right:
        picture(
            figures.by_scale(scales=SCALES, shares=shares, scale=scale, badge=badge, dark=is_dark()),
            title="The share found, at every scale",
            key="fat_scale",
        )
    errors = remembered(
        f"limits-fat|{points}|{scale}|{uneven}|{neighbours}|{drawn}",
        lambda: np.array([
            weighted_error(
                release_half(
                    IDENTITY, truth, repeats=1, epsilon=at, sampler=sampler, trials=RUNS, neighbours=neighbours
                ),
                truth, levels=levels, scale=scale,
            )
            for at in EPSILONS
        ]),
    )  # fmt: skip
    picture(
        figures.unavoidable(
            points=points, scale=scale, spread=spread, epsilon=loss, neighbours=neighbours,
            measured=(EPSILONS, errors), badge=badge, dark=is_dark(),
        ),
        title="The error nobody can avoid",
        key="fat_constants",
    )  # fmt: skip
    bound = fat_shattering.error_bound(
        points=points, scale=scale, spread=spread, epsilon=loss, neighbours=neighbours, beta=BETA
    )
    st.markdown(f"{bound.statement} {bound.note} {THEORY}")
    reference(f"{bound.reference}; Lemmas 1 and 2.")


def _levels(unit: Floats, scale: float, uneven: int) -> Floats:
    """Levels around one half, their spread a share of the scale; weights stay within [0, 1]."""
    room = min(uneven / 100 * scale, 1 - 2 * scale)
    return 0.5 + room * unit
