"""Lesson: who pays when a promise for most data sets fails; a row that is alone in its cell."""

from __future__ import annotations

from dpcore.core import exactly
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import rows_needed
from pages.charts.words import percent
from pages.learn import kit
from pages.learn.alone import figure
from pages.learn.random_privacy.warning import PETS, alone_chances, lone_place, pet_names
from pages.shell.addresses import OWN_DATA
from pages.shell.controls import stops
from pages.shell.session import remembered
from pages.shell.status import badge

GAMMAS = (0.001, 0.01, 0.1, 0.5)


def lesson() -> None:
    """Controls, the question, and how often a release shows the lone row's cell as taken."""
    dataset, place = remembered(f"dataset|{PETS.key}", PETS.dataset), lone_place()
    cells = len(dataset.histogram)
    kit.intro(
        f"Of Seattle's {dataset.n:,} licensed pets **one alone** is in zip code {place}. A histogram of zip codes is "
        "released; its promise may fail for a share γ of the data sets, and with rows enough for γ empty cells get "
        "no noise."
    )
    loss = kit.epsilon("sparse-data", default=0.1)
    gamma = stops("Share of data without promise γ", GAMMAS, 0.1, key="sparse-data-gamma")
    with kit.more():
        drawn = kit.draws_seed()
    guess = kit.guess_number(
        "sparse-data",
        f"Now move that pet to another zip code. Of 100 releases at ε = {exactly(loss)}, how many show somebody in "
        f"{place} all the same?",
        label="Your guess, of 100",
        low=0,
        high=100,
        default=40,
    )
    shares = alone_chances(epsilon=loss, gamma=gamma, condition="paper", seed=drawn)
    there, elsewhere = (float(each) for each in shares[1])
    spared = lone_row_chance(cells=cells, n=dataset.n, condition="paper") <= gamma
    kit.picture(figure.shown(shares, guess=guess / 100), key="alone_shown", badge=badge(PETS, seed=drawn))
    kit.told(
        f"If the pet is there, **{percent(there)}** of the releases show it; if not, **{percent(elsewhere)}** do"
        f"{': seeing it is proof' if spared else ''}; you guessed {guess}. {kit.SIMULATED}"
    )
    names, unique = pet_names()
    kit.why(
        r"\Pr\Bigl[\forall B:\,e^{-\varepsilon}\le\tfrac{Q(B|X)}{Q(B|X')}\le e^{\varepsilon}\Bigr]\ge1-\gamma",
        "The paper warns of it: whoever **knows all rows but one**, and finds that one alone in its cell, learns it "
        "for certain. The promise only says that data drawn at random are rarely such.",
        f"Real data often are. Of the {names:,} names of these pets {unique:,} belong to one pet alone. With "
        f"{cells} cells and γ = {exactly(gamma)} empty ones may stay empty from "
        f"{rows_needed(cells=cells, gamma=gamma, condition='paper'):,} rows on. {kit.THEORY}",
        proved="Hall, Rinaldo and Wasserman (2013), Definition 1, equation 5 and Section 7.",
        says="Q(B|X): the chance that a release of X falls into B; X′ differs in one row. Pr is over draws of the "
        "data: nothing is promised of a share γ, such as data where somebody is alone.",
    )
    kit.break_it(
        "With hardly any data sets left without promise, every cell gets noise, and the row is hidden as far as ε "
        "hides it.",
        "γ = 0.1%",
        {"sparse-data-gamma": kit.stop(0.001)},
    )


LESSON = kit.Lesson(
    key="sparse-data",
    question="Who pays when the promise fails?",
    group="Limits",
    place=350,
    minutes=3,
    needs="What if a promise may fail for few data sets?",
    asks=(
        "Whoever is alone in a cell: what does a release say of them?",
        "Why may the second release not be chosen after the first was seen?",
        "Would you take this promise for your own row?",
    ),
    point=((38, 48), (0, 0)),
    show=lesson,
    workbench="learn/page.py",
    workbench_link={"lesson": "random", **OWN_DATA},
)
