"""Lesson: the lower bound for queries that weigh people instead of counting them."""

from __future__ import annotations

import numpy as np

from dpcore.core import Neighbours, exactly
from dpcore.limits.attacks import fat_shattering
from dplab.limits.reconstruction import BETA
from dplab.limits.weighted_halves import attack, measured_errors, unavoidable
from pages.charts.words import percent
from pages.learn import kit
from pages.learn.fat import figure
from pages.learn.pictures import epsilon_grid
from pages.shell.controls import stops, whole
from pages.shell.tasks.memory import remember

SCALES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
ANSWERS = {
    "blind": "It falls to a blind guess",
    "less": "It falls somewhat",
    "same": "It stays about the same",
}


VIEWS = ("How much is found", "One question", "Which errors are forbidden")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: one run, the share found by scale, and the three constants."""
    kit.intro(
        "A question gives each person a **weight**. Every half of the people has a question that adds γ to their "
        "usual weights and takes γ from those of all others. Is a small γ safe?"
    )
    epsilon = kit.epsilon("fat", default=2.0)
    scale = stops("Scale γ", SCALES, 0.1, key="fat-scale", help_text="Half the weight between in and out.")
    with kit.more():
        points = int(stops("People d", (8, 16, 32, 64, 128, 256), 64, key="fat-points"))
        uneven = whole("Levels differ by, in percent of γ", 0, 100, 50, key="fat-uneven")
        neighbours = kit.relation(
            "fat",
            default=Neighbours.ADD_REMOVE_ONE,
            help_text="The paper's constant uses e^ε between data sets that differ in one row gone and one row new.",
        )
        draw_seed = kit.draws_seed()
    guess = kit.guess_answer(
        "fat",
        f"One release at ε = {exactly(epsilon)}. Questions weigh 1 for in and 0 for out (γ = 0.5), then only "
        "about 0.51 and 0.49 (γ = 0.01). What happens to the share of the half that the attacker finds?",
        label="Your guess",
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
    grade = f"“{ANSWERS[guess]}”: {'right' if guess == 'same' else 'not so'}. " if kit.has_current_guess() else ""
    kit.show_result(
        f"{grade}**{weak}** is found at γ = 0.01, "
        f"**{strong}** at γ = 0.5. Noise is on people’s counts: a weak question weighs it as weakly as the secret. "
        f"{kit.SIMULATED}"
    )
    spread = float(np.ptp(runs.levels))
    bound = fat_shattering.error_bound(
        points=points, scale=scale, spread=spread, epsilon=epsilon, neighbours=neighbours, beta=BETA
    )
    kit.theorem(
        r"s<2\gamma:\;(2\gamma-s)\,|T\setminus T'|\le2\alpha n",
        "What shrinks with γ is only the error that gives protection.",
        f"{bound.statement} {bound.note} {kit.THEORY}",
        reference=f"{bound.reference}; Lemmas 1 and 2.",
        meaning="Answers within α, a share of n rows, give a half T′ that misses few of the true half T, if α is far "
        "below γ. s: how far apart people’s usual weights lie.",
    )
    kit.break_it(
        "Errors of γ hide the half: a small γ forbids only small errors.",
        "Errors forbidden at γ = 0.01",
        {"fat-scale": kit.stop(0.01), "fat-picture": VIEWS[2]},
    )
    chosen = kit.pictures("fat", *VIEWS)
    if chosen != VIEWS[2]:
        shown = (
            figure.by_scale(scales=SCALES, shares=runs.shares, scale=scale)
            if chosen == VIEWS[0]
            else figure.weights(runs, scale=scale)
        )
        kit.picture(shown, key="fat_scale" if chosen == VIEWS[0] else "fat_weights", badge=badge)
        return
    errors = remember(
        f"limits-fat|{points}|{scale}|{uneven}|{neighbours}|{draw_seed}",
        lambda: measured_errors(points=points, levels=runs.levels, scale=scale, neighbours=neighbours, seed=draw_seed),
    )
    forbidden = unavoidable(epsilon_grid(epsilon), points=points, scale=scale, spread=spread, neighbours=neighbours)
    kit.picture(
        figure.errors_by_epsilon(forbidden=forbidden, points=points, epsilon=epsilon, measured=errors),
        key="fat_constants",
        badge=badge,
    )


LESSON = kit.Lesson(
    key="fat",
    question="Are queries with small weights safe?",
    group="Attacks",
    place=240,
    minutes=6,
    needs="What do accurate answers give away?",
    class_questions=(
        "The weights differ by only 0.02. Why does the attacker find as much?",
        "What does a small scale γ change, if not the share found?",
        "Which factor does the paper's constant miss, and why?",
    ),
    point=((85, 90), (85, 90)),
    show=lesson,
)
