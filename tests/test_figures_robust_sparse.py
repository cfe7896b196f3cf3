"""The pictures of the robust and sparse pages: their numbers are the core's, their sentences true, specs whole."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.random_dp_figures import main as figures_command
from dpcore import Dataset, Line, Preview, Provenance, ProvenanceKind
from dpcore.figures.figure import Figure
from dpcore.figures.outcomes import answers, in_100, outcomes
from dpcore.figures.robust import Mark, chance_curve, places
from dpcore.figures.salaries import EPSILONS, KEYS, compare, errors_over_epsilon, some_rows
from dpcore.figures.salaries_walls import ranks_over_epsilon, refusals_over_epsilon
from dpcore.figures.sparse import PRIVATE, RANDOM, losses, panel
from dpcore.figures.sparse_risk import alone, expected_noise, growth, projected_losses
from dpcore.figures.votes import MOST_ANSWERS, votes
from dpcore.mechanisms.sparse_histogram import grid_example, line_example, loss_figure
from dpcore.mechanisms.stable_median import StableMedian, answer_chance, stability

PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
SHOWN: dict[str, Any] = {"badge": "simulated: test", "dark": False}


def sound(figure: Figure) -> Figure:
    """It is JSON, carries its badge, and every data set that is named is there."""
    text = json.dumps(figure.spec)
    assert "NaN" not in text and "Infinity" not in text
    assert SHOWN["badge"] in text and figure.sentence.endswith(".") and figure.title != "Chart"
    names = {part.split('"')[0] for part in text.split('"data": {"name": "')[1:]}
    assert names == set(figure.spec["datasets"])
    assert len({len(column) for column in figure.table.values()}) == 1 or figure.title.startswith("L1")
    return figure


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.0, "none of 100"),
        (1e-9, "fewer than 1 in 100"),
        (0.3, "about 30 in 100"),
        (0.999, "more than 99 in 100"),
        (1.0, "all of 100"),
    ],
)
def test_a_chance_is_never_rounded_to_none_or_all(chance: float, words: str) -> None:
    assert in_100(chance) == words


@pytest.mark.parametrize("stable", [1, 7, 40, 9000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_curve_is_the_exact_chance_and_the_data_are_on_it(stable: int, epsilon: float) -> None:
    threshold = StableMedian(epsilon=epsilon).threshold
    x = places(stable=stable, threshold=threshold)
    chance = answer_chance(x.astype(np.int64), epsilon=epsilon, threshold=threshold)
    mine = float(answer_chance(stable, epsilon=epsilon, threshold=threshold))
    figure = sound(
        chance_curve(
            x=x, chances={"answer": chance}, marks=[Mark(name="your data", x=stable, chance=mine)],
            threshold=threshold, title="stability", sentence="It says so.", **SHOWN,
        )
    )  # fmt: skip
    mark = figure.spec["datasets"]["marks"][0]
    assert mark["x"] == min(stable, x[-1]) and mark["name"].endswith("→") is bool(stable > x[-1])
    assert mark["chance"] == pytest.approx(mine, rel=1e-5)
    assert x[0] == 1 and threshold < x[-1] and (np.diff(x) > 0).all() and len(x) <= 200


@pytest.mark.parametrize(("refused", "wrong"), [(0, 0), (1, 0), (0.303, 0.004), (0.333, 0.333), (0.0005, 0.9995)])
def test_a_hundred_dots_add_up(refused: float, wrong: float) -> None:
    figure = sound(outcomes(refused=refused, wrong=wrong, **SHOWN))
    dots = Counter(each["outcome"] for each in figure.spec["datasets"]["runs"])
    assert sum(dots.values()) == 100
    assert abs(dots["no answer"] - 100 * refused) < 1 and abs(dots["another answer"] - 100 * wrong) < 1
    assert len({(each["x"], each["y"]) for each in figure.spec["datasets"]["runs"]}) == 100


def test_answers_of_one_that_never_refuses_stand_beside_the_exact_one() -> None:
    domain = Line(low=0, high=100, bits=10)
    values = np.array([500] * 90 + [480] * 10)
    figure = sound(answers(domain=domain, truth=500, values=values, **SHOWN))
    assert sum(each["share"] for each in figure.spec["datasets"]["answers"]) == pytest.approx(1)
    assert "about 90 in 100" in figure.sentence
    sound(answers(domain=domain, truth=3, values=np.full(10, 3), **SHOWN))


def test_votes_of_many_answers_share_a_bar() -> None:
    law = np.arange(1, 21) / 210
    figure = sound(votes(names=[f"a{i}" for i in range(20)], law=law, truth=19, needed=0.6, **SHOWN))
    bars = figure.spec["datasets"]["votes"]
    assert len(bars) == MOST_ANSWERS + 1 and sum(each["share"] for each in bars) == pytest.approx(1, abs=1e-3)
    assert [each["kind"] for each in bars].count("the data's answer") == 1
    assert "the next, a18" in figure.sentence and "60%" in figure.sentence


@pytest.fixture(scope="module")
def salaries() -> Dataset:
    rng = np.random.Generator(np.random.SFC64(3))
    return Dataset(Line(low=0, high=100, bits=6, unit="USD"), rng.binomial(63, 0.3, 4000), PROVENANCE)


def test_salaries_are_compared_at_every_epsilon(salaries: Dataset) -> None:
    work = compare(salaries, delta=1e-6, trials=300, seed=1)
    shares = []
    while True:
        try:
            shares.append(next(work))
        except StopIteration as done:
            found = done.value
            break
    assert len(shares) == len(KEYS) * len(EPSILONS) and shares == sorted(shares) and shares[-1] < 1
    stable = stability(salaries.histogram, domain=salaries.domain)[1]
    for column, epsilon in enumerate(EPSILONS):
        expected = 1 - float(answer_chance(stable, epsilon=epsilon, threshold=StableMedian(epsilon=epsilon).threshold))
        assert found.refused[0, column] == pytest.approx(expected, abs=0.12)
    assert (found.refused[1:] == 0).all() and np.nanmax(found.error[0]) == 0
    assert (np.diff(found.error[1:, :6]) <= 0.5).all()
    for dark in (False, True):
        for figure in (errors_over_epsilon, refusals_over_epsilon, ranks_over_epsilon):
            sound(figure(found=found, epsilon=0.03, badge=SHOWN["badge"], dark=dark))


def test_some_rows_are_a_seeded_draw_without_replacement(salaries: Dataset) -> None:
    one, same, other = (some_rows(salaries, n=500, seed=seed) for seed in (1, 1, 2))
    assert one.n == 500 and (one.histogram <= salaries.histogram).all()
    assert np.array_equal(one.records, same.records) and not np.array_equal(one.records, other.records)
    assert some_rows(salaries, n=10**6, seed=1) is salaries


@pytest.mark.parametrize("grid", [False, True])
def test_panels_and_losses(grid: bool) -> None:
    histogram = grid_example(3000) if grid else line_example()
    found = loss_figure(histogram, epsilon=1.0, gamma=0.1, condition="sharper", sampler=Preview(1))
    for name, counts in (("true", histogram), (PRIVATE, found.private[0]), (RANDOM, found.random[0])):
        figure = sound(panel(counts=counts, name=name, top=400, grid=grid, **SHOWN))
        assert sum(each["rows"] for each in figure.spec["datasets"]["cells"]) == histogram.sum()
        assert f"{(counts > 0).sum()} of {len(histogram)} cells" in figure.sentence
    for projected in (True, False):
        figure = sound(losses(found=found, projected=projected, **SHOWN))
        mean = found.private_loss.mean() if projected else found.private_noise.mean()
        assert f"{mean:.3g} for the private histogram" in figure.sentence
        assert Counter(each["who"] for each in figure.spec["datasets"]["losses"]) == {PRIVATE: 50, RANDOM: 50}


def test_losses_say_when_both_mechanisms_are_one() -> None:
    found = loss_figure(line_example(), epsilon=1.0, gamma=0.001, condition="paper", sampler=Preview(1))
    assert "both mechanisms are one" in sound(losses(found=found, projected=True, **SHOWN)).sentence


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_exact_mean_before_projection_is_the_simulated_one(epsilon: float) -> None:
    found = loss_figure(
        line_example(), epsilon=epsilon, gamma=0.1, condition="sharper", sampler=Preview(5), simulations=4000
    )
    for cells, noise in ((25, found.private_noise), (2, found.random_noise)):
        error = 5 * noise.std() / np.sqrt(len(noise))
        assert expected_noise(cells=cells, n=500, epsilon=epsilon) == pytest.approx(noise.mean(), abs=error)


def test_growth_follows_k_for_one_and_r_for_the_other() -> None:
    figure = sound(growth(cells=25, full=2, n=500, epsilon=1.0, gamma=0.1, condition="paper", **SHOWN))
    lines = figure.spec["datasets"]["lines"]

    def of(who: str, grows: str) -> list[tuple[int, float]]:
        return [(each["x"], each["y"]) for each in lines if (each["who"], each["grows"]) == (who, grows)]

    flat = {y for x, y in of(RANDOM, "k grows") if x <= 25}
    assert len(flat) == 1 and len({y for _, y in of(PRIVATE, "r grows")}) == 1
    assert dict(of(RANDOM, "k grows"))[1024] == dict(of(PRIVATE, "k grows"))[1024]
    assert "up to k = 25" in figure.sentence
    wall = {row["x"]: row["y"] for row in figure.spec["datasets"]["wall"]}
    assert all(loss >= wall[k] for k, loss in of(PRIVATE, "k grows") if k in wall) and len(wall) > 20
    assert f"no private histogram has less, at k = 1,024 {wall[1024]:.3g}" in figure.sentence
    never = sound(growth(cells=25, full=2, n=2, epsilon=1.0, gamma=0.001, condition="paper", **SHOWN))
    assert "met at no k" in never.sentence


def test_after_the_projection_the_private_loss_grows_about_as_log_k(seed: int) -> None:
    """Sixteen times the cells cost sixteen times the loss before it, about twice after; random privacy goes with r."""
    nothing = np.zeros((1, 1024), dtype=np.int64)
    noise = Preview(seed).noisy_counts(nothing, epsilon=1.0, sensitivity=2, trials=400)
    told: dict[str, Any] = {"cells": 25, "full": 2, "n": 500, "epsilon": 1.0, "gamma": 0.1, "condition": "sharper"}
    figure = sound(growth(**told, noise=noise, **SHOWN))
    assert "about as log k" in figure.sentence and "up to k = 69" in figure.sentence
    lines = figure.spec["datasets"]["lines"]

    def of(who: str, grows: str) -> dict[int, float]:
        return {each["x"]: each["y"] for each in lines if (each["who"], each["grows"]) == (who, grows)}

    private, random = of(PRIVATE, "k grows"), of(RANDOM, "k grows")
    assert max(private) == 1024 and private[1024] == random[1024]
    assert 69 in random and random[70] == private[70] > random[69]
    small = [x for x in random if x <= 69]
    assert len(small) > 3 and len({random[x] for x in small}) == 1
    # A straight line in log k: each doubling costs about as much as the last; a loss that grows with k would double.
    sizes = (64, 128, 256, 512, 1024)
    loss = [projected_losses(noise, cells=k, full=2, n=500)[0] for k in sizes]
    steps = np.diff(loss)
    assert steps.min() > 0 and steps.max() < 2 * steps.min() and loss[-1] < 3 * loss[0]
    # Simulated by the page's own figure on the same data: the same means, up to five standard errors.
    histogram = np.zeros(64, dtype=np.int64)
    histogram[:2] = 250
    found = loss_figure(
        histogram, epsilon=1.0, gamma=0.1, condition="sharper", sampler=Preview(seed + 1), simulations=400
    )
    mine = projected_losses(noise, cells=64, full=2, n=500)
    for mean, losses_seen in zip(mine, (found.private_loss, found.random_loss), strict=True):
        assert mean == pytest.approx(losses_seen.mean(), abs=5 * losses_seen.std() * np.sqrt(2 / 400))
    # More non-empty cells cost both of them.
    assert list(of(RANDOM, "r grows").values()) == sorted(of(RANDOM, "r grows").values())


def test_a_person_alone_is_told_apart() -> None:
    shown = np.array([[0.5, 0.3], [0.6, 0.0]])
    assert "knows for certain" in sound(alone(shown=shown, **SHOWN)).sentence
    assert "condition is not met" in sound(alone(shown=shown + 0.1, **SHOWN)).sentence


def test_one_command_prints_and_draws_both_figures_as_the_page_has_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    figures_command(["--epsilon", "0.5", "--gamma", "0.2", "--seed", "7", "--folder", str(tmp_path)])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert Counter(row["figure"] for row in rows) == {"1": 100, "2": 100}
    found = loss_figure(line_example(), epsilon=0.5, gamma=0.2, condition="sharper", sampler=Preview(7))
    assert [float(row["dp_loss"]) for row in rows[:100]] == pytest.approx(found.private_loss.tolist(), rel=1e-5)
    assert [float(row["random_dp_loss"]) for row in rows[:100]] == pytest.approx(found.random_loss.tolist(), rel=1e-5)
    drawn = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()}
    names = ("true", "differentially-private", "random-privacy", "losses")
    assert set(drawn) == {f"figure-{number}-{name}.vl.json" for number in (1, 2) for name in names}
    page = losses(found=found, projected=True, badge="b", dark=False).spec["datasets"]
    assert drawn["figure-1-losses.vl.json"]["datasets"] == page


def test_both_figures_are_among_the_benchmarks() -> None:
    assert "random_dp_figures" in Path("benchmarks/__main__.py").read_text(encoding="utf-8").split("ALL = ")[1]
