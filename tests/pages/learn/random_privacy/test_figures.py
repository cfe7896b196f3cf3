"""Pictures of the Random privacy page: counts in their cells, losses on their sides, the wall below."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.random_dp_figures import main as figures_command
from dpcore.mechanisms.histograms.projection import project_counts
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dpcore.randomness import NoisyCounts, Preview
from dplab.sparse import LossFigure, grid_example, growth, line_example, simulate, simulated_noise
from pages.charts.picture import Bars, Curve, Dots, Heat, Rule, Wall, Words, numbers
from pages.charts.plotly import render
from pages.learn.random_privacy.charts import (
    PRIVATE,
    RANDOM,
    ROLES,
    SIDE,
    THRESHOLD,
    growth_curves,
    histograms,
    lone_pet,
    loss_growth,
    losses,
    panel,
)
from pages.learn.random_privacy.lesson import WIDE, widened
from tests.pages.label_overlap import on_dots
from tests.pages.opening import RANDOM_PRIVACY, opened
from tests.pages.picture_checks import whole


def simulated(histogram: np.ndarray, *, gamma: float = 0.1) -> LossFigure:
    return simulate(histogram, epsilon=1.0, gamma=gamma, condition="sharper", seed=1, times=100)


def test_the_mechanisms_have_their_own_roles() -> None:
    assert ROLES["true"] == "true"
    assert ROLES[PRIVATE] == "mechanism:projected_histogram" and ROLES[RANDOM] == "mechanism:sparse_histogram"


@pytest.mark.parametrize("name", ["true", PRIVATE, RANDOM])
def test_bars_stand_over_their_cells_as_high_as_the_roots_of_their_counts(name: str) -> None:
    counts = line_example()
    picture = whole(panel(counts=counts, name=name, top=400, grid=False))
    bars = picture.one(Bars, role=ROLES[name])
    assert numbers(bars.start).tolist() == list(range(25)) and numbers(bars.end).tolist() == list(range(1, 26))
    assert numbers(bars.value) ** 2 == pytest.approx(counts)
    assert bars.hover is not None and bars.hover[8] == f"cell 8: 300 rows, {name}"
    assert picture.y.high == 20 and picture.y.named[20.0] == "400"
    for place, text in picture.y.named.items():
        assert place**2 == pytest.approx(int(text.replace(",", "")))
    assert picture.table["rows"] == counts.tolist() and "2 of 25 cells" in picture.sentence


@pytest.mark.parametrize("top", [1, 7, 99, 1000, 52_519])
def test_an_axis_of_roots_names_whole_rows_up_to_the_top(top: int) -> None:
    picture = whole(panel(counts=np.array([0, top]), name="true", top=top, grid=False))
    named = [int(text.replace(",", "")) for text in picture.y.named.values()]
    assert named[0] == 0 and named[-1] >= 0.9 * top and max(named) <= top
    assert list(picture.y.named) == pytest.approx([math.sqrt(rows) for rows in named])


@pytest.mark.parametrize(("name", "role"), [("true", "true"), (PRIVATE, "released"), (RANDOM, "released")])
def test_a_map_has_its_first_row_on_top(name: str, role: str) -> None:
    counts = np.zeros(SIDE * SIDE, dtype=np.int64)
    counts[[0, SIDE - 1, -1]] = 5, 6, 7
    heat = whole(panel(counts=counts, name=name, top=10, grid=True)).one(Heat, role=role)
    value = numbers(heat.value)
    assert (value[-1, 0], value[-1, -1], value[0, -1], value.sum()) == (5, 6, 7, 18)
    assert (heat.low, heat.high, heat.unit, heat.root) == (0, 10, "rows", True)
    said = np.array(heat.hover).reshape(value.shape)
    assert said[-1, 0] == f"cell 0: 5 rows, {name}" and said[0, -1] == f"cell 399: 7 rows, {name}"


@pytest.mark.parametrize("projected", [True, False])
@pytest.mark.parametrize("histogram", [line_example(), grid_example(3000)], ids=["line", "grid"])
def test_losses_of_one_go_up_and_of_the_other_down(histogram: np.ndarray, projected: bool) -> None:
    found = simulated(histogram)
    private, random, above = (
        (found.private_loss, found.random_loss, found.threshold_loss)
        if projected
        else (found.private_noise, found.random_noise, found.threshold_noise)
    )
    picture = whole(losses(simulations=found, projected=projected))
    assert not (hidden := on_dots(picture, render(picture, badge="", dark=False))), hidden
    width = picture.x.high or 0
    for name, loss, up in ((PRIVATE, private, 1), (RANDOM, random, -1), (THRESHOLD, above, -1)):
        dots = picture.one(Dots, role=ROLES[name])
        assert dots.name == name and len(numbers(dots.x)) == 50 and (up * numbers(dots.y) >= 1).all()
        quantiles = np.quantile(loss, (np.arange(50) + 0.5) / 50)
        assert (np.abs(numbers(dots.x) - quantiles) <= width / 80 + 1e-12).all(), "in its own column"
        assert len(set(zip(numbers(dots.x).tolist(), numbers(dots.y).tolist(), strict=True))) == 50
        assert numbers(dots.x).max() < width
        mean = picture.one(Rule, role=ROLES[name])
        assert mean.x == loss.mean() and (f"{loss.mean():.3g}" in mean.label or name == THRESHOLD)
        assert picture.table[name] == pytest.approx(np.sort(loss), rel=1e-3)
    assert numbers(picture.one(Dots, name=THRESHOLD).y).max() < numbers(picture.one(Dots, name=RANDOM).y).min()
    assert f"for all data: {above.mean():.3g}." in picture.sentence
    assert f"{private.mean():.3g} for the private histogram, {random.mean():.3g} for the" in picture.sentence


def test_losses_say_when_both_mechanisms_are_one() -> None:
    found = simulate(line_example(), epsilon=1.0, gamma=0.001, condition="paper", seed=1, times=100)
    assert (
        "the condition is not met, so both mechanisms are the same here."
        in losses(simulations=found, projected=True).sentence
    )


def test_growth_is_drawn_for_both_and_hatched_below_what_is_possible() -> None:
    found = growth(cells=25, full=2, n=500, epsilon=1.0, gamma=0.1, condition="paper")
    picture = whole(growth_curves(found))
    for name, by_k, by_r in (
        (PRIVATE, found.by_k.private, found.by_r.private),
        (RANDOM, found.by_k.random, found.by_r.random),
    ):
        k, r = (picture.one(Curve, name=f"{name}, {grows} grows", role=ROLES[name]) for grows in "kr")
        assert np.array_equal(k.x, found.by_k.cells) and np.array_equal(k.y, by_k)
        assert np.array_equal(r.x, found.by_r.cells) and np.array_equal(r.y, by_r)
        assert k.dash != r.dash, "told apart without a colour"
    wall = picture.one(Wall)
    assert np.array_equal(wall.x, found.lower_bound_cells) and np.array_equal(wall.y, found.lower_bound)
    assert wall.role == "impossible" and wall.end < found.lower_bound.min() and picture.y.low == wall.end
    assert picture.x.log and picture.y.log
    assert "as k/(εn)" in picture.sentence and "up to k = 25" in picture.sentence
    assert (
        f"private histograms on the hardest data; at k = 1,024, errors below {found.lower_bound[-1]:.3g}"
        in picture.sentence
    )
    assert Counter(picture.table["histogram"])["impossible (lower bound)"] == len(found.lower_bound)
    never = growth(cells=25, full=2, n=2, epsilon=1.0, gamma=0.001, condition="paper")
    assert "met at no k" in growth_curves(never).sentence


def test_after_the_projection_there_is_no_wall_and_log_k_is_a_straight_line() -> None:
    noise = simulated_noise(25, epsilon=1.0, seed=1)
    found = growth(cells=25, full=2, n=500, epsilon=1.0, gamma=0.1, condition="sharper", noise=noise)
    picture = whole(growth_curves(found))
    assert not picture.find(Wall) and picture.x.log and not picture.y.log
    assert "about as log k (10 times)" in picture.sentence and "up to k = 69" in picture.sentence


def test_a_loss_grows_about_as_log_k_only_where_it_does() -> None:
    assert loss_growth((10, 100), (0.1, 0.21)) == "2.1 times the error: it grows about as log k (2 times)"
    assert loss_growth((10, 100), (0.1, 0.3)) == "3 times the error; log k grows 2 times"
    assert loss_growth((10, 100), (0.0, 0.3)) == "an error of 0.3 of n instead of 0"
    few, many = widened(epsilon=0.01, n=500)
    assert "about" not in loss_growth(WIDE, (few, many))


@pytest.mark.parametrize("cells", [25, 400])
@pytest.mark.parametrize("n", [500, 1000, 3000, 8000, 30_000])
def test_the_sharper_condition_allows_a_smaller_gamma(cells: int, n: int) -> None:
    paper, sharper = (lone_row_chance(cells=cells, n=n, condition=each) for each in ("paper", "sharper"))
    assert sharper < paper == 2 * cells / n
    assert sharper > 0.01 or n != 500  # the lesson's break: the condition fails for both


def test_a_pet_alone_is_told_apart() -> None:
    shown = np.array([[0.5, 0.3], [0.6, 0.0]])
    picture = whole(lone_pet(shown, spared=True))
    assert "60 of 100 releases show a pet there if it is there, and 0 if not" in picture.sentence
    assert "who knows all other rows and sees a count knows the last row with certainty" in picture.sentence
    for column, case in enumerate(("pet there", "pet elsewhere")):
        bars = picture.one(Bars, name=case)
        assert bars.across and np.array_equal(bars.value, shown[:, column])
        middle = (numbers(bars.start) + numbers(bars.end)) / 2
        assert [picture.y.labels[round(place)] for place in middle] == [
            PRIVATE.replace(" ", "\n"),
            RANDOM.replace(" ", "\n"),
        ], "each word has its line: a longer one would be cut"
    assert picture.one(Bars, role="released").name == "pet there"
    assert [each.text for each in picture.find(Words)] == ["50%", "60%", "30%", "0%"]
    assert picture.table["share of releases"] == [0.5, 0.3, 0.6, 0]
    # Where every cell gets noise, none of 500 releases may show a pet that is elsewhere: that is no proof.
    noisy = lone_pet(shown, spared=False).sentence
    assert "condition is not met" in noisy and "certain" not in noisy


def test_one_command_prints_and_draws_both_figures_as_the_page_has_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    figures_command(["--epsilon", "0.5", "--gamma", "0.2", "--seed", "7", "--folder", str(tmp_path)])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert Counter(row["figure"] for row in rows) == {"1": 100, "2": 100}
    found = simulate(line_example(), epsilon=0.5, gamma=0.2, condition="sharper", seed=7, times=100)
    assert [float(row["dp_loss"]) for row in rows[:100]] == pytest.approx(found.private_loss.tolist(), rel=1e-5)
    assert [float(row["random_dp_loss"]) for row in rows[:100]] == pytest.approx(found.random_loss.tolist(), rel=1e-5)
    drawn = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    names = ("true", "differentially-private", "random-privacy", "losses")
    assert set(drawn) == {f"figure-{number}-{name}.json" for number in (1, 2) for name in names}
    badge = "true: generated · simulated, preview sampler, seed 7"
    page = render(losses(simulations=found, projected=True), badge=badge, dark=False)
    assert drawn["figure-1-losses.json"] == json.loads(json.dumps({"data": page.data, "layout": page.layout}))


def test_both_figures_are_among_the_benchmarks() -> None:
    assert "random_dp_figures" in Path("benchmarks/__main__.py").read_text(encoding="utf-8").split("ALL = ")[1]


def test_the_sentence_counts_the_cells_and_errors_of_the_releases_that_are_drawn() -> None:
    found = simulated(line_example())
    private, random = found.private[0], found.random[0]
    losses_of = [np.abs(each - line_example()).sum() / line_example().sum() for each in (private, random)]
    assert histograms(simulations=found).sentence == (
        f"2 of 25 cells hold rows. The private release shows rows in {np.count_nonzero(private)} cells, the "
        f"random-private one in {np.count_nonzero(random)}. "
        f"Total errors here: {losses_of[0]:.3g} and {losses_of[1]:.3g} of n."
    )


def test_the_losses_are_compared_by_the_ratio_of_their_means() -> None:
    found = simulated(line_example())
    ratio = np.mean(found.private_noise) / np.mean(found.random_noise)
    assert ratio > 2 and losses(simulations=found, projected=False).sentence.split(" Above a threshold")[0].endswith(
        f"{ratio:.3g} times as much as with random privacy."
    )


@pytest.mark.parametrize("histogram", [line_example(), grid_example(8000)], ids=["line", "grid"])
def test_the_projection_empties_most_cells_and_has_ties(histogram: np.ndarray) -> None:
    told = (
        "which empties most cells again. How much this helps depends on "
        "how ties are broken; the paper leaves that open."
    )
    assert told in opened(RANDOM_PRIVACY).toggle(key="sparse-projected").help
    noisy = Preview(1).draw(NoisyCounts(histogram[None, :], epsilon=1.0, sensitivity=2), 100)
    n, empty = int(histogram.sum()), histogram == 0
    one = project_counts(noisy, total=n)
    assert (noisy[:, empty] == 0).mean() < 0.5 < (one[:, empty] == 0).mean()
    # Ties settled from the other end: as near to the noisy counts, and another loss.
    other = project_counts(noisy[:, ::-1], total=n)[:, ::-1]
    assert (np.abs(one - noisy).sum(axis=1) == np.abs(other - noisy).sum(axis=1)).all()
    assert (np.abs(one - histogram).sum(axis=1) != np.abs(other - histogram).sum(axis=1)).any()
