"""Catch the cheat: every broken program is caught in few runs, and those that are right nearly never are."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Sequence

import numpy as np
import pytest

import dpcore
from dpcore.core import Integers, Mechanism
from dpcore.mechanisms.robust.stable_median import stability
from dpcore.randomness import Preview
from dplab.audit.broken import counts, sparse_vectors
from dplab.audit.exact import Law, hockey_stick
from dplab.audit.orders import Outcomes
from dplab.audit.sampled import Audit, Draw, audit
from dplab.audit.suspects import EPSILON, SUSPECTS, Suspect
from dplab.measure import finish
from tests import ROOT
from tests.kit.statistics import assert_chance_at_most

BROKEN = [suspect for suspect in SUSPECTS if suspect.fault]
RIGHT = [suspect for suspect in SUSPECTS if not suspect.fault]
SEEDS, MAX_SECONDS = 20, 2.0


def verdict(draw: Draw, *, seed: int, rounds: Sequence[int], failure: float = 0.001, epsilon: float = EPSILON) -> Audit:
    return finish(audit(draw, epsilon=epsilon, seed=seed, rounds=rounds, failure=failure))


def named(suspects: list[Suspect]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("suspect", suspects, ids=[suspect.key for suspect in suspects])


def test_thirteen_are_broken_and_two_are_right() -> None:
    assert (len(BROKEN), len(RIGHT)) == (13, 2)
    assert len({suspect.key for suspect in SUSPECTS}) == 15
    assert all(suspect.runs for suspect in BROKEN) and not any(suspect.runs for suspect in RIGHT)


@pytest.mark.slow
@named(BROKEN)
def test_a_cheat_is_caught_within_its_runs_whatever_the_seed(suspect: Suspect) -> None:
    verdict(suspect.draw, seed=0, rounds=(50,))  # loads what is loaded once
    for seed in range(SEEDS):
        start = time.process_time()
        result = verdict(suspect.draw, seed=seed, rounds=(suspect.runs,))
        assert result.refuted and result.least > EPSILON, f"seed {seed}: {result.sentence}"
        assert time.process_time() - start <= MAX_SECONDS


@named(BROKEN)
def test_it_costs_nothing_but_runs_not_to_know_how_many(suspect: Suspect, seed: int) -> None:
    # The rounds of the page: 1,000 runs and more, which share the failures.
    result = finish(audit(suspect.draw, epsilon=EPSILON, seed=seed))
    assert result.refuted and result.rounds[-1].refuted and result.runs <= 5 * max(1_000, suspect.runs)


@pytest.mark.full
@pytest.mark.slow
@named(RIGHT)
def test_the_right_ones_are_refuted_at_most_as_often_as_promised(suspect: Suspect) -> None:
    refuted = sum(verdict(suspect.draw, seed=seed, rounds=(60, 200), failure=0.05).refuted for seed in range(1_000))
    assert_chance_at_most(refuted, trials=1_000, chance=0.05)


def at_the_limit(side: int, preview: Preview, runs: int) -> Integers:
    """One bit told truly with chance e/(1 + e): its loss is 1 and no less, so that every refutation is bad luck."""
    answers = preview.generator.random((runs, 1)) < np.e / (1 + np.e)
    return np.where(answers, side, 1 - side).astype(np.int64)


def biased(side: int, preview: Preview, runs: int) -> Integers:
    """The control: a loss of 1.5."""
    answers = preview.generator.random((runs, 1)) < np.exp(1.5) / (1 + np.exp(1.5))
    return np.where(answers, side, 1 - side).astype(np.int64)


def refusals(draw: Draw) -> int:
    return sum(verdict(draw, seed=seed, rounds=(200, 600), failure=0.3).refuted for seed in range(1_000))


@pytest.mark.full
def test_a_claim_that_is_true_by_a_hair_is_refuted_at_most_as_often_as_promised() -> None:
    """Check the failure probability at a value so large that wrong sharing among rounds would show."""
    refuted = refusals(at_the_limit)
    assert_chance_at_most(refuted, trials=1_000, chance=0.3)
    assert refuted > 20, "the bounds are so wide that this shows nothing"
    assert refusals(biased) > 600


def wide(side: int, preview: Preview, runs: int) -> Integers:
    """Forty columns of noise about nobody, a loss of 0: whoever counts what was picked by it would see something."""
    return preview.laplace(np.zeros((1, 40), dtype=np.int64), scale=3.0, trials=runs)


@pytest.mark.full
def test_runs_that_picked_the_event_are_not_counted() -> None:
    refuted = sum(verdict(wide, seed=seed, rounds=(400,), failure=0.2, epsilon=0.05).refuted for seed in range(200))
    assert_chance_at_most(refuted, trials=200, chance=0.2)


@pytest.mark.slow
def test_the_best_right_program_is_nearly_as_bad_as_it_may_be(seed: int) -> None:
    """The audit is not blind: of a loss of 1 it sees 0.9."""
    result = verdict(RIGHT[0].draw, seed=seed, rounds=(300_000,))
    assert not result.refuted and 0.85 < result.least <= 1
    assert result.sentence == "Not refuted in 300,000 runs. This is not a proof."


# Nobody takes a broken program for a mechanism.


def test_nothing_broken_is_a_mechanism_or_in_the_catalogue() -> None:
    listed = {type(entry.mechanism).__module__ for entry in dpcore.catalogue()}
    listed |= {entry.mechanism.__module__ for entry in dpcore.catalogue()}
    assert not any("audit" in name for name in listed)
    for module in (counts, sparse_vectors):
        assert module.__doc__ and module.__doc__.startswith("BROKEN ON PURPOSE")
        for value in vars(module).values():
            assert not (isinstance(value, type) and issubclass(value, Mechanism) and value is not Mechanism)
    assert not any(suspect.key in {entry.key for entry in dpcore.catalogue()} for suspect in SUSPECTS)


@pytest.mark.slow
def test_only_the_audit_imports_what_is_broken() -> None:
    importers = set()
    for path in [
        *ROOT.glob("*.py"),
        *(
            path
            for top in ("dpcore", "dplab", "dprelease", "pages", "benchmarks")
            for path in (ROOT / top).rglob("*.py")
        ),
    ]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any("audit.broken" in name for name in names):
                importers.add(path.relative_to(ROOT).as_posix())
    assert importers == {"dplab/audit/suspects.py"}


# The programs are what they are said to be.


def test_the_same_noise_and_the_same_seed_are_what_they_say(seed: int) -> None:
    rows = np.array([0, 0, 1])
    noisy = counts.same_noise_twice(rows, Preview(seed), 50)
    assert (noisy[:, 0] - noisy[:, 1] == 1).all() and len(set(noisy[:, 0].tolist())) > 3
    again = [counts.seed_reused(rows, Preview(each), 2) for each in (seed, seed + 1)]
    assert (again[0] == again[1]).all() and (again[0][0] == again[0][1]).all()
    assert (counts.bare_empty_cells(rows, Preview(seed), 50)[:, 2:] == 0).all()


def test_a_median_that_refuses_by_the_truth_has_a_delta_of_one() -> None:
    """The exact divergence on the notes' example and its neighbour; with the right median there is none of 1."""
    (suspect,) = (each for each in BROKEN if each.key == "refuses-by-truth")
    laws = [distinct_law(suspect.draw(side, Preview(1), 5)) for side in (0, 1)]
    assert [law[0].tolist() for law in laws] == [[[3.0]], [[-1.0]]], "one answers always, the other never"
    assert all(hockey_stick(*pair, epsilon=50.0) == 1.0 for pair in (laws, laws[::-1]))
    domain = dpcore.Number(low=0, high=8, bits=3)
    for side, stable in ((0, 2), (1, 1)):
        histogram = np.bincount(suspect.data[side], minlength=8)
        assert stability(histogram, domain=domain) == (3, stable)
    # It answers just where no single row matters, on all data of five rows on three cells.
    for rows in itertools.combinations_with_replacement(range(3), 5):
        changed = {sorted([*rows[:i], cell, *rows[i + 1 :]])[2] for i in range(5) for cell in range(3)}
        answer = counts.refuses_by_truth(np.array(rows), Preview(1), 1)[0, 0]
        assert answer == (rows[2] if changed == {rows[2]} else -1)


def distinct_law(outcomes: Outcomes) -> Law:
    """Outcomes that are all alike, as a law."""
    assert len(np.unique(outcomes, axis=0)) == 1
    return outcomes[:1].astype(np.float64), np.ones(1)


def test_a_sparse_vector_says_nothing_after_its_last_positive_answer() -> None:
    above = np.array([[False, True, False, True, True], [False] * 5])
    assert sparse_vectors.stopped(above, 2).tolist() == [[0, 1, 0, 1, -1], [0] * 5]
    assert sparse_vectors.stopped(above, 1).tolist() == [[0, 1, -1, -1, -1], [0] * 5]


def test_the_variants_of_the_sparse_vector_are_wrong_as_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    suspects = {suspect.key: suspect for suspect in SUSPECTS}
    drawn: list[tuple[float, int]] = []

    def noise(preview: Preview, *, scale: float, runs: int, each: int = 1) -> Integers:
        drawn.append((scale, each))
        return np.full((runs, each), 7 if each == 1 else 9)  # a threshold of 7; each comparison is with 9 more

    monkeypatch.setattr(sparse_vectors, "_noise", noise)
    answers, preview = np.array([-3, 0, 6, 7, 8] * 40), Preview(1)
    third, fourth, fifth, sixth = (suspects[f"variant-{number}"].program for number in (3, 4, 5, 6))
    assert third(answers, preview, 2).tolist() == [[1, 9], [1, 9]], "the place, and the number that was compared"
    drawn.clear()
    assert fifth(answers, preview, 1).tolist() == [[0, 0, 0, 1, 1] * 40] and drawn == [(2 / EPSILON, 1)]
    assert sixth(answers, preview, 1).tolist() == [[0, 1, 1, 1, 1] * 40]
    drawn.clear()
    assert fourth(answers, preview, 1).tolist()[0][:35] == [0, 1, 1, 1, 1] * 6 + [0, 1, -1, -1, -1]
    twenty_five = list(drawn)
    drawn.clear()
    sparse_vectors.fourth(answers, preview, 1, positives=100)
    assert drawn == twenty_five, "as much noise for a hundred positive answers"
