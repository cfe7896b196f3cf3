"""Lesson: fifteen programs claim the same ε, and runs on two data sets refute the broken ones."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Entry, Guarantee, ParameterError, exactly
from dpcore.mechanisms import catalogue
from dplab.audit.sampled import ROUND_SIZES, Audit, Draw, audit
from dplab.audit.settings import MAX_QUESTIONS, audit_setting, exactly_on_two_rows
from dplab.audit.suspects import EPSILON, SUSPECTS
from pages.charts.words import significant
from pages.learn import kit, screen
from pages.learn.audit import figure
from pages.shell.controls import choice, control, neighbours, stops, whole
from pages.shell.presentation import presentation_place
from pages.shell.tasks.memory import with_progress

VIEWS = ("ε shown by the test, and ε claimed", "Outcomes on both data sets")
"""Its pictures."""
CHEAT = "cheat"
"""Link value of the fifteen programs, instead of a mechanism."""
LINE_UP = tuple((4 * place + 9) % len(SUSPECTS) for place in range(len(SUSPECTS)))
"""Index of the program with each number."""
AT_LEAST, MAX_SECONDS = 4, 10.0
"""Minimum number of looks at a program, and maximum seconds of an audit."""
ANSWERS = {"right": "Its claim is true", "broken": "Its claim is false"}


def lesson() -> None:
    """Draw the lesson for the fifteen programs or for a mechanism of the catalogue."""
    audited = {entry.key: entry for entry in catalogue()}
    names = {CHEAT: "one of fifteen programs"} | {key: entry.title for key, entry in audited.items()}
    chosen = choice("Tested", names, key="audit-of", default=CHEAT)
    if chosen == CHEAT:
        _line_up()
    else:
        _own(audited[chosen])


def _line_up() -> None:
    """Draw the audit of one of the fifteen programs."""
    kit.intro(
        "Fifteen programs claim ε = 1, but for some this is false. You see what each publishes, not its "
        "code. Run one on two neighbouring data sets and count outcomes."
    )
    with presentation_place("slider"):
        number = whole("Program", 1, len(SUSPECTS), 1, key="audit-number")
    suspect = SUSPECTS[LINE_UP[number - 1]]
    guess = screen.guess_answer(
        "audit", f"Program {number} publishes {suspect.publishes}. Is ε = 1 true?", answers=ANSWERS
    )
    result = _audited(suspect.draw, epsilon=EPSILON, delta=0.0, about=suspect.key, place=kit.more(), at_least=AT_LEAST)
    if result is not None:
        truth = "broken" if suspect.fault else "right"
        fact = suspect.fault or "The claim is true. There is a proof; no test can show this."
        verdict = screen.grade(guess, truth, tuple(ANSWERS))
        kit.show_result(f"**{result.sentence}** {kit.SIMULATED}\n\n{fact}", verdict=verdict)
    _pictures(result, epsilon=EPSILON)
    _theorem()
    kit.break_it(
        "A guarantee for randomly sampled data (γ) does not apply to chosen data.",
        "Test the sparse histogram",
        {"audit-of": "sparse_histogram", "audit-picture": VIEWS[0]},
    )


def _own(entry: Entry) -> None:
    """Draw the audit of a mechanism of the catalogue at the user's settings, on small public data."""
    kit.intro(
        f"**{entry.title}** at your settings, on forty synthetic rows and a neighbouring data set"
        + (
            f", the first {MAX_QUESTIONS} queries of a conversation"
            if entry.mechanism.releases == "conversation"
            else ""
        )
        + ". A test can refute the claim; only a proof can show that it is true."
    )
    place = kit.more()
    with place:
        values = {name: control(entry, name, parameter) for name, parameter in entry.controls().items()}
        relation = neighbours()
    mechanism = entry.make(**values)
    try:
        setting = audit_setting(entry, mechanism, relation)
    except ParameterError as problem:
        st.error(f"On these forty rows: {problem}")
        return
    claim = setting.guarantee
    screen.guess_answer("audit", f"It claims {claim.sentence()}. Does this hold for all data?", answers=ANSWERS)
    about = f"{entry.key}|{values}|{relation}"
    result = _audited(setting.draw, epsilon=claim.epsilon, delta=claim.delta, about=about, place=place)
    if result is not None:
        note = _besides(claim, exactly_on_two_rows(entry, mechanism, relation))
        verdict = result.sentence_for_all if claim.gamma else result.sentence
        kit.show_result(f"**{verdict}** {kit.SIMULATED}\n\n{note}")
    _pictures(result, epsilon=claim.epsilon, at_random=bool(claim.gamma))
    _theorem()
    kit.break_it("Fifteen programs claim ε = 1; for some this is false.", "Find the false claims", {"audit-of": CHEAT})


def _besides(claim: Guarantee, exact: float | None) -> str:
    """Return what is known of a mechanism without runs."""
    if claim.gamma:
        return (
            "It guarantees this only for randomly sampled data, except for a share γ = "
            f"{exactly(claim.gamma)} of the data sets. These rows were chosen. Release therefore refuses "
            "mechanisms with a γ."
        )
    if exact is None:
        return "Its distributions are too large to enumerate here."
    delta_words = f" at δ = {exactly(claim.delta)}" if claim.delta else ""
    return (
        "Exact result for two rows and all neighbouring data sets: its smallest ε is "
        f"{significant(exact)}{delta_words}."
    )


def _audited(
    draw: Draw, *, epsilon: float, delta: float, about: str, place: DeltaGenerator, at_least: int = len(ROUND_SIZES)
) -> Audit | None:
    """Return the audit, which runs when the user reveals the result; None before."""
    with place:
        max_runs = stops("Runs of the largest test", ROUND_SIZES[2:], 100_000, key="audit-runs")
        seed = kit.draws_seed("Runs are seeded. The number of tests that fit the time limit depends on the machine.")
    if not screen.revealed():
        return None
    sizes = tuple(look for look in ROUND_SIZES if look <= max_runs)
    return with_progress(
        f"audit|{about}|{max_runs}|{seed}",
        lambda: audit(
            draw, epsilon=epsilon, delta=delta, seed=seed, rounds=sizes, at_least=at_least, seconds=MAX_SECONDS
        ),
        label=f"Running the program on both data sets, for at most about {MAX_SECONDS:.0f} seconds.",
    )


def _pictures(result: Audit | None, *, epsilon: float, at_random: bool = False) -> None:
    """Draw the selected picture."""
    badge = "simulated: runs by the preview sampler"
    if kit.pictures("audit", *VIEWS) == VIEWS[0]:
        kit.picture(figure.loss(result, epsilon=epsilon, at_random=at_random), key="audit_loss", badge=badge)
    else:
        kit.picture(figure.scores(result), key="audit_scores", badge=badge)


def _theorem() -> None:
    """Draw the theorem on the evidence of one event."""
    kit.theorem(
        r"p\le e^{\varepsilon}q+\delta\ \Rightarrow\ \varepsilon\ge\ln\frac{\underline{p}-\delta}{\overline{q}}",
        "A quarter of the runs orders the outcomes by likelihood ratio. A quarter chooses the cut, and "
        "half is counted. The counted runs did not choose the event.",
        "All tests together are wrong in at most 0.1% of cases. A claim that is not refuted is not proved: "
        "other data, another event or more runs may refute it.",
        reference="Clopper and Pearson (1934); Ding, Wang, Wang, Zhang and Kifer (2018); the sparse-vector variants "
        "are those of Lyu, Su and Li (2017).",
        meaning="An event has probability p on one data set and q on the other. Exact confidence intervals bound "
        "both (the lines under p and over q). The probability that one of them is wrong is at most 0.1%.",
    )


LESSON = kit.Lesson(
    key="audit",
    question="Is this privacy claim true?",
    place=120,
    minutes=8,
    needs="What does an ε mean to someone who suspects you?",
    class_questions=(
        "Which event tells the two data sets apart best?",
        "Why must the runs that are counted not be those that picked the event?",
        "It was not refuted in a million runs. What do you know now?",
    ),
    point=((2, 3), (1, 1), (99.9, 99.9)),
    show=lesson,
)
