"""Lesson: one release answers every direction with a margin; and what a projection to few dimensions keeps."""

from __future__ import annotations

from dpcore.core import exactly, rounded_up
from dpcore.mechanisms.halfspaces.printed import printed
from dplab.limits.directions import BETA, TRIALS, distortions, every_direction
from pages.charts.words import percent_up, significant
from pages.learn import kit
from pages.learn.directions import charts
from pages.learn.directions.own_data import own_data
from pages.shell.addresses import OWN_DATA
from pages.shell.controls import stops
from pages.shell.tasks.memory import remember

VIEWS = ("Every direction", "Fewer dimensions")
CHANCE = 0.05
"""τ of the projections."""


def lesson() -> None:
    """Draw the controls, the question, and one of two pictures: errors or distortions."""
    kit.intro(
        "Rows are arrows of length 1. A question is a direction: how many rows point to its side? There are infinitely "
        "many, and **one** release of a few noisy counts answers them all."
    )
    loss = kit.epsilon("directions", default=1.0)
    gap = stops("Gap between the two clouds", (0, 0.1, 0.3, 0.5, 0.7, 0.9), 0.7, key="directions-gap")
    with kit.more():
        measured = int(stops("Directions measured", (2, 4, 8, 16, 32, 64), 4, key="directions-measured"))
        n = int(stops("Rows n", (1000, 3000, 10_000, 30_000), 10_000, key="directions-rows"))
        drawn = kit.draws_seed()
    guess = kit.guess_stop(
        "directions",
        f"{n:,} rows {'in two clouds' if gap else 'all around'}, ε = {exactly(loss)}, {measured} directions measured. "
        "A direction has a margin if no row is nearly at a right angle to it. Where there is one, how far off is the "
        "worst answer?",
        label="Your guess, percent of the rows",
        options=(0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
        default=5,
    )
    chosen = kit.pictures("directions", *VIEWS)
    if chosen == VIEWS[0]:
        _every(n=n, gap=gap, measured=measured, loss=loss, guess=guess, drawn=drawn)
    else:
        _fewer(drawn)
    kit.break_it(
        "Let rows lie all around: no direction has a margin, and nothing is promised.",
        "No gap, 4 directions measured",
        {"directions-gap": kit.stop(0), "directions-measured": kit.stop(4), "directions-picture": VIEWS[0]},
    )


def _every(*, n: int, gap: float, measured: int, loss: float, guess: float, drawn: int) -> None:
    """Draw the errors around the circle, and the guaranteed error."""
    errors = remember(
        f"limits-directions|{n}|{gap}|{measured}|{loss}|{drawn}",
        lambda: every_direction(n=n, gap=gap, directions=measured, epsilon=loss, seed=drawn),
    )
    kit.picture(
        charts.errors(releases=errors, n=n, epsilon=loss, guess=guess / 100),
        key="directions_errors",
        badge=f"true: generated rows · released: simulated, {TRIALS} releases, preview sampler, seed {drawn}",
    )
    sentence = (
        f"up to **{percent_up(errors.beyond)}** off, by noise, and by rows between two measured directions, which no ε "
        "cures"
    )
    if not errors.promised.any():
        sentence = f"No direction has the margin, and nothing is promised: answers are {sentence}"
    else:
        promised = f"Where the margin is there, 95% of the releases are within **{percent_up(errors.worst)}**"
        sentence = promised if errors.promised.all() else f"{promised}; elsewhere {sentence}"
    kit.show_result(f"{sentence}; you guessed {guess:g}%. {kit.SIMULATED}")
    kit.theorem(
        r"\min_x|\langle x,y\rangle|\ge\gamma\;\Longrightarrow\;|q_y(D)-\hat q_y|\le\alpha",
        f"Here nothing is projected. {errors.counts} counts share ε; every direction is near one that is measured, and "
        f"only rows within {rounded_up(errors.margin)} of its plane can lie between the two. So a direction y with "
        f"margin γ = {rounded_up(errors.margin)} errs by its noise alone: α = {percent_up(errors.bound)}, but for a "
        f"chance of {BETA:g}. {kit.THEORY}",
        "In two dimensions a halfspace is a half-circle, an interval of angles: a release of the angles puts its "
        "points where the rows are and answers every direction, with or without a margin. "
        "*All settings, your data* draws both.",
        "The paper first projects rows to T dimensions, so that the number of directions measured depends on γ and α "
        "and not on d: see the other picture for what T that takes.",
        reference="Blum, Ligett and Roth (2013), Definitions 6.1, 6.2 and 6.5, Theorems 6.8 and 6.9; without the "
        "projection, proved beside the mechanism.",
        meaning=f"Promised, with probability at least {1 - BETA:.0%}, of all directions y with margin "
        f"γ = {rounded_up(errors.margin)} by one ε-private release: α = {percent_up(errors.bound)}.",
    )


def _fewer(drawn: int) -> None:
    """Draw the distortion of digits by random sign matrices."""
    distortion = remember(f"limits-distortions|{drawn}", lambda: distortions(chance=CHANCE, seed=drawn))
    kit.picture(
        charts.moved(distortion=distortion),
        key="directions_moved",
        badge=f"true: bundled digits · simulated: random signs, seed {drawn}",
    )
    paper = printed(margin=0.5, alpha=0.1, dimensions=distortion.before, beta=BETA, epsilon=1.0)
    place = distortion.dimensions.index(16)
    moved = significant(float(distortion.products[place].max()))
    kit.show_result(
        f"Projected from {distortion.before} to 16 dimensions, the worst of the pairs moves its inner product by "
        f"**{moved}** or more in one matrix of ten. The theorem promises nothing below T = **{distortion.starts}**, "
        f"more than the rows had. {kit.SIMULATED}"
    )
    kit.theorem(
        r"\Pr\bigl[|\langle Ax,Ay\rangle-\langle x,y\rangle|\ge\varsigma\bigr]\le2\tau",
        "Two vectors at a time: Theorem 6.3 says it of one vector's squared length, and an inner product is a quarter "
        f"of the difference of two, of x + y and x − y. Here τ = {CHANCE:g} and ς < ½, as the theorem asks. "
        f"{kit.THEORY}",
        f"The halfspace release needs ς = γ/4. At γ = 0.5, α = 0.1 and d = {distortion.before} that is T = "
        f"{paper.dimensions:,}, and the net in so many dimensions has $10^{{{paper.log10_directions:,.0f}}}$ "
        "directions. T does not grow with d: it is worth its price only where d is far larger still.",
        reference="Blum, Ligett and Roth (2013), Theorem 6.3 and Corollary 6.4.",
        meaning="For T ≥ 20·ln(1/τ)/ς² rows of random ±1/√T in A, and x, y of length 1, however many numbers they had.",
    )


LESSON = kit.Lesson(
    key="directions",
    question="Can one release answer every direction?",
    group=kit.SYSTEMS,
    place=410,
    minutes=8,
    needs="counting queries; angles between vectors",
    class_questions=(
        "Which rows does a release get wrong, and where do they lie?",
        "What does a margin buy, and what does the paper's net cost?",
        "In two dimensions, when is an interval release of angles better?",
    ),
    point=((0, 0.2), (4, 100)),
    show=lesson,
    own_data=own_data,
    workbench="learn/page.py",
    workbench_link={"lesson": "directions", **OWN_DATA},
)
