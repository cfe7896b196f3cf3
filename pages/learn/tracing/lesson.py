"""Lesson: averages of many attributes tell who is in the data."""

from __future__ import annotations

from functools import partial

from dpcore.core import exactly, rounded_up
from dpcore.limits.attacks.tracing import ceiling, rows_wall
from dplab.limits import tracing
from pages.charts.histogram import traced_scores
from pages.charts.words import percent
from pages.learn import kit, screen
from pages.learn.tracing import figure
from pages.shell.controls import choice, stops
from pages.shell.presentation import presentation_place
from pages.shell.tasks.memory import remember, with_progress

DELTA = 1e-6
VIEWS = ("All scores", "How much noise stops it", "More attributes, more found")
"""Its pictures."""
EPSILON = "One person changes the probability of any output by a factor of at most e^ε, except with probability δ."


def lesson() -> None:
    """Draw the lesson: all scores, and the share of members found."""
    kit.intro(
        "A clinic publishes only **averages**: for each of d yes/no attributes, the share of its patients who have "
        "it. The attacker knows one person's attributes, and what is usual outside. Is the person a patient?"
    )
    with presentation_place("slider"):
        attributes = int(stops("Attributes d", tracing.ATTRIBUTES, 1024, key="tracing-attributes"))
    members = int(stops("Members n", (50, 100, 200, 500), 100, key="tracing-members"))
    noisy = choice("The averages are", {"exact": "exact", "noisy": "private"}, key="tracing-means") == "noisy"
    epsilon = stops("Privacy budget ε of all averages", tracing.LOSSES, 1.0, key="tracing-noise", help_text=EPSILON)
    with kit.more():
        seed = kit.draws_seed()
    guess = screen.guess_percent(
        "tracing",
        f"The attacker may wrongly accuse {percent(tracing.ACCUSED)} of the others. Which share of the {members:,} "
        f"members is found from {attributes:,} {'private' if noisy else 'exact'} averages?",
        default=20,
    )
    key, applied = f"{attributes}|{members}|{seed}", epsilon if noisy else None

    def drawn(run: int) -> tracing.People:
        return tracing.generated_people(attributes=attributes, members=members, seed=seed + run)

    people = remember(f"limits-traced|{key}", lambda: drawn(0))
    traced = tracing.attack(people, epsilon=applied, delta=DELTA, seed=seed + 1)
    badge = f"people: generated · simulated, preview sampler, seed {seed}"
    kit.show_result(
        f"From {f'averages at ε = {exactly(epsilon)}' if noisy else 'exact averages'} the attack finds "
        f"**{percent(traced.found)}** of the members, and accuses **{percent(traced.accused)}** of "
        f"{len(traced.outside)} others; you guessed {guess}%. {kit.SIMULATED}",
        verdict=screen.verdict(guess, 100 * traced.found, unit=" points", near=2),
    )
    chosen = kit.pictures("tracing", *VIEWS)
    if chosen == VIEWS[0]:
        kit.picture(traced_scores(traced), key="tracing_scores", badge=badge)
    else:
        sizes = [size for size in tracing.ATTRIBUTES if size <= attributes]
        work = partial(tracing.sweep, drawn, attributes=sizes, epsilon=epsilon, delta=DELTA, seed=seed)
        shares = with_progress(f"limits-tracing|{key}|{epsilon}", work, label="Attacking averages.")
        if chosen == VIEWS[1]:
            shown = figure.over_epsilon(shares, delta=DELTA, epsilon=applied, guess=guess / 100)
            kit.picture(shown, key="tracing_epsilon", badge=f"{badge} · δ = {exactly(DELTA)}")
        else:
            shown = figure.over_attributes(shares, members=members, epsilon=epsilon, guess=guess / 100)
            kit.picture(shown, key="tracing_attributes", badge=f"{badge} · δ = {exactly(DELTA)}")
    limit = ceiling(accused=tracing.ACCUSED, epsilon=epsilon, delta=DELTA)
    wall = rows_wall(attributes=attributes, epsilon=epsilon, delta=DELTA)
    kit.theorem(
        r"\Pr[\text{found}]\le e^{\varepsilon}\Pr[\text{accused}]+\delta",
        "The score adds up, over all attributes, (average − usual)·(answer − usual). A member's is larger by about "
        r"$d/(4n)$ if answers are fair coins. A stranger's varies by about $\sqrt{d/n}/4$. So the attack works if d is "
        f"well above n. The threshold is a score that few of {tracing.REFERENCE} people outside have. {kit.THEORY}",
        f"Noise of about √d/ε rows in each count stops the attack. {wall.statement} {kit.THEORY}",
        reference="Bun, Ullman and Vadhan (2014); Dwork, Smith, Steinke, Ullman and Vadhan (2015).",
        meaning=f"From private averages at ε = {exactly(epsilon)} and δ = {exactly(DELTA)}, no attack finds more than "
        f"{rounded_up(100 * limit)}% of members on average, if it accuses {percent(tracing.ACCUSED)} of others.",
    )
    if noisy:
        settings = {"tracing-means": "exact", "tracing-attributes": kit.stop(16)}
        kit.break_it("With few attributes even exact averages hide most members.", "16 exact averages", settings)
    else:
        kit.break_it(
            "At ε = 1 the attack finds hardly more members than strangers.",
            "Make the averages private",
            {"tracing-means": "noisy", "tracing-noise": kit.stop(1)},
        )


LESSON = kit.Lesson(
    key="tracing",
    question="Who is in these averages?",
    place=225,
    minutes=6,
    needs="averages and standard deviations",
    class_questions=(
        "Each average moves by 1/n at most. Why do a thousand of them give a member away?",
        "How does the number of attributes compare with the number of members when the attack begins to work?",
        "Why can no attack on private averages find many members without accusing others?",
    ),
    point=((75, 100), (0, 15)),
    show=lesson,
    workbench="tables/page.py",
    workbench_link={"marginals-seen": "Who is in the data"},
)
