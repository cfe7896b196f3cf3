"""The lesson on a row that is alone in its cell: its numbers are those of the sample and of its releases."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from dpcore.data.samples import load_sample
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import shown_chances
from pages.charts.words import percent
from pages.learn.random_privacy.warning import PETS, TRIALS
from tests.pages.learn.test_lessons import lesson
from tests.pages.opening import sound, texts


def test_pets_names_and_rows_are_counted() -> None:
    words, table = texts(lesson("sparse-data")), load_sample("pets")
    said = re.search(r"Of Seattle's ([\d,]+) licensed pets, \*\*only one\*\* lives in zip code (\w+)\.", words)
    assert said is not None
    dataset = PETS.dataset()
    counts = {dataset.domain.describe(cell): int(rows) for cell, rows in enumerate(dataset.histogram)}
    assert int(said[1].replace(",", "")) == sum(counts.values()) and counts[said[2]] == 1
    assert f"how many still show a pet in {said[2]}?" in words
    names = Counter(table.codes("animal_name").tolist())
    unique = sum(count == 1 for count in names.values())
    assert f"Of the {len(names):,} names of these pets, {unique:,} belong to one pet only." in words


@pytest.mark.parametrize("gamma", [0.01, 0.1, 0.5])
def test_from_so_many_rows_on_empty_cells_may_stay_empty_and_not_from_fewer(gamma: float) -> None:
    words = texts(lesson("sparse-data", **{"sparse-data-gamma": str(gamma)}))
    said = re.search(
        r"With (\d+) cells and γ = ([\d.]+), empty cells may stay empty if n is at least ([\d,]+)\.", words
    )
    assert said is not None and float(said[2]) == gamma
    cells, rows = int(said[1]), int(said[3].replace(",", ""))
    assert cells == len(PETS.dataset().histogram)
    chances = [lone_row_chance(cells=cells, n=n, condition="paper") for n in (rows - 1, rows)]
    assert chances[1] <= gamma < chances[0]


def test_a_row_is_shown_for_certain_until_every_cell_gets_noise() -> None:
    app = lesson("sparse-data")
    for gamma, proof in ((0.1, True), (0.001, False)):
        words = texts(app)
        full, weaker = shown_chances(PETS.dataset(), epsilon=0.1, gamma=gamma, condition="paper", seed=1, trials=TRIALS)
        there, elsewhere = weaker
        said = f"If the pet is there, **{percent(there)}** of the releases show it; if not, **{percent(elsewhere)}** do"
        assert f"{said}{': a count there proves it' * proof};" in words and bool(elsewhere == 0) is proof
        # Noise in every cell is that of the histogram with the full promise.
        assert bool((full == weaker).all()) is not proof
        if proof:
            assert "With a tiny γ, noise protects the lone row too." in words
            (button,) = (each for each in app.button if each.label == "γ = 0.1%")
            app = sound(button.click().run())
