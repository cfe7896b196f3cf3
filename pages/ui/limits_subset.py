"""Lesson: nobody's secret is published, only noisy group counts; and still the secrets come out."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Booleans, Floats, exactly
from dpcore.figures import limits_subset as figures
from dpcore.figures.figure import percent
from dpcore.limits import subset_sum
from dpcore.limits.curator import BoundedNoise, PrivateNoise
from dpcore.randomness import Preview
from dpcore.sources import Bundled
from pages.ui.charts import is_dark
from pages.ui.controls import choice
from pages.ui.limits_kit import SIMULATED, THEORY, epsilon, guess_number, picture, reference, seed, slider, stops
from pages.ui.session import remembered, with_progress

SECRETS = {
    "generated": "Generated: a fair coin each",
    "adult.sex": "Adult census extract: sex",
    "adult.income": "Adult census extract: income above 50,000",
    "penguins.sex": "Palmer penguins: sex",
}
METHODS = {
    "squares": "Least squares (at once)",
    "largest": "Linear program: small largest residual",
    "sum": "Linear program: small sum of residuals",
}
MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
RUNS = 6


def lesson() -> None:
    """Controls, the question, one attack, the share against noise and against questions."""
    st.markdown(
        "Everyone has one secret bit. Nobody's bit is ever published: only **how many in a random group have a 1**, "
        "with "
        "some noise. An attacker looks for the bits that fit all these answers best."
    )
    left, right = st.columns(2)
    with left:
        secret = choice("Secret column", SECRETS, key="subset-secret", default="adult.sex")
        people = int(stops("People n", (20, 50, 100, 200, 344, 500), 200, key="subset-people"))
        questions = int(stops("Questions", (50, 100, 200, 500, 1000, 2000), 1000, key="subset-questions"))
    with right:
        error = slider("Noise: every answer is off by up to ±", 0, 60, 7, key="subset-noise")
        method = choice("Attack", METHODS, key="subset-method")
        drawn = seed()
    loss = epsilon("subset", default=1.0)
    truth, words = secret_bits(secret, people=people, seed=drawn)
    people = len(truth)
    guess = guess_number(
        "subset",
        f"{people} people, {questions:,} answers, each off by up to {error} people. What share of the secret bits does "
        "the "
        "attack find?",
        label="Your guess, percent",
        low=0,
        high=100,
        default=60,
        unit="%%",
    )
    if guess is None:
        return
    kind = "generated" if secret == "generated" else "bundled sample"
    badge = f"true: {kind} · answers: simulated, preview sampler, seed {drawn}"
    masks = subset_sum.random_groups(Preview(drawn + 1), people=people, groups=questions)
    key = f"{secret}|{people}|{questions}|{drawn}"
    found = with_progress(
        f"limits-bits|{key}|{error}|{method}",
        lambda: attack(masks, truth, error=error, method=method, seed=drawn),
        label="Solving, with more and more answers.",
    )
    figure = figures.bits(truth=truth, estimates=found.estimates[0], words=words, badge=badge, dark=is_dark())
    picture(figure, title="One attack", key="subset_bits")
    sweep = with_progress(
        f"limits-subset|{key}|{error}", lambda: measure(masks, truth, error=error, seed=drawn), label="Attacking."
    )
    bound = subset_sum.error_bound(masks, epsilon=loss, beta=0.05)
    left, right = st.columns(2)
    with left:
        picture(
            figures.by_noise(
                people=people, error=error, errors=sweep.errors, shares=sweep.by_noise, proved=sweep.proved,
                forced=bound.value * people, blind=max(float(truth.mean()), 1 - float(truth.mean())),
                guess=guess / 100, badge=f"{badge} · least squares", dark=is_dark(),
            ),
            title="More noise",
            key="subset_noise",
        )  # fmt: skip
    with right:
        picture(
            figures.by_questions(
                people=people, questions=sweep.questions, shares=sweep.by_questions, asked=questions,
                badge=f"{badge} · least squares", dark=is_dark(),
            ),
            title="Fewer questions",
            key="subset_questions",
        )  # fmt: skip
    st.markdown(f"{bound.statement} {THEORY}")
    private = remembered(f"limits-curator|{key}|{loss}", lambda: private_share(masks, truth, epsilon=loss, seed=drawn))
    st.markdown(
        f"Enough noise to keep all {questions:,} answers together private at ε = {exactly(loss)} has scale "
        f"{questions / loss:,.0f}; then the same attack finds {percent(private)} of the bits. {SIMULATED} Least "
        "squares is at its "
        "weakest where there are as many questions as people: every error is magnified."
    )
    reference(f"{bound.reference}; Dwork, McSherry and Talwar (2007) for sums of residuals.")


def secret_bits(secret: str, *, people: int, seed: int) -> tuple[Booleans, tuple[str, str]]:
    """The bits (n,) and the words for 0 and 1; rows of a real sample that hold neither are left out."""
    if secret == "generated":
        return Preview(seed).integers(2, columns=people, trials=1)[0] == 1, ("0", "1")
    source = Bundled(sample_key=secret.split(".")[0], column_name=secret.split(".")[1])
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    rows = dataset.records[dataset.records < 2][:people]
    return rows == 1, (dataset.domain.describe(0), dataset.domain.describe(1))


def attack(
    masks: Booleans, truth: Booleans, *, error: int, method: str, seed: int
) -> Generator[float, None, subset_sum.Guess]:
    """One attack; the linear program yields after every doubling of the answers it uses."""
    answers = BoundedNoise(bits=truth, error=error, sampler=Preview(seed + 2))(masks)
    if method == "squares":
        return subset_sum.least_squares(masks, answers)
    yield 0.0
    guess = None
    for guess in subset_sum.linear_program(masks, answers[0], cost=method):
        yield guess.done
    return guess if guess is not None else subset_sum.least_squares(masks, answers)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """Shares found by least squares: by noise (K, RUNS), and what is proved (K,); by questions (J, RUNS)."""

    errors: Floats
    by_noise: Floats
    proved: Floats
    questions: tuple[int, ...]
    by_questions: Floats


def measure(masks: Booleans, truth: Booleans, *, error: int, seed: int) -> Generator[float, None, Measured]:
    """All noises in one least-squares fit, then fewer and fewer questions."""
    yield 0.0
    groups, people = masks.shape
    sampler, root = Preview(seed + 3), math.sqrt(people)
    errors = sorted({round(multiple * root) for multiple in MULTIPLES} | {error})
    answers = [BoundedNoise(bits=truth, error=each, sampler=sampler, trials=RUNS)(masks) for each in errors]
    guess = subset_sum.least_squares(masks, np.concatenate(answers))
    by_noise = subset_sum.recovered(guess, truth).reshape(len(errors), RUNS)
    yield 0.4
    weakest = subset_sum.strength(masks)
    wrong = (
        4 * groups * np.array(errors, dtype=np.float64) ** 2 / weakest**2 if weakest else np.full(len(errors), people)
    )
    yield 0.5
    asked = tuple(sorted({max(5, round(groups * share)) for share in (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)}))
    shares = []
    for number, each in enumerate(asked):
        noisy = BoundedNoise(bits=truth, error=error, sampler=sampler, trials=RUNS)(masks[:each])
        shares.append(subset_sum.recovered(subset_sum.least_squares(masks[:each], noisy), truth))
        yield 0.5 + 0.5 * (number + 1) / len(asked)
    return Measured(
        errors=np.array(errors, dtype=np.float64),
        by_noise=by_noise,
        proved=1 - np.minimum(np.floor(wrong * (1 + 1e-9)), people) / people,
        questions=asked,
        by_questions=np.array(shares),
    )


def private_share(masks: Booleans, truth: Booleans, *, epsilon: float, seed: int) -> float:
    """Mean share that least squares finds in private answers."""
    curator = PrivateNoise(bits=truth, epsilon=epsilon, sampler=Preview(seed + 4), trials=RUNS)
    return float(subset_sum.recovered(subset_sum.least_squares(masks, curator(masks)), truth).mean())
