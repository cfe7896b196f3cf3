"""The frontier of a question: errors against ε and n, cells that are kept, and the picture of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.data.columns import Labels, Number
from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.randomness import Preview
from dplab.measure import finish
from dprelease.certificate import price_of
from dprelease.ledger.units import BudgetMeasure, Price
from dprelease.plan import compare
from dprelease.plan.answers import Errors
from dprelease.plan.compare import N_GRID, NOISES, Cells, better_noise, compare_mechanisms
from dprelease.plan.errors import predict, simulate_errors, twin_of
from dprelease.plan.planned_question import PlannedQuestion, group_question
from dprelease.plan.questions import Plan
from pages.charts.picture import Band, Curve, Dots, Rule, numbers
from pages.plan.errors_by_rows import errors_by_rows

TABLE = DeclaredTable(
    columns=(
        DeclaredColumn(name="age", on=Number(high=64, bits=4)),
        DeclaredColumn(name="pay", on=Number(high=64, bits=2)),
        DeclaredColumn(name="group", on=Labels(labels=("a", "b", "c"))),
    )
)
BOXES = PlannedQuestion(columns=("age", "pay"), queries="rectangles", entry_key="identity", epsilon=0.5)
TABLES = PlannedQuestion(
    columns=("age", "group"), queries="marginal-tables", entry_key="direct-tables", epsilon=0.5, ways=2
)
UPPER = PlannedQuestion(
    columns=("age",), queries="thresholds", entry_key="exponential_median", epsilon=0.5, values={"quantile": 0.9}
)


def plan(question: PlannedQuestion) -> Plan:
    return Plan(table=TABLE, n=1_000, questions=(question,))


@pytest.mark.slow
@pytest.mark.parametrize("question", [BOXES, TABLES, UPPER], ids=["counts", "tables", "value"])
@pytest.mark.parametrize("by_rows", [False, True], ids=["epsilon", "n"])
def test_every_mechanism_that_answers_the_same_is_compared(question: PlannedQuestion, by_rows: bool) -> None:
    found = finish(compare_mechanisms(plan(question), question, cells={}, by_rows=by_rows))
    keys = {
        "rectangles": {"identity", "gaussian", "rectangles"},
        "marginal-tables": {"direct-tables", "residual-planner"},
        "thresholds": {"exponential_median", "stable_median"},
    }
    assert set(found.keys) == keys[question.queries], "no rows of nobody, no other value, nothing unproved"
    errors = found.worst[found.keys.index(question.entry_key), :, 1]
    assert errors[-1] <= errors[0] and (question is UPPER or errors[-1] < errors[0] / 2)


def test_errors_fall_as_rows_grow_where_the_noise_stays() -> None:
    found = finish(compare_mechanisms(plan(TABLES), TABLES, cells={}, by_rows=True))
    assert found.epsilons.tolist() == list(N_GRID)
    rows = found.worst[found.keys.index("direct-tables"), :, 1] * found.epsilons
    assert np.ptp(rows) <= 0.2 * rows.mean(), "has many rows at every numbers"
    [prediction] = finish(predict(plan(TABLES)))
    at = N_GRID.index(1_000)
    assert found.worst[found.keys.index("direct-tables"), at, 1] == pytest.approx(prediction.worst, rel=0.2)
    assert found.promised[found.keys.index("direct-tables"), at] == prediction.promised


def test_whoever_stops_half_way_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    cells: Cells = {}
    work = compare_mechanisms(plan(TABLES), TABLES, cells=cells)
    for _ in range(7):
        next(work)
    work.close()
    assert len(cells) == 7
    before, counted = dict(cells), list[Any]()

    def counting(*told: Any, **more: Any) -> Errors:
        counted.append(told)
        return simulate_errors(*told, **more)

    monkeypatch.setattr(compare, "simulate_errors", counting)
    found = finish(compare_mechanisms(plan(TABLES), TABLES, cells=cells))
    assert len(counted) == len(found.keys) * len(found.epsilons) - 7
    assert all(cells[place] is cell for place, cell in before.items())
    whole = finish(compare_mechanisms(plan(TABLES), TABLES, cells={}))
    np.testing.assert_array_equal(found.worst, whole.worst)  # the same public problem and seed
    finish(compare_mechanisms(plan(TABLES), TABLES, cells=cells))
    assert len(counted) == 2 * len(found.keys) * len(found.epsilons) - 7, "nothing is worked out again"


@pytest.mark.slow
def test_the_picture_against_n_puts_each_number_where_it_is() -> None:
    question = replace(TABLES, target=0.02)
    found = finish(compare_mechanisms(plan(question), question, cells={}, by_rows=True))
    titles = {key: f"<{key}>" for key in found.keys}
    settings: dict[str, Any] = {
        "sweep": found,
        "titles": titles,
        "chosen": "direct-tables",
        "epsilon": 0.5,
        "target": 0.02,
    }
    pure = [False for _ in found.keys]
    picture = errors_by_rows(pure=pure, **settings)
    row = found.keys.index("direct-tables")
    dots = picture.one(Dots, role="mechanism:direct-tables")
    assert numbers(dots.x).tolist() == found.epsilons.tolist()
    assert numbers(dots.y).tolist() == found.worst[row, :, 1].tolist()
    assert dots.pick is not None and dots.pick[0] == {"key": "direct-tables", "epsilon": 0.5}
    [band] = picture.find(Band)
    assert band.role == "mechanism:direct-tables" and numbers(band.high).tolist() == found.worst[row, :, 2].tolist()
    promise = picture.one(Curve, role="theory")
    assert numbers(promise.y).tolist() == found.promised[row].tolist()
    assert {rule.x or rule.y for rule in picture.find(Rule)} == {1_000.0, 0.02}
    boxes = finish(compare_mechanisms(plan(BOXES), BOXES, cells={}, by_rows=True))
    settings |= {"sweep": boxes, "titles": {key: key for key in boxes.keys}, "chosen": "identity"}
    few = errors_by_rows(pure=[key != "gaussian" for key in boxes.keys], every=False, **settings)
    drawn = {mark.role for mark in few.find(Dots)}
    assert "mechanism:identity" in drawn and "mechanism:rectangles" not in drawn, "which is beaten at every n"


NUMBERS = tuple(DeclaredColumn(name=f"x{place}", on=Number(high=100, bins=50)) for place in range(12))
GROUPED = DeclaredTable(
    columns=(
        DeclaredColumn(name="region", on=Labels(labels=tuple("abcdefghijklmnop"), missing=False)),
        DeclaredColumn(name="job", on=Labels(labels=tuple("abcdefghijkl"), missing=False)),
        DeclaredColumn(name="sex", on=Labels(labels=("f", "m"), missing=False)),
        *NUMBERS,
    )
)
DELTA = 10**14


def means(count: int, name: str, *, epsilon: float = 1.0) -> Plan:
    """Means of so many numbers by three columns, with this noise; each has an equal share of ε."""
    questions = [
        replace(group_question("mean", (f"x{place}",), ("region", "job", "sex"), epsilon=epsilon / count),
                entry_key=NOISES[name][0])
        for place in range(count)
    ]  # fmt: skip
    return Plan(table=GROUPED, n=40_000, questions=tuple(questions))


def in_epsilon(made: Plan) -> Price:
    return Price.of(made.cost)


def in_rho(made: Plan) -> Price:
    return price_of(made.request(), rows_a_person=1, measure=BudgetMeasure.RHO)


def test_a_price_in_epsilon_favours_laplace_noise_for_one_statistic_and_gaussian_noise_for_many() -> None:
    """Of Gaussian noises that are charged as one vector the planned one, whose totals have less noise."""
    assert finish(better_noise(means(1, "Laplace"), in_epsilon, max_delta=DELTA)) is None
    for name in ("Gaussian", "planned Gaussian"):
        found = finish(better_noise(means(1, name), in_epsilon, max_delta=DELTA))
        assert found and found.name == "Laplace" and found.margins < 0.5 and not found.price.delta
    many = means(12, "Laplace")
    found = finish(better_noise(many, in_epsilon, max_delta=DELTA))
    assert found and found.name == "planned Gaussian" and found.margins < 0.85 and found.totals < 0.25
    assert found.price.within(Price(epsilon_or_rho=in_epsilon(many).epsilon_or_rho, delta=DELTA))
    assert found.price == in_epsilon(found.plan)
    assert finish(better_noise(many, in_epsilon, max_delta=10**12)) is None, "twelve δ are more than are allowed"
    assert finish(better_noise(found.plan, in_epsilon, max_delta=DELTA)) is None, "and stays"


def test_a_price_in_rho_favours_planned_noise_which_says_most_of_all_rows() -> None:
    """The ratios are those of the margins, and of simulated totals."""
    plan = means(1, "Laplace")
    found = finish(better_noise(plan, in_rho, max_delta=0))
    assert found and found.name == "planned Gaussian" and found.price.within(in_rho(plan))
    assert in_rho(found.plan).epsilon_or_rho > 0.999 * in_rho(plan).epsilon_or_rho
    assert found.margins < 0.8 and found.totals < 0.25
    noise = []
    for made in (plan, found.plan):
        [question] = made.questions
        mechanism, problem = made.mechanism(question), made.problem(question)
        release = mechanism.run(mechanism.prepare(twin_of(made, question), problem), Preview(1), 400)
        assert isinstance(release, GroupRelease)
        noise.append(release.counters_by(()).std(axis=0).mean())
    assert noise[1] / noise[0] == pytest.approx(found.totals, rel=0.15)
    assert finish(better_noise(found.plan, in_rho, max_delta=0)) is None
    gaussian = means(1, "Gaussian")
    assert finish(better_noise(gaussian, in_rho, max_delta=0)) is None, "its single groups have less noise"


def test_a_fixed_epsilon_keeps_its_noise_and_people_have_theirs() -> None:
    fixed = replace(means(1, "Gaussian", epsilon=0.05).questions[0], pinned=True)
    people = replace(group_question("people", (), ("region", "job"), epsilon=0.5), values={"noise": "gaussian"})
    both = Plan(table=GROUPED, n=40_000, questions=(fixed, people))
    found = finish(better_noise(both, in_epsilon, max_delta=DELTA))
    assert found and found.name == "Laplace" and found.plan.questions[0] == fixed
    assert found.plan.questions[1].values["noise"] == "laplace"
    assert finish(better_noise(replace(both, questions=(fixed,)), in_epsilon, max_delta=DELTA)) is None
    assert finish(better_noise(plan(BOXES), in_epsilon, max_delta=DELTA)) is None
