"""Medians that always answer, and where the notes' first rule loses privacy: pictures beside what they are drawn of."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core import Dataset, Neighbours, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.mechanisms.robust.smooth_median import SmoothMedian, power_of_two_delta, smooth_sensitivity
from dpcore.mechanisms.robust.stable_median import StableMedian, stability
from dpcore.queries.ranges import Thresholds
from dpcore.randomness.laws import laplace_quantile
from dplab.audit.exact import hockey_stick
from pages.charts.picture import Curve, Dots, numbers
from pages.charts.words import significant
from pages.one_number.near import smooth_picture
from pages.one_number.stable import without_randomness
from tests.pages.drawn_charts import drawn
from tests.pages.lessons import checked
from tests.pages.opening import opened, sound, texts

PAGE = "one_number/page.py"
GENERATED = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def test_without_randomness_one_neighbour_answers_always_and_the_other_never() -> None:
    mechanism = StableMedian(epsilon=1.0, delta=1e-6)
    picture = without_randomness(mechanism, delta=1e-6)
    checked(picture)
    crosses = [dots for dots in picture.find(Dots) if dots.shape == "x"]
    assert [(numbers(each.x)[0], numbers(each.y)[0]) for each in crosses] == [(1, 0), (2, 1)]
    # An outcome is an answer (1) or none (0): the exact divergence of these two, and of this mechanism's.
    one, other = (
        (np.array([[0.0], [1.0]]), np.array([1 - numbers(each.y)[0], numbers(each.y)[0]])) for each in crosses
    )
    assert hockey_stick(one, other, epsilon=5.0) == hockey_stick(other, one, epsilon=5.0) == 1
    assert "δ = 1 at any ε" in picture.sentence and "adds at most 1e-6 to" in picture.sentence
    curve = next(each for each in picture.find(Curve) if each.role == "theory")
    grown = numbers(curve.y)
    assert (grown[1:] <= math.e * grown[:-1] + 1e-6 * (1 + 1e-9)).all()
    np.testing.assert_allclose(numbers(curve.y), mechanism.chance(numbers(curve.x).astype(int)))


def test_the_picture_of_moves_has_s_at_its_largest_weighted_value() -> None:
    moves = np.array([0, 0, 1, 2, 2, 9, 9, 30])
    picture = smooth_picture(moves, smoothness=0.3, width=0.5, unit="kg")
    checked(picture)
    (dot,) = (each for each in picture.find(Dots) if each.role == "theory")
    smooth = 0.5 * smooth_sensitivity(moves, smoothness=0.3)
    assert numbers(dot.y)[0] == pytest.approx(smooth) and numbers(dot.x)[0] == 7
    weighted = next(each for each in picture.find(Curve) if each.role == "theory")
    assert numbers(weighted.y).max() == pytest.approx(smooth)
    true = next(each for each in picture.find(Curve) if each.role == "true")
    np.testing.assert_allclose(numbers(true.y), 0.5 * moves)
    assert f"S = {significant(smooth)}." in picture.sentence


def test_the_smooth_median_says_s_and_the_delta_of_powers_of_two() -> None:
    app = sound(opened(PAGE, robust="smooth-median", data="bimodal", n="500"))
    page = texts(app)
    assert {"robust_wrong_chart", "robust_why_chart"} <= set(drawn(app))
    coarse = significant(power_of_two_delta(epsilon=1.0, delta=1e-6, cells=1024))
    assert f"With powers of two, δ would be {coarse}." in page
    multiple = SmoothMedian().multiple(
        Problem(domain=(line := Number(bits=10)), queries=Thresholds(domain=line), n=500), 0.05
    )
    assert f"{multiple:.3g} times the smooth sensitivity S of the data" in page and "No guarantee" not in page


def test_near_agreement_is_enough_where_few_subsamples_are_equal() -> None:
    page = texts(sound(opened(PAGE, robust="subsample-near", data="earnings.earnings")))
    assert "of subsamples answer as the whole data do" in page and "which is enough" in page
    assert "answer within a distance of the whole data's answer" in page


def test_the_noise_is_no_wider_than_stability_allows() -> None:
    """What is said of private rows without looking at them, on data that are barely so stable."""
    domain, mechanism = Number(bits=6), SmoothMedian(epsilon=1.0, delta=1e-6)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=301)
    stable = np.arange(1, 151, 10)
    errors = mechanism.error_at(stable, problem, 0.05)
    assert (np.diff(errors) <= 0).all()
    for rows, error in zip(stable.tolist(), errors.tolist(), strict=True):
        # So many rows must leave the cell of the median: the first, or one in the middle.
        at_end, inside = [150 + rows, 0, 151 - rows], [151 - rows, 2 * rows - 1, 151 - rows]
        noise = []
        for counts in (at_end, inside):
            state = mechanism.prepare(Dataset(domain, np.repeat([0, 32, 63], counts), GENERATED), problem)
            _, step, _ = mechanism.step(state)
            noise.append(min(63, laplace_quantile(0.05, scale=mechanism.ladder(problem).scale(step)) - 1))
        assert noise[0] == error, "a median that crosses the whole range at once is the worst that there is"
        assert noise[1] <= error, "from the middle it goes half as far"


@pytest.mark.parametrize("relation", Neighbours)
def test_the_noise_of_all_small_data_is_within_what_their_stability_allows(relation: Neighbours) -> None:
    """And so many equal rows as the page says are as stable as it says, one fewer are not."""
    domain, mechanism = Number(bins=4), SmoothMedian(epsilon=3.0, delta=0.1)
    for counts in itertools.product(range(4), repeat=4):
        if any(counts):
            problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=sum(counts), neighbours=relation)
            state = mechanism.prepare(Dataset(domain, np.repeat(np.arange(4), counts), GENERATED), problem)
            _, step, _ = mechanism.step(state)
            _, stable = stability(state.histogram, domain=domain, neighbours=relation)
            noise = min(3, laplace_quantile(0.05, scale=mechanism.ladder(problem).scale(step)) - 1)
            assert noise <= int(mechanism.error_at(np.array([stable]), problem, 0.05)[0])
    for exact in (1, 2, 7):
        fewest = 2 * exact - 1 if relation is Neighbours.REPLACE_ONE else exact
        rows = (np.array([0, equal, 0, 0]) for equal in (fewest, fewest - 1) if equal)
        reached = [stability(counts, domain=domain, neighbours=relation)[1] for counts in rows]
        assert reached[0] == exact and max([*reached[1:], 0]) < exact


def test_the_smooth_median_takes_both_relations_on_the_page() -> None:
    app = sound(
        opened(PAGE, robust="smooth-median", data="bimodal", n="500", neighbours=Neighbours.ADD_REMOVE_ONE.words)
    )
    assert "add or remove one row" in texts(app) and {"robust_wrong_chart", "robust_why_chart"} <= set(drawn(app))
    assert r"\lfloor(n+k)/2\rfloor" in "".join(str(each.value) for each in app.latex)
