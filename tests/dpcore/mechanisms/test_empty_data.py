"""No rows at all: where rows are added or removed they are a neighbour of one row, and are released like any others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpcore import Account, DataError, Neighbours, ParameterError, Preview, Problem, catalogue, serving
from dpcore.core import Dataset, DomainType, Entry, finish
from dpcore.data.columns import NO_YES, Number
from dpcore.data.product import Product, is_table, is_yes_no
from dpcore.data.sphere import Halfspaces
from dpcore.data.unlisted.texts import is_texts
from dpcore.mechanisms.marginals import list_polynomials
from dpcore.mechanisms.marginals.decision_list_release import numbered_list_plan
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.counting import pack
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.hypotheses import Hypotheses
from dpcore.queries.inputs import Inputs
from dplab.audit import ROUNDING, exact_delta
from tests.dpcore.mechanisms.histograms import test_labels
from tests.dpcore.mechanisms.marginals import (
    test_decision_lists as test_marginals_decision_lists,
)
from tests.dpcore.mechanisms.marginals import (
    test_release as test_marginals_release,
)
from tests.kit import attribute_tables, contract, halfspaces, problems
from tests.kit.problems import PROVENANCE

UNLISTED = {DomainType.VECTORS, DomainType.TABLE, DomainType.YES_NO, DomainType.LISTS, DomainType.TEXTS}
ADD_REMOVE = Neighbours.ADD_REMOVE_ONE
GUARANTEED = {"find_labels_optimal": [ADD_REMOVE]}
"""Relations of entries that do not have both."""


def listed(entry: Entry) -> bool:
    return UNLISTED.isdisjoint(entry.domains)


ENTRIES = [entry for entry in catalogue() if not listed(entry) or ADD_REMOVE in problems.relations(entry)]
every_entry = pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.key) for entry in ENTRIES])
of_other_records = pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=entry.key) for entry in ENTRIES if not listed(entry)]
)


def unlisted(entry: Entry, neighbours: Neighbours, *, n: int = 1) -> tuple[Problem, NDArray[Any], tuple[int, int]]:
    """A tiny problem of a mechanism whose records are not numbered cells, all its records, and a window."""
    match entry.domains[0]:
        case DomainType.VECTORS:
            return halfspaces.problem_of(2, n, neighbours), halfspaces.PLANE, (-3, 4)
        case DomainType.TABLE:
            problem = attribute_tables.problem_of((2, 2), ways=2, n=n, neighbours=neighbours)
            if RangeBoxes in entry.queries:
                assert is_table(problem.domain)
                problem = replace(problem, queries=RangeBoxes(domain=problem.domain))
            if GroupStatistics in entry.queries:
                assert is_table(problem.domain)
                problem = replace(problem, queries=GroupStatistics(domain=problem.domain))
            if GroupQuantiles in entry.queries:
                halves = Product(names=("a", "b"), columns=(NO_YES, Number(bits=1)))
                problem = replace(problem, domain=halves, queries=GroupQuantiles(domain=halves))
            return problem, attribute_tables.every_record((2, 2)), (-7, 9)
        case DomainType.YES_NO:
            problem = test_marginals_release.problem_of(2, n=n, neighbours=neighbours)
            if Hypotheses in entry.queries:
                assert is_yes_no(problem.domain)
                problem = replace(problem, queries=Hypotheses(domain=problem.domain))
            return problem, test_marginals_release.all_rows(2), (-4, 5)
        case DomainType.LISTS:
            problem = test_marginals_decision_lists.problem_of(1, rules=1, n=n, neighbours=neighbours)
            return problem, test_marginals_decision_lists.all_lists(1, 1), (-3, 4)
        case DomainType.TEXTS:
            return test_labels.problem_of(neighbours, n=n), test_labels.TEXTS, (-1, 6)
        case other:
            raise AssertionError(f"no tiny problem for {other}")


@pytest.mark.parametrize("neighbours", list(Neighbours))
@of_other_records
def test_entries_of_other_records_explain_themselves_and_spend_what_they_guarantee(
    entry: Entry, neighbours: Neighbours, seed: int
) -> None:
    """What the contract says of numbered cells, of all other records: in any order, and all alike."""
    problem, universe, _ = unlisted(entry, neighbours, n=400)
    if neighbours not in GUARANTEED.get(entry.key, Neighbours):
        with pytest.raises(ParameterError):
            entry.make().guarantee(problem)
        return
    assert entry in serving(problem.queries, releases=entry.mechanism.releases)
    assert entry not in serving(problem.queries), "pages of tables do not list it"
    contract.check_declaration(entry, [problem])
    for mechanism in problems.variants(entry):
        guarantee = mechanism.guarantee(problem)
        for rows in (np.arange(400) % len(universe), np.zeros(400, dtype=np.int64)):
            state = mechanism.prepare(Dataset(problem.domain, universe[rows], PROVENANCE), problem)
            account = Account(Preview(seed))
            release = mechanism.run(state, account, 3)
            assert release.trials == 3 and release.guarantee == guarantee
            assert "private" in repr(state) and "[" not in repr(state)
            delta = account.delta(guarantee.epsilon)
            assert account.epsilon <= guarantee.epsilon * (1 + 1e-9) and delta <= guarantee.delta
            # No less either, or the noise would be wider than it need be; one draw alone may cost less than is proved.
            assert account.epsilon == pytest.approx(guarantee.epsilon) or delta > guarantee.delta / 2
            np.testing.assert_array_equal(release.part(1, 3).outcomes(), release.outcomes()[1:3])


@pytest.fixture
def small_coefficients(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Decision lists whose coefficients are 1 and -1, so that all outcomes can be listed."""
    cached = (list_polynomials.whole_coefficients, numbered_list_plan)
    monkeypatch.setattr(list_polynomials, "SCALE", 1)
    for cache in cached:
        cache.cache_clear()
    yield
    for cache in cached:
        cache.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("small_coefficients")
@of_other_records
def test_no_rows_and_one_are_told_apart_by_no_more_than_promised(entry: Entry) -> None:
    """Exact laws, every record, as the contract has them of numbered cells; no rows had been an error before."""
    mechanism, (problem, universe, window) = problems.tiny_mechanism(entry), unlisted(entry, ADD_REMOVE)
    delta = exact_delta(mechanism, problem, window=window, universe=universe, rows=0)
    assert delta.pairs == len(universe)
    assert delta.delta <= mechanism.guarantee(problem).delta + ROUNDING


def empty(problem: Problem) -> Dataset:
    """Data of no rows, of the shape that the domain's rows have."""
    columns = {DomainType.VECTORS: 2, DomainType.TABLE: 2, DomainType.YES_NO: 2, DomainType.LISTS: 3}
    if is_texts(problem.domain):
        return Dataset(problem.domain, np.zeros(0, dtype=object), PROVENANCE)
    shape = [columns[kind] for kind in problem.domain.types if kind in columns][:1]
    return Dataset(problem.domain, np.zeros((0, *shape), dtype=np.int64), PROVENANCE)


@pytest.mark.full
@every_entry
def test_no_rows_are_released_at_the_usual_parameters(entry: Entry, seed: int) -> None:
    usual = problems.ordinary_problems(entry, ADD_REMOVE) if listed(entry) else [unlisted(entry, ADD_REMOVE, n=400)[0]]
    for mechanism in problems.variants(entry):
        for problem in usual:
            account = Account(Preview(seed))
            release = mechanism.run(mechanism.prepare(empty(problem), problem), account, 3)
            assert np.isfinite(release.outcomes()[~release.refused]).all()
            assert account.charges, "nothing was released"


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.key) for entry in catalogue()])
def test_where_rows_are_replaced_their_number_is_public_and_never_nought(entry: Entry) -> None:
    replace = Neighbours.REPLACE_ONE
    problem = next(problems.tiny_problems(entry, replace)) if listed(entry) else unlisted(entry, replace)[0]
    with pytest.raises(DataError, match="must give the number of rows"):
        problems.tiny_mechanism(entry).prepare(empty(problem), problem)


def test_a_share_of_no_rows_is_nought() -> None:
    """Truths that a page compares releases with, where cells are not listed."""
    sphere = halfspaces.problem_of(2, 1).queries
    assert isinstance(sphere, Halfspaces)
    assert sphere.truth(np.zeros((0, 2)), halfspaces.PLANE[:3]).tolist() == [0.0, 0.0, 0.0]
    lists = test_marginals_decision_lists.problem_of(2, rules=1, n=1).queries
    assert isinstance(lists, Inputs)
    assert lists.truth(np.zeros((0, 3), dtype=np.int64), np.arange(4)).tolist() == [0.0] * 4
    for least, signed in product((1, 2, 3), (False, True)):
        queries = test_marginals_release.problem_of(4, n=1, width=3, least=least, signed=signed).queries
        assert isinstance(queries, AtLeast)
        truths = finish(queries.truth(pack(np.zeros((0, 4), dtype=np.bool_)), np.arange(queries.count)))
        assert truths.tolist() == [0.0] * queries.count
