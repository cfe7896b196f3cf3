"""Decision lists: known biases, exact privacy, and answers against the lists themselves."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpcore import DataError, Dataset, Neighbours, ParameterError, Preview, Problem, Provenance, ProvenanceKind
from dpcore.core import Floats, Guarantee, Integers
from dpcore.data.lists import COLLEGE, DecisionLists, college_domain, college_students
from dpcore.mechanisms.marginals import list_polynomials
from dpcore.mechanisms.marginals.decision_list_release import DecisionListMarginals, ListRelease, numbered_list_plan
from dpcore.mechanisms.marginals.list_polynomials import (
    all_outputs,
    bias,
    outputs_on_patterns,
    prefix_form,
    program,
    rule_by_rule_bias,
    subsets,
    whole_coefficients,
)
from dpcore.queries.inputs import Inputs
from dplab.audit import ROUNDING, exact_delta
from tests.cases import full_but
from tests.kit.statistics import assert_chance_at_most

PUBLIC = Provenance(kind=ProvenanceKind.GENERATED, title="test")


def problem_of(variables: int, *, rules: int, n: int, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Problem:
    domain = DecisionLists(names=tuple(f"v{i}" for i in range(variables)), rules=rules)
    return Problem(domain=domain, queries=Inputs(domain=domain), n=n, neighbours=neighbours)


def all_lists(variables: int, rules: int) -> Integers:
    """Every list with different variables in its rules."""
    outcomes = []
    for literals in product(range(2 * variables + 1), repeat=rules):
        used = [literal % variables for literal in literals if literal < 2 * variables]
        if len(set(used)) == len(used):
            outcomes += [(*literals, *outputs) for outputs in product((0, 1), repeat=rules + 1)]
    return np.array(outcomes)


def run_list(row: Integers, values: Any, *, variables: int, rules: int) -> int:
    """A list on one input, rule by rule."""
    for rule in range(rules):
        literal = int(row[rule])
        if literal < variables and values[literal]:
            return int(row[rules + rule])
        if variables <= literal < 2 * variables and not values[literal - variables]:
            return int(row[rules + rule])
    return int(row[-1])


def test_the_worst_list_of_four_rules_at_degree_two() -> None:
    """The paper's sum of ANDs, the prefix form, and the linear program on patterns: 0.458, 0.292, 0.167."""
    lists = all_outputs(4)
    assert max(rule_by_rule_bias(outputs, degree=2) for outputs in lists) == pytest.approx(0.458, abs=5e-4)
    assert max(bias(prefix_form(b, degree=2), b, degree=2) for b in lists) == pytest.approx(0.292, abs=5e-4)
    assert max(bias(np.array(program(b, degree=2)), b, degree=2) for b in lists) == pytest.approx(1 / 6)
    coefficients, worst = whole_coefficients(4, degree=2)
    assert worst == pytest.approx(1 / 6, abs=1e-9), "in multiples of 1/5040 nothing is lost"
    for number, outputs in enumerate(lists):
        assert number == sum(output << rule for rule, output in enumerate(outputs))
        assert bias(coefficients[number] / list_polynomials.SCALE, outputs, degree=2) <= worst


@pytest.mark.slow
@pytest.mark.parametrize("rules", full_but([1, 2, 3, 5], 1, 2, 3))
def test_biases_fall_with_the_degree_and_vanish_at_its_end(rules: int) -> None:
    worst = [whole_coefficients(rules, degree=degree)[1] for degree in range(1, rules + 1)]
    assert worst == sorted(worst, reverse=True)
    assert worst[-1] == 0
    for outputs in all_outputs(rules):
        exact = bias(prefix_form(outputs, degree=rules), outputs, degree=rules)
        assert exact == pytest.approx(0, abs=1e-6)
        for degree in range(1, rules):
            best = bias(np.array(program(outputs, degree=degree)), outputs, degree=degree)
            assert best <= bias(prefix_form(outputs, degree=degree), outputs, degree=degree) + 1e-9


def test_what_a_list_says_is_what_its_first_rule_that_holds_says() -> None:
    assert outputs_on_patterns((1, 0, 1)).tolist() == [1, 1, 0, 1]
    assert subsets(3, 2) == ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))


def contributions(problem: Problem, mechanism: DecisionListMarginals, rows: Integers) -> list[Integers]:
    """Return the contribution of each list to every level, (lists, sets of literals) each."""
    plan, domain = mechanism.plan(problem), problem.domain
    assert isinstance(domain, DecisionLists)
    single = dataclasses.replace(problem, n=1)
    levels = []
    for noise in plan.noise:
        added = [
            mechanism.prepare(Dataset(single.domain, row[None, :], PUBLIC), single).added_up(
                plan.coefficients,
                level=noise.level,
                degree=min(mechanism.degree, domain.rules),
            )
            for row in rows
        ]
        levels.append(np.array(added))
    return levels


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("noise_aware", [False, True])
@pytest.mark.parametrize(
    ("variables", "rules", "degree"),
    full_but([(2, 1, 1), (3, 2, 1), (3, 2, 2), (4, 2, 2)], (2, 1, 1), (3, 2, 1), (3, 2, 2)),
)
def test_the_privacy_loss_of_every_pair_of_lists(
    variables: int, rules: int, degree: int, noise_aware: bool, neighbours: Neighbours
) -> None:
    """Of independent discrete Laplace noise the largest loss is the sum of |difference|/scale, exactly: all pairs."""
    problem = problem_of(variables, rules=rules, n=100_000, neighbours=neighbours)
    mechanism = DecisionListMarginals(epsilon=1.0, degree=degree, noise_aware=noise_aware)
    noises = mechanism.plan(problem).noise
    rows = all_lists(variables, rules)
    levels = contributions(problem, mechanism, rows)
    weighed = np.concatenate([level / noise.scale for level, noise in zip(levels, noises, strict=True)], axis=1)
    others = weighed if neighbours is Neighbours.REPLACE_ONE else np.zeros((1, weighed.shape[1]))
    losses = np.array([np.abs(weighed - other).sum(axis=1).max() for other in others])
    assert losses.max() <= 1 + 1e-9
    assert losses.max() > 0.7, "levels need not all be at their worst for one pair, but the budget is used"
    for level, noise in zip(levels, noises, strict=True):
        pairs = level if neighbours is Neighbours.REPLACE_ONE else np.zeros((1, level.shape[1]))
        reached = max(int(np.abs(level - other).sum(axis=1).max()) for other in pairs)
        assert reached <= noise.moved
        if variables >= 2 * rules or neighbours is Neighbours.ADD_REMOVE_ONE:
            assert reached == noise.moved, "some pair reaches what is told"


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_exact_privacy_by_enumeration(neighbours: Neighbours, monkeypatch: pytest.MonkeyPatch) -> None:
    """One rule on one variable, coefficients 1 and -1: every pair of lists, both directions."""
    monkeypatch.setattr(list_polynomials, "SCALE", 1)
    list_polynomials.whole_coefficients.cache_clear()
    numbered_list_plan.cache_clear()
    try:
        problem = problem_of(1, rules=1, n=2, neighbours=neighbours)
        settings: dict[str, Any] = {"window": (-3, 4), "universe": all_lists(1, 1)}
        mechanism = DecisionListMarginals(epsilon=1.0, degree=1, noise_aware=False)
        finding = exact_delta(mechanism, problem, **settings)
        assert finding.pairs > 0
        assert finding.delta <= ROUNDING
        assert exact_delta(Understated(epsilon=1.0, degree=1, noise_aware=False), problem, **settings).delta > 1e-3
    finally:
        list_polynomials.whole_coefficients.cache_clear()
        numbered_list_plan.cache_clear()


class Understated(DecisionListMarginals):
    """The control: promises three quarters of what it spends."""

    def guarantee(self, problem: Problem) -> Guarantee:
        return dataclasses.replace(super().guarantee(problem), epsilon=0.75 * self.epsilon)


def released(
    mechanism: DecisionListMarginals, problem: Problem, rows: Integers, *, seed: int, trials: int
) -> ListRelease:
    return mechanism.run(mechanism.prepare(Dataset(problem.domain, rows, PUBLIC), problem), Preview(seed), trials)


def test_true_answers_follow_the_lists(seed: int) -> None:
    rows = all_lists(3, 2)
    queries = Inputs(domain=DecisionLists(names=("a", "b", "c"), rules=2))
    wanted: Floats = np.zeros(8)
    for index in range(8):
        values = [bool(index >> v & 1) for v in range(3)]
        wanted[index] = np.mean([run_list(row, values, variables=3, rules=2) for row in rows])
    np.testing.assert_allclose(queries.truth(rows, np.arange(8)), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_answers_are_within_bias_and_noise(degree: int, seed: int) -> None:
    """25,000 releases of 3,000 students: the deviation within 2% of the predicted, the bias within gamma."""
    domain = college_domain(3)
    rows = college_students(n=3_000, rules=3, seed=seed)
    queries = Inputs(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=3_000)
    mechanism = DecisionListMarginals(epsilon=1.0, degree=degree, noise_aware=False)
    some = np.array([0, 1, 37, 200, 255])
    release = released(mechanism, problem, rows, seed=seed, trials=25_000)
    answers = release.answers(some)
    np.testing.assert_allclose(answers.std(axis=0), release.plan.deviation, rtol=0.02)
    off = np.abs(answers.mean(axis=0) - queries.truth(rows, some))
    assert off.max() <= release.plan.gamma + 6 * release.plan.deviation / np.sqrt(25_000)
    if degree < 3:
        assert off.max() > 0.01, "the bias is real"
    else:
        assert release.plan.gamma == 0


@pytest.mark.slow
def test_the_promise_is_kept_and_noise_is_weighed(seed: int) -> None:
    domain = college_domain(3)
    rows = college_students(n=20_000, rules=3, seed=seed)
    queries = Inputs(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=20_000)
    truth = queries.truth(rows, queries.batch(256))
    weighed = DecisionListMarginals(epsilon=1.0)
    for mechanism in (weighed, DecisionListMarginals(epsilon=1.0, noise_aware=False)):
        bound = mechanism.accuracy(problem, 0.1)
        release = released(mechanism, problem, rows, seed=seed, trials=400)
        worst = np.abs(release.answers(queries.batch(256)) - truth).max(axis=1)
        assert_chance_at_most(int((worst > bound.value).sum()), trials=400, chance=0.1)
        assert (worst > bound.value / 10).mean() > 0.1
        clipped = np.abs(release.answers(queries.batch(256), clip=True) - truth).max(axis=1)
        assert (clipped <= worst + 1e-12).all()
    blind = DecisionListMarginals(epsilon=1.0, noise_aware=False)
    assert weighed.accuracy(problem, 0.1).value <= blind.accuracy(problem, 0.1).value * 1.02
    hurried = dataclasses.replace(problem, n=500)
    assert weighed.plan(hurried).deviation < 0.9 * blind.plan(hurried).deviation, "few rows: bias is cheaper than noise"


def test_students_fit_their_domain_and_read_well(seed: int) -> None:
    for rules in (1, 3, 6):
        rows = college_students(n=500, rules=rules, seed=seed)
        assert Dataset(college_domain(rules), rows, PUBLIC).n == 500
        np.testing.assert_array_equal(rows, college_students(n=500, rules=rules, seed=seed))
    row = np.array([0, 8 + 1, 16, 1, 0, 1, 0])
    assert college_domain(3).sentence(row) == "if top ten: yes; else if not rural: no; else no"
    assert Inputs(domain=college_domain(3)).describe(0b101) == f"{COLLEGE[0]}, {COLLEGE[2]}"


@pytest.mark.parametrize(
    "row", [[0, 3, 1, 0, 1], [0, 0, 1, 0, 1], [7, 0, 1, 0, 1], [0, 1, 1, 2, 1], [0, 1, 1], [-1, 0, 1, 1, 1]]
)
def test_lists_that_do_not_fit_are_refused(row: list[int]) -> None:
    domain = DecisionLists(names=("a", "b", "c"), rules=2)
    with pytest.raises(DataError):
        Dataset(domain, np.array([row]), PUBLIC)


def test_what_cannot_be_is_refused() -> None:
    for make in (
        lambda: DecisionLists(names=(), rules=2),
        lambda: DecisionLists(names=("a",), rules=7),
        lambda: college_students(n=0, rules=2, seed=1),
        lambda: program((0, 1), degree=2),
    ):
        with pytest.raises(ParameterError):
            make()
