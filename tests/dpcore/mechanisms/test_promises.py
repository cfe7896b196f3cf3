"""No promise of the catalogue fails more often than it says, on data made to be hard for it; nothing is left out.

Exact binomial tests at a level shared out so that right promises fail this module with a chance of FALSE_ALARM (one in
a million), all together. The full grid is `python -m benchmarks promises`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import pytest

from dpcore import Problem, catalogue, entry
from dpcore.core import Assumption, Bound, BoundKind, Entry
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.mechanisms.robust.clipped_mean import ClippedMean
from tests.kit.promises import covered
from tests.kit.promises.cases import FALSE_ALARM, QUICK, Row
from tests.kit.promises.covered import rows_of

CONTROL = 16.0
"""Promises divided by it must be called broken, one of each entry at least."""
ENTRIES = [pytest.param(found, id=found.key) for found in catalogue()]


def tried(found: Entry, *, seed: int) -> tuple[list[Row], float]:
    """What was tried of an entry's promises, and the level of each test."""
    rows = [row for row in rows_of(found, QUICK, seed=seed) if row.errors is not None]
    return rows, FALSE_ALARM / len(ENTRIES) / max(1, len(rows))


@pytest.mark.slow
@pytest.mark.parametrize("found", ENTRIES)
def test_promises_are_kept_and_a_sixteenth_of_them_is_not(found: Entry, seed: int) -> None:
    rows, level = tried(found, seed=seed)
    broken = [row.text(found.key) for row in rows if row.tail() < level]
    assert not broken, "\n".join(broken)
    assert not rows or any(row.tail(CONTROL) < level for row in rows), "nothing here could have failed"


def test_only_these_promise_nothing() -> None:
    """A mechanism that gives up its promise is seen.

    The medians whose noise or distance depends on the data say nothing in advance; what they say of given data is
    tried in test_smooth_median.py and test_near.py.
    """
    silent = {
        found.key
        for found in catalogue()
        if all(
            case.bound(beta).kind is not BoundKind.GUARANTEE
            for case in covered.cases_of(found, QUICK)
            for beta in case.betas
        )
    }
    assert silent == {"net-walk", "unbounded_mean", "smooth-median", "subsample-near"}


@pytest.mark.slow
def test_every_promise_is_written_as_a_formula() -> None:
    """TeX without dollars, every brace closed; the browser's tests look for what cannot be typeset."""
    formulas = {
        (found.key, case.bound(beta).formula)
        for found in catalogue()
        for case in covered.cases_of(found, QUICK)
        for beta in case.betas
        if case.bound(beta).kind is BoundKind.GUARANTEE
    }
    for key, formula in formulas:
        assert formula and "$" not in formula and formula.count("{") == formula.count("}"), key
        assert formula.count("\\Bigl") == formula.count("\\Bigr"), key


# Planted faults.


class Overpromised(IdentityHistogram):
    """Promises half of the error."""

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        bound = super().accuracy(problem, beta)
        return dataclasses.replace(bound, value=bound.value / 2)


def test_a_halved_promise_is_caught(seed: int) -> None:
    rows, level = tried(dataclasses.replace(entry("identity"), mechanism=Overpromised), seed=seed)
    assert any(row.tail() < level for row in rows)


class Forgetful(ClippedMean):
    """Does not say that its promise needs as many rows as were named, where rows are added or removed."""

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        return dataclasses.replace(super().accuracy(problem, beta), assumptions=())


def test_an_assumption_left_out_is_caught(seed: int) -> None:
    rows, level = tried(dataclasses.replace(entry("clipped_mean"), mechanism=Forgetful), seed=seed)
    broken = [row for row in rows if row.tail() < level]
    assert broken
    assert {row.case.problem.neighbours for row in broken} == {"add_remove_one"}


@dataclass(frozen=True, kw_only=True)
class Newcomer(IdentityHistogram):
    """Releases something of a kind of its own."""

    releases: ClassVar[str] = "answers"


def test_a_mechanism_that_nobody_tries_is_told_where_to_be_added() -> None:
    newcomer = dataclasses.replace(entry("identity"), key="newcomer", mechanism=Newcomer)
    with pytest.raises(LookupError, match=r"newcomer promises: add Newcomer to COVERED in tests/kit/promises/covered"):
        list(rows_of(newcomer, QUICK, seed=1))


class Demanding(IdentityHistogram):
    """Assumes what no data meet."""

    def accuracy(self, problem: Problem, beta: float) -> Bound:
        never = Assumption(text="all rows are equal and none is", met=False)
        return dataclasses.replace(super().accuracy(problem, beta), assumptions=(never,))


def test_a_promise_that_no_data_meet_is_not_passed_over() -> None:
    demanding = dataclasses.replace(entry("identity"), key="demanding", mechanism=Demanding)
    with pytest.raises(LookupError, match="demanding promises something that no data"):
        list(rows_of(demanding, QUICK, seed=1))
