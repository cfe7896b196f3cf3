"""The lesson on a row that is alone in its cell: its numbers are those of the sample and of its releases."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from dpcore import Cells, Number, Problem
from dpcore.data.samples import load_sample
from dpcore.mechanisms.histograms.sparse import SparseHistogram, lone_row_chance
from dplab.audit.exact import paired_laws
from dplab.sparse import shown_chances
from pages.charts.words import percent
from pages.learn.random_privacy.warning import PETS, TRIALS
from tests.kit import searched
from tests.pages.learn.test_lessons import lesson
from tests.pages.opening import sound, texts


def test_pets_names_and_rows_are_counted() -> None:
    words, table = texts(lesson("sparse-data")), load_sample("pets")
    said = searched(r"Of Seattle's ([\d,]+) licensed pets, \*\*only one\*\* lives in zip code (\w+)\.", words)
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
    said = searched(r"With (\d+) cells and γ = ([\d.]+), empty cells may stay empty if n is at least ([\d,]+)\.", words)
    assert float(said[2]) == gamma
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


def test_neither_random_nor_probabilistic_privacy_implies_the_other() -> None:
    """Exact laws: a lone row has infinite loss in most sparse histograms; rows shown at times break random DP."""
    domain = Number(bits=1)
    problem = Problem(domain=domain, queries=Cells(domain=domain), n=3)
    for epsilon in (0.1, 1.0, 1.76, 5.0):
        mechanism = SparseHistogram(epsilon=epsilon, gamma=0.5, condition="sharper")
        assert mechanism.guarantee(problem).gamma > 0, "empty cells stay empty here"
        infinite = [
            max(float(p[q == 0].sum()), float(q[p == 0].sum()))
            for pair, p, q in paired_laws(mechanism, problem, window=(-60, 60))
            if {pair.one, pair.other} & {(0, 0, 0), (1, 1, 1)}
        ]
        assert min(infinite) > 0.5
    # With probability δ all rows, else nothing: for different data sets the outputs that show rows are told for sure.
    delta = 0.01
    shows, shows_other = {"rows 0, 0": delta, "nothing": 1 - delta}, {"rows 0, 1": delta, "nothing": 1 - delta}
    lossy = [output for output in shows if shows[output] > math.exp(5) * shows_other.get(output, 0.0)]
    assert sum(shows[output] for output in lossy) == delta, "probabilistic privacy holds at δ"
    assert lossy, "and a finite loss for all outputs, as Definition 1 wants it, does not"
