"""Boxes: answers by hand, cuts of two and three columns, the exact law, the promise and the bound below it."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

from dpcore import Account, Dataset, Enumerate, Neighbours, ParameterError, Preview, Problem, Secure
from dpcore.core import Guarantee
from dpcore.data.columns import Labels
from dpcore.data.product import Product
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.mechanisms.intervals import boxes
from dpcore.mechanisms.intervals.box_errors import AT_ONCE, box_errors
from dpcore.mechanisms.intervals.boxes import BoxCuts, BoxRelease, BoxState, sub_cells
from dpcore.queries.boxes import RangeBoxes
from dpcore.randomness import Draw, MedianCuts, Sampler
from dplab.audit import exact_delta, smallest_epsilon
from dplab.measure import finish
from tests.cases import full_but
from tests.dpcore.mechanisms.test_sensitivity import moves_further_than_told
from tests.kit.attribute_tables import correlated, every_record
from tests.kit.problems import PROVENANCE
from tests.kit.statistics import assert_law, assert_other_law, tally_rows

every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
every_width = pytest.mark.parametrize("sizes", [(2, 2), (2, 2, 2)], ids=["two", "three"])


def problem_of(
    sizes: tuple[int, ...], *, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE, marks: int = 8
) -> Problem:
    domain = Product.coded({f"a{place}": size for place, size in enumerate(sizes)})
    return Problem(domain=domain, queries=RangeBoxes(domain=domain, marks=marks), n=n, neighbours=neighbours)


def asked(problem: Problem) -> RangeBoxes:
    assert isinstance(problem.queries, RangeBoxes)
    return problem.queries


def test_answers_are_those_of_every_box_and_of_no_row_that_fits_no_label() -> None:
    columns = (Labels(labels=tuple("abcde")), Labels(labels=("x", "y"), missing=False))
    domain = Product(names=("letter", "sign"), columns=columns)
    queries = RangeBoxes(domain=domain, marks=3)
    assert queries.count == 6 * 3 and queries.vc_dimension == 3
    rows = np.random.default_rng(1).integers(0, 9, (2, 6, 2))
    answers = queries.answers(rows)
    places = [0, 2, 3, 5]
    boxes = itertools.product(itertools.combinations(places, 2), itertools.combinations(range(3), 2))
    for index, ((left, right), (low, high)) in enumerate(boxes):
        np.testing.assert_array_equal(answers[:, index], rows[:, left:right, low:high].sum(axis=(1, 2)))
        assert queries.index([(places.index(left), places.index(right)), (low, high)]) == index
    assert queries.describe(1) == "letter a to b, sign x to y"
    with pytest.raises(ParameterError, match="1 to 3 columns"):
        RangeBoxes(domain=Product.coded(dict.fromkeys("abcd", 2)))
    with pytest.raises(ParameterError, match="1 to 16 places"):
        RangeBoxes(domain=domain, marks=17)


@pytest.mark.slow
@every_width
@every_relation
def test_the_exact_law_keeps_the_guarantee(
    sizes: tuple[int, ...], neighbours: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All data sets of a few rows; on three columns of four records, in cells that are not divided: few cuts."""
    universe, rows = every_record(sizes), 2
    if len(sizes) == 3:
        monkeypatch.setattr(boxes, "sub_cells", lambda *_, **__: 1)
        universe, rows = universe[[0, 3, 5, 7]], 2 if neighbours is Neighbours.REPLACE_ONE else 1
    problem = problem_of(sizes, n=rows, neighbours=neighbours)
    mechanism = BoxCuts(epsilon=3.0, levels=1)
    assert exact_delta(mechanism, problem, universe=universe).delta < 1e-9

    class Claims(BoxCuts):
        """The positive control: the same draws judged at a sixth of the epsilon."""

        def guarantee(self, problem: Problem) -> Guarantee:
            return dataclasses.replace(super().guarantee(problem), epsilon=0.5)

    assert exact_delta(Claims(epsilon=3.0, levels=1), problem, universe=universe).delta > 1e-3


@pytest.mark.slow
@every_width
def test_previews_have_the_exact_law(sizes: tuple[int, ...], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 previews; the control has 1.5 times the epsilon."""
    if len(sizes) == 3:
        monkeypatch.setattr(boxes, "sub_cells", lambda *_, **__: 1)
    problem = problem_of(sizes, n=4)
    records = every_record(sizes)[[0, 1, -1, -1]]
    mechanism, louder = BoxCuts(epsilon=4.0, levels=1), BoxCuts(epsilon=6.0, levels=1)
    state = mechanism.prepare(Dataset(problem.domain, records, PROVENANCE), problem)
    outcomes, chances = Enumerate(window=(-1, 1)).law(mechanism, state)
    order = np.argsort(-chances)
    for each, check in ((mechanism, assert_law), (louder, assert_other_law)):
        drawn = each.run(state, Preview(seed), 20_000).outcomes()
        check(tally_rows(drawn, outcomes)[order], chances[order])


@every_relation
@pytest.mark.parametrize("sizes", [(5, 3), (4, 3, 3)])
def test_all_levels_together_spend_epsilon(sizes: tuple[int, ...], neighbours: Neighbours, seed: int) -> None:
    problem = problem_of(sizes, n=40, neighbours=neighbours)
    rows = np.bincount(np.arange(40) % problem.domain.size, minlength=problem.domain.size)
    state = BoxState(problem=problem, rows=rows.reshape(sizes))
    for inner in (Preview(seed), Secure()):
        account = Account(inner)
        release = BoxCuts(epsilon=0.7, levels=2).run(state, account, 2)
        assert account.epsilon == pytest.approx(0.7) and len(account.charges) == 2 * len(sizes)
        assert release.rows().sum() == pytest.approx(2 * 40)


class Halved(BoxCuts):
    """The positive control: draws that are told half of the sensitivity."""

    def run(self, state: BoxState, sampler: Any, trials: int = 1) -> BoxRelease:
        class Told(Sampler):
            name = "told"

            def make(self, draw: Draw[Any], trials: int) -> Any:
                assert isinstance(draw, MedianCuts)
                return sampler.draw(dataclasses.replace(draw, sensitivity=draw.sensitivity / 2), trials)

        return super().run(state, Told(), trials)


TELLING: dict[int, list[tuple[int, ...]]] = {
    2: [(0, 1), (0, 2), (1, 0), (1, 0), (2, 2), (2, 2), (2, 2), (2, 1)],
    3: [(0, 0, 1), (0, 0, 2), (0, 1, 0), *[(0, 2, 1)] * 3, *[(1, 2, 1)] * 2, (2, 0, 1), (2, 0, 1), (2, 0, 2), (2, 0, 2),
        (2, 1, 2), (2, 2, 0), (2, 2, 0), (2, 0, 1)],
}  # fmt: skip
"""Rows, by columns: when the last becomes the first record, the cut taken gains what the best cut loses, each time."""


@pytest.mark.parametrize("columns", full_but(TELLING, *[each for each in TELLING if each < 3]))
def test_a_replaced_row_can_cost_nearly_all_of_epsilon_so_no_noise_is_spare(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pair on whole cells; the control has half of the noise, which the pairs of two or three rows do not show."""
    monkeypatch.setattr(boxes, "sub_cells", lambda *_, **__: 1)
    rows = TELLING[columns]
    problem = problem_of((3,) * columns, n=len(rows))

    def loss(mechanism: BoxCuts) -> float:
        laws = []
        for last in (rows[-1], (0,) * columns):
            data = Dataset(problem.domain, np.array([*rows[:-1], last]), PROVENANCE)
            laws.append(Enumerate(window=(-1, 1)).law(mechanism, mechanism.prepare(data, problem)))
        return max(smallest_epsilon(*laws, delta=0.0), smallest_epsilon(*laws[::-1], delta=0.0))

    epsilon = 9.0
    assert 0.75 * epsilon < loss(BoxCuts(epsilon=epsilon, levels=1)) <= epsilon * (1 + 1e-9)
    assert loss(Halved(epsilon=epsilon, levels=1)) > 1.5 * epsilon


@every_relation
@pytest.mark.parametrize(("sizes", "levels"), [((4, 4), 2), ((3, 2, 2), 1)])
def test_no_neighbour_moves_scores_further_than_told(
    sizes: tuple[int, ...], levels: int, neighbours: Neighbours, seed: int
) -> None:
    """Such as a row that leaves one slab for another: all cuts of a level, draw by draw."""
    records = every_record(sizes)
    base = records[np.random.default_rng(seed).integers(0, len(records), 40)]
    problem = problem_of(sizes, n=40, neighbours=neighbours)
    common = base[:-1] if neighbours is Neighbours.REPLACE_ONE else base
    states = []
    for rows in (base, *(np.concatenate([common, [record]]) for record in records)):
        counts = np.bincount(np.ravel_multi_index(tuple(rows.T), sizes), minlength=len(records)).reshape(sizes)
        states.append(BoxState(problem=problem, rows=counts))
    assert not moves_further_than_told(BoxCuts(levels=levels), states, seed=seed, trials=10)
    assert moves_further_than_told(Halved(levels=levels), states, seed=seed, trials=10)


@pytest.mark.parametrize("sizes", [(7, 5), (5, 4, 3)])
def test_with_much_epsilon_cells_hold_equally_many_rows_and_only_boundaries_err(
    sizes: tuple[int, ...], seed: int
) -> None:
    problem = problem_of(sizes, n=20_000)
    records = correlated(sizes, n=20_000, seed=seed)
    mechanism = BoxCuts(epsilon=20.0, levels=3)
    state = mechanism.prepare(Dataset(problem.domain, records, PROVENANCE), problem)
    release = mechanism.run(state, Preview(seed), 5)
    assert isinstance(release, BoxRelease)
    truth = asked(problem).answers(state.rows[None]) / 20_000
    worst = np.abs(release.answers() - truth).max()
    assert worst < 2 * len(sizes) / 8
    part = release.part(1, 3)
    np.testing.assert_allclose(part.answers(), release.answers()[1:3])


def test_errors_of_all_boxes_are_those_of_the_same_releases(seed: int) -> None:
    sizes, problem = (5, 4, 3), problem_of((5, 4, 3), n=3_000)
    mechanism = BoxCuts(epsilon=2.0, levels=2)
    state = mechanism.prepare(Dataset(problem.domain, correlated(sizes, n=3_000, seed=seed), PROVENANCE), problem)
    errors = finish(box_errors(mechanism, state, Preview(seed), trials=AT_ONCE))
    answers = mechanism.run(state, Preview(seed), AT_ONCE).answers()
    truth = asked(problem).answers(state.rows[None])[0] / 3_000
    np.testing.assert_allclose(errors.truth, truth)
    np.testing.assert_allclose(errors.released, answers[0])
    np.testing.assert_allclose(errors.worst, np.abs(answers - truth).max(axis=1))
    more = finish(box_errors(mechanism, state, Preview(seed), trials=AT_ONCE + 3))
    np.testing.assert_allclose(more.worst[:AT_ONCE], errors.worst)
    assert len(more.worst) == AT_ONCE + 3 and (more.worst > 0).all()


@pytest.mark.parametrize("sizes", [(6, 5), (4, 3, 2)])
@every_relation
def test_the_promise_is_above_the_bound_and_says_where_it_is_empty(
    sizes: tuple[int, ...], neighbours: Neighbours
) -> None:
    mechanism = BoxCuts(epsilon=1.0, levels=1 + len(sizes))
    problem = problem_of(sizes, n=20_000, neighbours=neighbours)
    bound = mechanism.accuracy(problem, 0.05)
    assert bound.vacuous == (len(sizes) == 3), "three columns promise nothing to twenty thousand rows"
    needed = bound.rows_needed
    assert needed is not None and (needed > 20_000) == bound.vacuous
    at, below = (mechanism.accuracy(dataclasses.replace(problem, n=n), 0.05).value for n in (needed, needed - 1))
    assert at < 1 <= below + 1e-9
    wall = lower_bound(problem, mechanism.guarantee(problem), beta=0.05)
    assert wall is not None and 0 < wall.value < bound.value
    few = BoxCuts(levels=1).accuracy(problem, 0.05)
    assert few.rows_needed is None and few.note


def test_columns_with_too_many_cells_are_refused_in_a_sentence() -> None:
    problem = problem_of((300, 300), n=10)
    with pytest.raises(ParameterError, match="combinations of cells"):
        BoxCuts().accuracy(problem, 0.05)


def test_sub_cells_cost_half_in_s_or_one_in_s() -> None:
    assert [sub_cells(column, columns=3, levels=3) for column in range(3)] == [64, 64, 18]
