"""Lesson: the meaning of ε for an attacker who already suspects you."""

from __future__ import annotations

from dpcore.core import exactly, rounded_up
from dpcore.limits.bounds import odds
from pages.learn import kit
from pages.learn.odds import figure
from pages.shell.controls import stops, whole

VIEWS = ("Belief, before and after", "Guessing right")
"""Its pictures."""


def lesson() -> None:
    """Draw the lesson: belief before and after a release, and the probability of a right guess."""
    kit.intro(
        "An attacker knows **everyone else** in the data and suspects that you answered yes. They see the release. How "
        "much surer can they be?"
    )
    loss = kit.epsilon("odds", default=1.0)
    percents = whole("How sure they are before, percent", 1, 99, 10, key="odds-prior")
    delta = stops("δ", (0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2), 0, key="odds-delta")
    prior = percents / 100
    guess = kit.guess_number(
        "odds",
        f"They think it {percents}% likely. How likely can they think it at most, after a release at "
        f"ε = {exactly(loss)}{' and δ = 0' if delta else ''}?",
        label="Your guess, percent",
        low=0,
        high=100,
        default=50,
        unit="%%",
    )
    badge = "exact theory: attacker knows all other rows, or rows are independent"
    largest = float(odds.posterior_range([prior], epsilon=loss)[1][0])
    kit.show_result(
        f"From {percents}% to at most **{rounded_up(100 * largest)}%** likely; you guessed {guess}%. {kit.THEORY}"
        f"{figure.delta_sentence(delta)}"
    )
    if kit.pictures("odds", *VIEWS) == VIEWS[0]:
        shown = figure.belief(prior=prior, epsilon=loss, delta=delta, guess=guess / 100)
        kit.picture(shown, key="odds_belief", badge=badge)
    else:
        kit.picture(figure.guessing(prior=prior, epsilon=loss, delta=delta), key="odds_guess", badge=badge)
    kit.theorem(
        r"\frac{\Pr[\text{you}\mid y]}{\Pr[\text{not you}\mid y]}\le e^{\varepsilon}\,"
        r"\frac{\Pr[\text{you}]}{\Pr[\text{not you}]}",
        "It does **not** say that nothing is learned about people like you, nor does it mend bad odds. The ε "
        f"of several releases add up, and a person with several rows gets the ε of each. {kit.THEORY}",
        reference="Dwork, McSherry, Nissim and Smith (2006); Kasiviswanathan and Smith (2014); Wasserman and Zhou "
        "(2010), Theorem 2.4; Kairouz, Oh and Viswanath (2017) for δ.",
        meaning="y: what is released. For δ = 0 their odds are multiplied by at most this factor if they know all "
        "other rows or rows are independent. ε is for replacing one row; if it is for adding or removing one, the "
        "factor is "
        r"$e^{2\varepsilon}$.",
    )
    kit.break_it("A large ε guarantees little.", "ε = 5", {"odds-epsilon": 5.0})


LESSON = kit.Lesson(
    key="odds",
    question="What does an ε mean to someone who suspects you?",
    group="What is promised",
    place=110,
    minutes=4,
    needs="odds and Bayes' rule",
    class_questions=(
        "Someone thinks it 10% likely. How likely at most after a release at ε = 1?",
        "Does ε promise that nothing is learned about people like you?",
        "What do two releases at ε = 1 allow together?",
    ),
    point=((23.15, 23.25),),
    show=lesson,
)
