"""Lesson: noisy counts of groups reveal the secrets of single people."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpcore.core import Booleans, exactly
from dpcore.data.bundled import bundled
from dpcore.limits.attacks import subset_sum
from dpcore.randomness import Preview, PublicCoins
from dplab.limits import subset_sums
from pages.charts.words import percent
from pages.learn import kit, screen
from pages.learn.subset import figure
from pages.learn.subset.own_data import own_data
from pages.shell.controls import choice, stops, whole
from pages.shell.presentation import outside_presentation, presentation_place
from pages.shell.tasks.memory import remember, with_progress

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


VIEWS = ("More noise", "Fewer queries", "One attack")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: one attack, and the share found by noise and by number of queries."""
    kit.intro(
        "Everyone has one secret bit. Published is only **how many people in a random group have a 1**, with "
        "noise. The attacker searches for bits that fit all answers."
    )
    with presentation_place("slider"):
        error = whole("Noise: largest error of an answer, ±", 0, 60, 7, key="subset-noise")
    questions = int(stops("Queries", (50, 100, 200, 500, 1000, 2000), 1000, key="subset-questions"))
    with kit.more(), outside_presentation():
        people = int(stops("People n", (20, 50, 100, 200, 344, 500), 200, key="subset-people"))
        secret = choice("Secret column", SECRETS, key="subset-secret", default="adult.sex")
        method = choice("Attack", METHODS, key="subset-method")
        loss = kit.epsilon("subset", default=1.0)
        drawn = kit.draws_seed()
    truth, words = secret_bits(secret, people=people, seed=drawn)
    people = len(truth)
    guess = screen.guess_percent(
        "subset",
        f"{people} people and {questions:,} answers, each with an error of up to {error} "
        f"{'person' if error == 1 else 'people'}. Which "
        "share of the secret bits does the attack find?",
        default=60,
    )
    kind = "generated" if secret == "generated" else "bundled sample"
    badge = f"true: {kind} · answers: simulated, preview sampler, seed {drawn}"
    masks = subset_sum.random_groups(Preview(drawn + 1), people=people, groups=questions)
    key = f"{secret}|{people}|{questions}|{drawn}"
    attack = with_progress(
        f"limits-bits|{key}|{error}|{method}",
        lambda: subset_sums.attack(masks, truth, error=error, method=method, seed=drawn + 2),
        label="Solving for the bits with more and more answers.",
    )
    share = float(((attack.estimates[0] > 0.5) == truth).mean())
    work = partial(subset_sums.sweep, masks, truth, error=error, seed=drawn + 3)
    swept = with_progress(f"limits-subset|{key}|{error}", work, label="Attacking.")
    attacks = swept.by_noise[int(np.argmin(np.abs(swept.errors - error)))]
    usual = float(attacks.mean())
    blind = max(float(truth.mean()), 1 - float(truth.mean()))
    kit.show_result(
        f"One attack finds **{percent(share)}** of the {people} secret bits "
        f"({'' if method == 'squares' else 'least squares '}{percent(usual)} on average; always guessing "
        f"the more common bit: {percent(blind)}); you guessed {guess}%. {kit.SIMULATED}",
        verdict=screen.verdict(guess, 100 * share, unit=" points", near=2),
    )
    bound = subset_sum.error_bound(masks, epsilon=loss, beta=0.05)
    noise = figure.by_noise(
        shares=swept, people=people, error=error, forced=bound.value * people, blind=blind, guess=guess / 100
    )
    fewer = figure.by_questions(shares=swept, people=people, error=error, question_count=questions)
    chosen = kit.pictures("subset", *VIEWS)
    if chosen == VIEWS[0]:
        kit.picture(noise, key="subset_noise", badge=f"{badge} · least squares")
    elif chosen == VIEWS[1]:
        kit.picture(fewer, key="subset_questions", badge=f"{badge} · least squares")
    else:
        bits = figure.bits(truth=truth, estimates=attack.estimates[0], words=words)
        kit.picture(bits, key="subset_bits", badge=badge)
    promised = float(np.interp(error, swept.levels, swept.proved))
    nothing = (
        f" At this noise the theorem guarantees nothing. Still, all {len(attacks)} least-squares attacks "
        "find more than always guessing the more common bit."
        if promised <= 0 and attacks.min() > blind and screen.revealed()
        else ""
    )
    private = remember(
        f"limits-curator|{key}|{loss}", lambda: subset_sums.private_share(masks, truth, epsilon=loss, seed=drawn + 4)
    )
    kit.theorem(
        r"\#\{\text{wrong bits}\}\le\frac{4mE^2}{s^2}",
        f"{bound.statement} {kit.THEORY}",
        f"To keep all {questions:,} answers private together at ε = {exactly(loss)}, noise needs a scale "
        f"of {questions / loss:,.0f}. The same attack then finds {percent(private)} of the bits. "
        f"{kit.SIMULATED} Least squares amplifies noise most if there are as many queries as people.",
        reference=f"{bound.reference}; Dwork, McSherry and Talwar (2007) for sums of residuals.",
        meaning="Least squares on m answers with errors up to E. s is the smallest singular value of the 0-1 matrix of "
        f"people and groups.{nothing}",
    )
    kit.break_it(f"Noise well above √n hides many bits from {questions:,} queries.", "±40 people", {"subset-noise": 40})


def secret_bits(secret: str, *, people: int, seed: int) -> tuple[Booleans, tuple[str, str]]:
    """Return the bits (n,) and the words for 0 and 1; rows with neither are left out."""
    if secret == "generated":
        return Preview(seed).draw(PublicCoins(2, columns=people), 1)[0] == 1, ("0", "1")
    source = bundled(*secret.split("."))
    dataset = remember(f"dataset|{source.key}", source.dataset)
    rows = dataset.records[dataset.records < 2][:people]
    return rows == 1, (dataset.domain.describe(0), dataset.domain.describe(1))


LESSON = kit.Lesson(
    key="subset",
    question="Can you reconstruct secrets from noisy counts?",
    place=220,
    minutes=6,
    needs="least squares",
    class_questions=(
        "Every answer has an error of up to seven people. Why can the attack find the bits?",
        "How much noise stops the attack, compared with √n?",
        "Why does every query use privacy budget?",
    ),
    point=((90, 100),),
    show=lesson,
    own_data=own_data,
)
