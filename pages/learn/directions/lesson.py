"""Lesson: one release answers every direction with a margin; and what a projection to few dimensions keeps."""

from __future__ import annotations

from dpcore.core import exactly, rounded_up
from dpcore.data.bundled import vectors_of
from dpcore.mechanisms.halfspaces.printed import printed
from dplab.limits.directions import BETA, TRIALS, distortions, every_direction
from pages.charts.words import percent_up, significant
from pages.learn import kit, screen
from pages.learn.directions import charts
from pages.learn.directions.own_data import own_data
from pages.learn.directions.projection import CHANCE
from pages.shell.controls import stops
from pages.shell.tasks.memory import remember_call, with_progress

VIEWS = ("Every direction", "Fewer dimensions")


def lesson() -> None:
    """Draw the controls, the question, and one of two pictures: errors or distortions."""
    kit.intro(
        "Rows are vectors of length 1. A query is a direction: how many rows point to its side? **One** release of "
        "a few noisy counts answers them all."
    )
    loss = kit.epsilon("directions", default=1.0)
    gap = stops("Gap between the two clouds", (0, 0.1, 0.3, 0.5, 0.7, 0.9), 0.7, key="directions-gap")
    with kit.more():
        measured = int(stops("Directions measured", (2, 4, 8, 16, 32, 64), 4, key="directions-measured"))
        n = int(stops("Rows n", (1000, 3000, 10_000, 30_000), 10_000, key="directions-rows"))
        drawn = kit.draws_seed()
    guess = screen.guess_stop(
        "directions",
        f"{n:,} rows {'in two clouds' if gap else 'all around'}, ε = {exactly(loss)}, {measured} "
        "directions measured. How large is the largest error over directions with a margin, where no row is nearly "
        "at a right angle?",
        label="Your guess, percent of the rows",
        options=(0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
        default=5,
    )
    chosen = kit.pictures("directions", *VIEWS)
    if chosen == VIEWS[0]:
        _every(n=n, gap=gap, measured=measured, loss=loss, guess=guess, drawn=drawn)
    else:
        _fewer(drawn)
    settings = {"directions-gap": kit.stop(0), "directions-measured": kit.stop(4), "directions-picture": VIEWS[0]}
    kit.break_it("Without a gap, no error is guaranteed.", "No gap, 4 directions", settings)


def _every(*, n: int, gap: float, measured: int, loss: float, guess: float, drawn: int) -> None:
    """Draw the errors around the circle, and the guaranteed error."""
    errors = remember_call(every_direction, n=n, gap=gap, directions=measured, epsilon=loss, seed=drawn)
    shown = charts.errors(releases=errors, n=n, epsilon=loss, guess=guess / 100)
    badge = f"true: generated rows · released: simulated, {TRIALS} releases, preview sampler, seed {drawn}"
    kit.picture(shown, key="directions_errors", badge=badge)
    sentence = f"an error of up to **{percent_up(errors.beyond)}**, also from rows between two measured directions"
    if not errors.promised.any():
        sentence = f"No direction has the margin, so no error is guaranteed: answers have {sentence}"
    else:
        promised = (
            f"For directions with the margin, 95% of releases have an error of at most **{percent_up(errors.worst)}**"
        )
        sentence = promised if errors.promised.all() else f"{promised}; other directions have {sentence}"
    error = errors.worst if errors.promised.any() else errors.beyond
    verdict = screen.verdict(guess, 100 * error, unit=" points", near=0)
    kit.show_result(f"{sentence}; you guessed {guess:g}%. {kit.SIMULATED}", verdict=verdict)
    kit.theorem(
        r"\min_x|\langle x,y\rangle|\ge\gamma\;\Longrightarrow\;|q_y(D)-\hat q_y|\le\alpha",
        f"Here nothing is projected, and {errors.counts} counts share ε. Only rows within "
        f"{rounded_up(errors.margin)} of its plane can lie between a direction and its nearest measured "
        f"one. So a direction y with margin γ = {rounded_up(errors.margin)} has only the noise as error. "
        f"Thus α = {percent_up(errors.bound)}, with confidence 1 − {BETA:g}. {kit.THEORY}",
        "In two dimensions a halfspace is a half-circle, which is an interval of angles. A release of the "
        "angles answers every direction, with or without a margin. *All settings, your data* shows both.",
        "The paper first projects rows to T dimensions. Then the number of measured directions depends on "
        "γ and α, not on d. The other picture shows the T this needs.",
        reference="Blum, Ligett and Roth (2013), Definitions 6.1, 6.2 and 6.5, Theorems 6.8 and 6.9; without the "
        "projection, proved beside the mechanism.",
        meaning=f"Guaranteed by one ε-private release, with confidence {1 - BETA:.0%}, for all directions y with "
        f"margin γ = {rounded_up(errors.margin)}: α = {percent_up(errors.bound)}.",
    )


def _fewer(drawn: int) -> None:
    """Draw the distortion of digits by random sign matrices."""
    distortion = with_progress(
        f"limits-distortions|{drawn}",
        lambda: distortions(vectors_of("digits").dataset().records, chance=CHANCE, seed=drawn),
        label="Projecting rows.",
    )
    badge = f"true: bundled digits · simulated: random signs, seed {drawn}"
    kit.picture(charts.moved(distortion=distortion), key="directions_moved", badge=badge)
    paper = printed(margin=0.5, alpha=0.1, dimensions=distortion.before, beta=BETA, epsilon=1.0)
    place = distortion.dimensions.index(16)
    moved = significant(float(distortion.products[place].max()))
    kit.show_result(
        f"Project from {distortion.before} to 16 dimensions. In one matrix of ten, the worst pair moves "
        f"its inner product by **{moved}** or more. The theorem guarantees nothing below T = "
        f"**{distortion.starts}**, which is more than the rows had. {kit.SIMULATED}"
    )
    kit.theorem(
        r"\Pr\bigl[|\langle Ax,Ay\rangle-\langle x,y\rangle|\ge\varsigma\bigr]\le2\tau",
        "Theorem 6.3 is about the squared length of one vector. An inner product is a quarter of the "
        f"difference of two squared lengths, of x + y and x − y. Here τ = {CHANCE:g} and ς < ½, as the "
        f"theorem requires. {kit.THEORY}",
        f"The halfspace release needs ς = γ/4. At γ = 0.5, α = 0.1 and d = {distortion.before} that is T = "
        f"{paper.dimensions:,}. A net in so many dimensions has $10^{{{paper.log10_directions:,.0f}}}$ "
        "directions. T does not grow with d, so projecting helps only if d is far larger.",
        reference="Blum, Ligett and Roth (2013), Theorem 6.3 and Corollary 6.4.",
        meaning="For T ≥ 20·ln(1/τ)/ς² rows of random ±1/√T in A, and x, y of length 1, however many numbers they had.",
    )


LESSON = kit.Lesson(
    key="directions",
    question="Can one release answer every direction?",
    place=410,
    minutes=8,
    needs="counting queries; angles between vectors",
    class_questions=(
        "Which rows does a release get wrong, and where do they lie?",
        "Which error does a margin guarantee, and how large is the paper's net?",
        "In two dimensions, when is an interval release of angles better?",
    ),
    point=((0, 0.2), (4, 100)),
    show=lesson,
    own_data=own_data,
)
