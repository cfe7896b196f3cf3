"""Lesson: the lower bound for queries that weigh people instead of counting them."""

from __future__ import annotations

import numpy as np

from dpcore.core import Neighbours, exactly
from dpcore.limits.attacks import fat_shattering
from dplab.limits.reconstruction import BETA
from dplab.limits.weighted_halves import attack, measured_errors, unavoidable
from pages.charts.words import percent
from pages.learn import kit, screen
from pages.learn.fat import figure
from pages.learn.pictures import epsilon_grid
from pages.shell.controls import stops, whole
from pages.shell.tasks.memory import remember

SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ANSWERS = {
    "blind": "It falls to that of a random guess",
    "less": "It falls somewhat",
    "same": "It stays about the same",
}


VIEWS = ("Share of the secret found", "One query", "Lower bound on the error")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: one run, the share found by scale, and the three constants."""
    kit.intro(
        "A query gives each person a **weight**. For every half of the people, some query adds γ to their "
        "usual weights and subtracts γ from all others. Does a small γ protect people?"
    )
    epsilon = kit.epsilon("fat", default=2.0)
    help_text = "Half of the difference in weight between inside and outside the half."
    scale = stops("Scale γ", SCALES, 0.1, key="fat-scale", help_text=help_text)
    with kit.more():
        points = int(stops("People d", (8, 16, 32, 64, 128, 256), 64, key="fat-points"))
        uneven = whole("Range of the levels, percent of γ", 0, 100, 50, key="fat-uneven")
        neighbours = kit.relation(
            "fat",
            default=Neighbours.ADD_REMOVE_ONE,
            help_text="The paper's constant uses a factor e^ε, although the data sets differ in two rows (one "
            "removed, one added).",
        )
        draw_seed = kit.draws_seed()
    guess = screen.guess_answer(
        "fat",
        f"One release at ε = {exactly(epsilon)}. The weights 1 and 0 (γ = 0.5) become about 0.51 and 0.49 "
        "(γ = 0.01). What happens to the share that the attacker finds?",
        answers=ANSWERS,
    )
    badge = f"true: generated secret · released: simulated, preview sampler, seed {draw_seed}"
    runs = attack(
        points=points,
        scale=scale,
        scales=SCALES,
        spread=uneven / 100,
        epsilon=epsilon,
        neighbours=neighbours,
        seed=draw_seed,
    )
    weak, strong = (percent(float(runs.shares[place].mean())) for place in (0, -1))
    kit.show_result(
        f"**{weak}** is found at γ = 0.01, **{strong}** at γ = 0.5. A small weight reduces the noise "
        f"as much as the secret. {kit.SIMULATED}",
        verdict=screen.grade(guess, "same", tuple(ANSWERS)),
    )
    spread = float(np.ptp(runs.levels))
    bound = fat_shattering.error_bound(
        points=points, scale=scale, spread=spread, epsilon=epsilon, neighbours=neighbours, beta=BETA
    )
    kit.theorem(
        r"s<2\gamma:\;(2\gamma-s)\,|T\setminus T'|\le2\alpha n",
        "Noise is added to the counts of people. With a smaller γ, a smaller error is enough to protect people: errors "
        "as large as γ hide the secret half.",
        f"{bound.statement} {bound.note} {kit.THEORY}",
        reference=f"{bound.reference}; Lemmas 1 and 2.",
        meaning="α: largest error of the answers, a share of n. They give a half T′ instead of the true half T. "
        "s: range of people's usual weights.",
    )
    settings = {"fat-scale": kit.stop(0.01), "fat-picture": VIEWS[2]}
    kit.break_it("A small γ makes only small errors impossible.", "Lower bound at γ = 0.01", settings)
    chosen = kit.pictures("fat", *VIEWS)
    if chosen == VIEWS[0]:
        shown = figure.by_scale(scales=SCALES, shares=runs.shares, scale=scale)
        return kit.picture(shown, key="fat_scale", badge=badge)
    if chosen == VIEWS[1]:
        return kit.picture(figure.weights(runs, scale=scale), key="fat_weights", badge=badge)
    errors = remember(
        f"limits-fat|{points}|{scale}|{uneven}|{neighbours}|{draw_seed}",
        lambda: measured_errors(points=points, levels=runs.levels, scale=scale, neighbours=neighbours, seed=draw_seed),
    )
    forbidden = unavoidable(epsilon_grid(epsilon), points=points, scale=scale, spread=spread, neighbours=neighbours)
    shown = figure.errors_by_epsilon(forbidden=forbidden, points=points, epsilon=epsilon, measured=errors)
    kit.picture(shown, key="fat_constants", badge=badge)


LESSON = kit.Lesson(
    key="fat",
    question="Are queries with small weights safe?",
    place=240,
    minutes=6,
    needs="What do accurate answers give away?",
    class_questions=(
        "The weights differ by only 0.02. Why does the attacker find as much?",
        "What does a small scale γ change, if not the share found?",
        "Which factor is missing in the paper's constant, and why?",
    ),
    point=((85, 90), (85, 90)),
    show=lesson,
)
