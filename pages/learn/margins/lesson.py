"""Lesson: a 95% interval holds the value that its ± is about, and a normal one may fall short."""

from __future__ import annotations

from dpcore.core import exactly
from dplab.intervals.surveys import LEVEL, draw_surveys
from pages.charts.words import percent
from pages.learn import kit, screen
from pages.learn.margins import figure
from pages.shell.controls import stops
from pages.shell.tasks.memory import remember_call

VIEWS = ("Twenty surveys", "±1.96 deviations", "One person, two counters")
"""Its pictures."""
POPULATION, SURVEYS = 0.3, 1000
"""Share of yes in the population, and number of simulated surveys."""


def lesson() -> None:
    """Draw the lesson: how many intervals hold a value, of the people asked and of the population."""
    share, level = percent(POPULATION), percent(LEVEL)
    kit.intro(
        f"Each of {figure.SHOWN} surveys asks different people of a population in which {share} would say yes. "
        f"Its share of yes is released ± a margin: a {level} interval **of the noise**."
    )
    loss = kit.epsilon("margins", default=1.0)
    n = int(stops("People n of each survey", (20, 50, 100, 200, 500, 1000, 5000), 100, key="margins-n"))
    with kit.more():
        seed = kit.draws_seed()
    guess = screen.guess_number(
        "margins",
        f"n = {n:,}, ε = {exactly(loss)}. How many of the {figure.SHOWN} intervals hold the population's {share}?",
        label=f"Your guess, of {figure.SHOWN}",
        high=figure.SHOWN,
        default=10,
    )
    seen = remember_call(draw_surveys, n=n, population=POPULATION, epsilon=loss, surveys=SURVEYS, seed=seed)
    hold, own, wider = (int(each[: figure.SHOWN].sum()) for each in seen.hits)
    chosen = kit.pictures("margins", *VIEWS)
    if chosen == VIEWS[0]:
        badge = f"simulated: samples and preview sampler, seed {seed}"
        kit.picture(figure.surveys(seen), key="margins_surveys", badge=badge)
        kit.show_result(
            f"**{hold}** of {figure.SHOWN} hold the population's {share}; you guessed {guess}. **{own}** hold the "
            f"share of the people asked, which the ± is about. With the sampling error, **{wider}** wider ones hold "
            f"{share}. {kit.SIMULATED}",
            verdict=screen.verdict(guess, hold),
        )
    else:
        shown, key = (figure.normal(loss), "normal") if chosen == VIEWS[1] else (figure.one_person(), "person")
        kit.picture(shown, key=f"margins_{key}", badge="exact theory: nothing sampled")
        kit.show_result(f"{shown.sentence} {kit.THEORY}")
    rates = [percent(float(each.mean())) for each in seen.hits]
    kit.theorem(
        r"\Pr\bigl[|Z|>k\bigr]=\frac{2\,q^{k+1}}{1+q}\le\alpha",
        f"**Noise or sampling?** Of {SURVEYS:,} surveys, {rates[0]} of the intervals of the noise hold the "
        f"population's share, and {rates[1]} that of the people asked. {rates[2]} of the wider ones hold the "
        f"population's; their level is approached as n grows. {kit.SIMULATED}",
        f"**Why not ±{figure.NORMAL}?** {figure.normal_words(loss)} Discrete Laplace noise is not normal, whatever n "
        f"is. {kit.THEORY}",
        "**Why two counters?** A row at the share u of its range adds 1 − u to A and u to B: one person in all. "
        f"The number of people is A + B, the mean of their shares B/(A + B). {kit.THEORY}",
        reference="Ghosh, Roughgarden and Sundararajan (2009); Fitzsimons et al. (2024); Kulesza, Suresh and Wang "
        "(2024).",
        meaning=f"Z: noise of a count, ε for one row more or less; $q=e^{{-\\varepsilon}}$; α = {percent(1 - LEVEL)}. "
        "The smallest such k is the ± of a count.",
    )
    settings: dict[str, float | str] = {"margins-epsilon": 0.1, "margins-n": kit.stop(100)}
    kit.break_it("If noise is larger than the sampling error, both intervals are alike.", "ε = 0.1, n = 100", settings)


LESSON = kit.Lesson(
    key="margins",
    question="What does ± mean?",
    place=140,
    minutes=6,
    needs="confidence intervals; the Laplace mechanism",
    class_questions=(
        "A 95% interval of the noise is right in 95% of releases. About which people?",
        "At ε = 1, why does a count ± 1.96 standard deviations hold less often than 95%?",
        "Why does one person change both counters together by 1?",
    ),
    point=((3, 12), (17, 20), (17, 20)),
    show=lesson,
)
