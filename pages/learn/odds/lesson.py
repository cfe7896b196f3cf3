"""Lesson: the meaning of ε for an attacker who already suspects you."""

from __future__ import annotations

from dpcore.core import exactly, rounded_up
from dpcore.limits.bounds import odds
from pages.learn import kit, screen
from pages.learn.odds import figure
from pages.shell.controls import stops, whole

VIEWS = ("Belief, before and after", "Guessing right")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: belief before and after a release, and the probability of a right guess."""
    kit.intro(
        "An attacker knows **everyone else** in the data and suspects that you answered yes. The attacker "
        "sees the release. How much can it change the attacker's belief?"
    )
    loss = kit.epsilon("odds", default=1.0)
    percents = whole("The attacker's belief before, percent", 1, 99, 10, key="odds-prior")
    delta = stops("δ", (0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2), 0, key="odds-delta")
    prior = percents / 100
    guess = screen.guess_percent(
        "odds",
        f"The attacker thinks it is {percents}% likely. After a release at ε = "
        f"{exactly(loss)}{' and δ = 0' if delta else ''}, how likely can the attacker think it, at most?",
        default=50,
    )
    badge = "exact theory: attacker knows all other rows, or rows are independent"
    largest = float(odds.posterior_range([prior], epsilon=loss)[1][0])
    kit.show_result(
        f"From {percents}% to at most **{rounded_up(100 * largest)}%** likely; you guessed {guess}%. {kit.THEORY}"
        f"{figure.delta_sentence(delta)}",
        verdict=screen.verdict(guess, 100 * largest, unit=" points"),
    )
    if kit.pictures("odds", *VIEWS) == VIEWS[0]:
        shown = figure.belief(prior=prior, epsilon=loss, delta=delta, guess=guess / 100)
        kit.picture(shown, key="odds_belief", badge=badge)
    else:
        kit.picture(figure.guessing(prior=prior, epsilon=loss, delta=delta), key="odds_guess", badge=badge)
    kit.theorem(
        r"\frac{\Pr[\text{you}\mid y]}{\Pr[\text{not you}\mid y]}\le e^{\varepsilon}\,"
        r"\frac{\Pr[\text{you}]}{\Pr[\text{not you}]}",
        "ε does **not** guarantee that nothing is learned about people like you. It does not improve odds "
        "that were bad before. The ε of several releases add up, and for a person with several rows it is "
        f"multiplied by their number. {kit.THEORY}",
        reference="Dwork, McSherry, Nissim and Smith (2006); Kasiviswanathan and Smith (2014); Wasserman and Zhou "
        "(2010), Theorem 2.4; Kairouz, Oh and Viswanath (2017) for δ.",
        meaning="y: the release. Assume δ = 0, and that the attacker knows all other rows or rows are independent. "
        "Then the odds are multiplied by at most this factor. ε is for replacing one row. If ε is for "
        "adding or removing one row, the factor is $e^{2\\varepsilon}$.",
    )
    kit.break_it("A large ε guarantees little.", "ε = 5", {"odds-epsilon": 5.0})


LESSON = kit.Lesson(
    key="odds",
    question="What does an ε mean to someone who suspects you?",
    place=110,
    minutes=4,
    needs="odds and Bayes' rule",
    class_questions=(
        "Someone thinks it 10% likely. How likely at most after a release at ε = 1?",
        "Does ε guarantee that nothing is learned about people like you?",
        "What do two releases at ε = 1 guarantee together?",
    ),
    point=((23.15, 23.25),),
    show=lesson,
)
