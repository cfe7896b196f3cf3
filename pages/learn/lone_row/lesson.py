"""Lesson: a guarantee for most data sets fails for a row that is alone in its cell."""

from __future__ import annotations

from dpcore.core import exactly
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import rows_needed
from pages.charts.words import percent
from pages.learn import kit, screen
from pages.learn.lone_row import figure
from pages.learn.random_privacy.warning import PETS, alone_chances, lone_place, pet_names
from pages.shell.addresses import OWN_DATA
from pages.shell.controls import stops
from pages.shell.status import badge
from pages.shell.tasks.memory import remember

GAMMAS = (0.001, 0.01, 0.1, 0.5)


def lesson() -> None:
    """Draw the lesson: the share of releases that show the lone row's cell as occupied."""
    dataset, place = remember(f"dataset|{PETS.key}", PETS.dataset), lone_place()
    cells = len(dataset.histogram)
    kit.intro(
        f"Of Seattle's {dataset.n:,} licensed pets, **only one** lives in zip code {place}. A histogram of "
        "zip codes is released. Its guarantee may fail for a share γ of data sets. If n is large "
        "enough for γ, empty cells get no noise."
    )
    loss = kit.epsilon("sparse-data", default=0.1)
    gamma = stops("Failing share γ", GAMMAS, 0.1, key="sparse-data-gamma")
    with kit.more():
        drawn = kit.draws_seed()
    guess = screen.guess_number(
        "sparse-data",
        f"Now move that pet to another zip code. Of 100 releases at ε = {exactly(loss)}, how many still show a pet in "
        f"{place}?",
        label="Your guess, of 100",
        high=100,
        default=40,
    )
    shares = alone_chances(epsilon=loss, gamma=gamma, condition="paper", seed=drawn)
    there, elsewhere = (float(each) for each in shares[1])
    spared = lone_row_chance(cells=cells, n=dataset.n, condition="paper") <= gamma
    shown = figure.lone_row_shares(shares, guess=guess / 100, spared=spared)
    kit.picture(shown, key="alone_shown", badge=badge(PETS, seed=drawn))
    kit.show_result(
        f"If the pet is there, **{percent(there)}** of the releases show it; if not, **{percent(elsewhere)}** do"
        f"{': a count there proves it' if spared else ''}; you guessed {guess}. {kit.SIMULATED}",
        verdict=screen.verdict(guess, 100 * elsewhere, near=2),
    )
    names, unique = pet_names()
    kit.theorem(
        r"\Pr\Bigl[\forall B:\,e^{-\varepsilon}\le\tfrac{Q(B|X)}{Q(B|X')}\le e^{\varepsilon}\Bigr]\ge1-\gamma",
        "The paper warns of this. An attacker who **knows all rows but one** learns the last row for "
        "certain if it is alone in its cell. The guarantee only says that such data sets are rare under "
        "random sampling.",
        f"Such rows are common in real data. Of the {names:,} names of these pets, {unique:,} belong to "
        f"one pet only. With {cells} cells and γ = {exactly(gamma)}, empty cells may stay empty if n is at "
        f"least {rows_needed(cells=cells, gamma=gamma, condition='paper'):,}. {kit.THEORY}",
        reference="Hall, Rinaldo and Wasserman (2013), Definition 1, equation 5 and Section 7.",
        meaning="Q(B|X): probability that a release of X lies in B; X′ differs in one row. Pr is over the sampled "
        "data, a share γ of which has no guarantee.",
    )
    kit.break_it("With a tiny γ, noise protects the lone row too.", "γ = 0.1%", {"sparse-data-gamma": kit.stop(0.001)})


LESSON = kit.Lesson(
    key="sparse-data",
    question="Whose privacy is lost if the guarantee fails?",
    place=350,
    minutes=3,
    needs="What if a guarantee may fail for a few data sets?",
    class_questions=(
        "What does a release reveal of a person who is alone in a cell?",
        "Why may the second release not be chosen after the first was seen?",
        "Would you accept this guarantee for your own row?",
    ),
    point=((38, 48), (0, 0)),
    show=lesson,
    workbench="learn/page.py",
    workbench_link={"lesson": "random", **OWN_DATA},
)
