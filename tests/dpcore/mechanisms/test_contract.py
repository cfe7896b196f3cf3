"""Every mechanism of the catalogue keeps its contract, and planted faults are caught.

The exact checks enumerate a tiny problem. Sampled ones test at significance 1e-6; their sizes and controls are in
tests/kit/contract.py.
"""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore import Neighbours, Number, ParameterError, Preview, Problem, Secure, Thresholds, catalogue
from dpcore.core import Entry, Guarantee, HistogramRelease, HistogramState, Mechanism
from dpcore.mechanisms.histograms.gaussian import GaussianHistogram
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.queries.ranges import Intervals
from dpcore.randomness import GaussianCounts, NoisyCounts, Sampler
from dplab.audit import exact_delta, exact_gamma
from tests import ROOT
from tests.kit import contract, problems

ENTRIES = [entry for entry in catalogue() if entry.mechanism.releases in {"data", "value"}]


def each(
    entries: list[Entry],
    *,
    served: bool = True,
    full: tuple[str, ...] = (),
    first_alone: bool = False,
) -> pytest.MarkDecorator:
    """Every entry with every relation it has a guarantee for (or has none for).

    Entries of some keys, or an entry's second relation, may be left to `run.py test full`.
    """
    cases = []
    for entry in entries:
        relations = [each for each in Neighbours if (each in problems.relations(entry)) is served]
        for neighbours in relations:
            marks = [pytest.mark.full] * (entry.key in full or (first_alone and neighbours is not relations[0]))
            cases.append(pytest.param(entry, neighbours, id=f"{entry.key}-{neighbours}", marks=marks))
    return pytest.mark.parametrize(("entry", "neighbours"), cases)


every_entry = pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.key) for entry in ENTRIES])
every_relation = pytest.mark.parametrize("neighbours", list(Neighbours))
LIKE_NET = ("net", "net-alpha", "net-flip", "net-walk", "linear-net")
"""Mechanisms whose secure draws are those whose law is exact in tests/dpcore/mechanisms/net."""
CHOICES_AND_COUNTS = ("exponential_median", "intervals-printed", "intervals-recursive", "mwem", "rectangles")
"""Mechanisms that take long, and whose secure draws are choices, cuts, counts and coins: tests/dpcore/randomness."""
LARGEST = {"intervals-printed": 2, "tree-windows": 3, "intervals-recursive": 4}
"""Cells up to which `run.py test` has here the laws of mechanisms that take long; `run.py test full` has the others.

Those of intervals-printed on three and four cells are in tests/dpcore/mechanisms/intervals/test_releases.py.
"""


def check_exact_privacy(entry: Entry, tiny: list[Problem]) -> None:
    assert tiny
    for mechanism in problems.variants(entry, **entry.tiny):
        for _, same in itertools.groupby(tiny, key=lambda problem: problem.domain):
            contract.check_privacy_whatever_is_asked(mechanism, list(same))


@pytest.mark.slow
@each(ENTRIES)
def test_exact_privacy(entry: Entry, neighbours: Neighbours) -> None:
    tiny = list(problems.tiny_problems(entry, neighbours))
    largest = LARGEST.get(entry.key, tiny[-1].domain.size)
    check_exact_privacy(entry, [problem for problem in tiny if problem.domain.size <= largest])


@each([entry for entry in ENTRIES if entry.key in LARGEST], full=tuple(LARGEST))
def test_exact_privacy_on_more_cells(entry: Entry, neighbours: Neighbours) -> None:
    tiny = problems.tiny_problems(entry, neighbours)
    check_exact_privacy(entry, [problem for problem in tiny if problem.domain.size > LARGEST[entry.key]])


@pytest.mark.slow
@each(ENTRIES, full=("net-walk", "net-flip", "net-alpha"), first_alone=True)
def test_runs_spend_within_the_guarantee_and_trials_are_an_axis(
    entry: Entry, neighbours: Neighbours, seed: int
) -> None:
    for mechanism in problems.variants(entry):
        for problem in problems.ordinary_problems(entry, neighbours, n=60):
            contract.check_spending(mechanism, problem, seed=seed)
            contract.check_trials(mechanism, problem, seed=seed)


@pytest.mark.slow
@each(ENTRIES, first_alone=True)
def test_previews_have_the_exact_law(entry: Entry, neighbours: Neighbours, seed: int) -> None:
    problem = problems.law_problem(entry, neighbours)
    contract.check_law(entry, problem, Preview(seed), seed=seed + 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(each, id=each.key, marks=[pytest.mark.full] * (each.key in LIKE_NET + CHOICES_AND_COUNTS))
        for each in ENTRIES
    ],
)
def test_secure_releases_have_the_exact_law(entry: Entry, seed: int) -> None:
    problem = next(problems.tiny_problems(entry, problems.relations(entry)[0]))
    contract.check_law(entry, problem, Secure(), seed=seed)


@each(ENTRIES, served=False)
def test_a_relation_without_a_guarantee_has_no_release(entry: Entry, neighbours: Neighbours, seed: int) -> None:
    problem = problems.ordinary_problems(entry, neighbours)[0]
    dataset = problems.ordinary_data(problem)[0]
    mechanism = entry.make()
    with pytest.raises(ParameterError):
        mechanism.run(mechanism.prepare(dataset, problem), Preview(seed), 3)


@every_entry
def test_entry_explains_itself(entry: Entry) -> None:
    contract.check_declaration(entry)


# Planted faults.

LINE = Number(bits=1)
PROBLEM = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=2)


class HalfSensitivity(IdentityHistogram):
    """Half the noise the guarantee needs."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        scale = sum(state.problem.neighbours.histogram_shift) / 2
        counts = sampler.draw(NoisyCounts(state.histogram[None, :], epsilon=self.epsilon, sensitivity=scale), trials)
        return dataclasses.replace(super().run(state, sampler, trials), counts=counts)


class Overspent(IdentityHistogram):
    """Draws twice and publishes the mean."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        one, other = (super(Overspent, self).run(state, sampler, trials) for _ in range(2))
        return dataclasses.replace(one, counts=(one.counts + other.counts) // 2)


class CountsRows(IdentityHistogram):
    """Publishes the data's own number of rows, which add-or-remove neighbours do not share."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        release = super().run(state, sampler, trials)
        return dataclasses.replace(release, counts=release.counts * 0 + state.histogram.sum())


class Randomly(IdentityHistogram):
    """Claims random differential privacy: a cell that is empty stays so, the others get noise."""

    def guarantee(self, problem: Problem) -> Guarantee:
        return dataclasses.replace(super().guarantee(problem), gamma=0.5)

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        release = super().run(state, sampler, trials)
        return dataclasses.replace(release, counts=np.where(state.histogram > 0, release.counts, -99))


class Hides(IdentityHistogram):
    """Publishes more than outcomes() says."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        @dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
        class Talkative(HistogramRelease):
            truth: Any

        release = super().run(state, sampler, trials)
        fields = {field.name: getattr(release, field.name) for field in dataclasses.fields(release)}
        return Talkative(**fields, truth=np.broadcast_to(state.histogram, release.counts.shape))


@every_relation
def test_half_the_sensitivity_is_caught(neighbours: Neighbours) -> None:
    problem = dataclasses.replace(PROBLEM, neighbours=neighbours)
    contract.check_privacy(IdentityHistogram(epsilon=1.0), problem)
    with pytest.raises(AssertionError, match="exact delta"):
        contract.check_privacy(HalfSensitivity(epsilon=1.0), problem)


class Lavish(IdentityHistogram):
    """Has half the noise it needs where intervals are asked."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        kind = HalfSensitivity if isinstance(state.problem.queries, Intervals) else IdentityHistogram
        return kind(epsilon=self.epsilon).run(state, sampler, trials)


def test_a_fault_for_one_class_of_queries_is_caught_and_one_check_is_enough_where_none_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = [PROBLEM, dataclasses.replace(PROBLEM, queries=Intervals(domain=LINE))]
    contract.check_privacy_whatever_is_asked(Lavish(epsilon=1.0), both[:1])
    with pytest.raises(AssertionError, match="exact delta"):
        contract.check_privacy_whatever_is_asked(Lavish(epsilon=1.0), both)
    check, checked = contract.check_privacy, list[Problem]()

    def counted(mechanism: Mechanism, problem: Problem) -> None:
        checked.append(problem)
        check(mechanism, problem)

    monkeypatch.setattr(contract, "check_privacy", counted)
    contract.check_privacy_whatever_is_asked(IdentityHistogram(epsilon=1.0), both)
    assert len(checked) == 1


def test_an_overspend_is_caught_by_enumeration_and_by_accounting(seed: int) -> None:
    with pytest.raises(AssertionError, match="exact delta"):
        contract.check_privacy(Overspent(epsilon=1.0), PROBLEM)
    contract.check_spending(IdentityHistogram(epsilon=1.0), PROBLEM, seed=seed)
    with pytest.raises(AssertionError, match=r"spent 2\.0"):
        contract.check_spending(Overspent(epsilon=1.0), PROBLEM, seed=seed)


class Understated(GaussianHistogram):
    """Tells the accountant of less than a replaced row moves."""

    def run(self, state: HistogramState, sampler: Sampler, trials: int = 1) -> HistogramRelease:
        release = GaussianHistogram(epsilon=self.epsilon, delta=self.delta).run(state, Preview(1), trials)
        counts = sampler.draw(
            GaussianCounts(state.histogram[None, :], sigma=self.sigma(state.problem), squared_shift=1), trials
        )
        return dataclasses.replace(release, counts=counts)


def test_an_understated_shift_is_caught(seed: int) -> None:
    contract.check_spending(GaussianHistogram(epsilon=1.0), PROBLEM, seed=seed)
    with pytest.raises(AssertionError):
        contract.check_spending(Understated(epsilon=1.0), PROBLEM, seed=seed)


def test_the_number_of_rows_is_private_under_add_remove() -> None:
    contract.check_privacy(CountsRows(epsilon=1.0), PROBLEM)
    with pytest.raises(AssertionError, match="exact delta"):
        contract.check_privacy(
            CountsRows(epsilon=1.0), dataclasses.replace(PROBLEM, neighbours=Neighbours.ADD_REMOVE_ONE)
        )


def test_random_privacy_is_judged_over_the_draw_of_the_data() -> None:
    # Two rows on two cells, one of them replaced: unless nothing changes, one side has an empty cell, the other not.
    mechanism, longer = Randomly(epsilon=1.0), Number(bits=2)
    even, lopsided = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    chances = exact_gamma(mechanism, PROBLEM, masses=[even, lopsided])
    np.testing.assert_allclose(chances, [0.5, 2 * 0.9 * 0.1], rtol=1e-12)
    contract.check_privacy(mechanism, PROBLEM)
    with pytest.raises(AssertionError, match="bad pairs"):
        contract.check_privacy(mechanism, Problem(domain=longer, queries=Thresholds(domain=longer), n=1))


def test_a_field_beside_the_outcomes_is_caught(seed: int) -> None:
    with pytest.raises(AssertionError, match="truth is released"):
        contract.check_trials(Hides(epsilon=1.0), PROBLEM, seed=seed)


def test_a_gaussian_window_shows_nearly_all_of_delta() -> None:
    """The exact check is sharp: what it finds for a calibrated Gaussian is the delta it was calibrated for."""
    mechanism = GaussianHistogram(epsilon=1.0, delta=0.05)
    for neighbours in Neighbours:
        problem = dataclasses.replace(PROBLEM, neighbours=neighbours)
        finding = exact_delta(mechanism, problem, window=(-40, 40))
        assert 0.05 * (1 - 1e-5) < finding.delta <= 0.05


TOY = '''
"""Toy: the identity histogram again, from a file of its own.

Why it is private: see identity. Notation: epsilon = ε. References: none.
"""

from dataclasses import dataclass

from dpcore.core import DomainType, Entry
from dpcore.mechanisms.histograms.identity import IdentityHistogram
from dpcore.queries.ranges import Thresholds


@dataclass(frozen=True, kw_only=True)
class Toy(IdentityHistogram):
    """A toy."""

    pass


ENTRIES = (
    Entry(
        key="toy",
        mechanism=Toy,
        title="Toy",
        story="A toy.",
        domains=(DomainType.NUMBER,),
        queries=(Thresholds,),
        references=("none",),
    ),
)
'''


FAULT = """
    def guarantee(self, problem):
        told = super().guarantee(problem)
        return type(told)(epsilon=told.epsilon / 2, neighbours=told.neighbours)
"""


def run_in(copy: Path, statements: str) -> subprocess.CompletedProcess[str]:
    """Run Python statements against a copy of the project."""
    return subprocess.run([sys.executable, "-c", statements], cwd=copy, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of dpcore, of what tries its laws, and of the contract."""
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("dpcore", "dplab"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    (tmp_path / "tests" / "kit").mkdir(parents=True)
    for name in ("__init__.py", *(f"kit/{part}.py" for part in ("__init__", "contract", "problems", "statistics"))):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    return tmp_path


@pytest.mark.slow
def test_one_new_file_is_a_new_mechanism(copy: Path) -> None:
    (copy / "dpcore" / "mechanisms" / "histograms" / "toy.py").write_text(TOY, encoding="utf-8")
    listed = run_in(copy, "import dpcore; print([e.key for e in dpcore.catalogue()])")
    assert "'toy'" in listed.stdout
    checked = run_in(
        copy, "import dpcore; from tests.kit.contract import check_entry; check_entry(dpcore.entry('toy'), seed=1)"
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_a_faulty_new_file_fails_the_contract(copy: Path) -> None:
    faulty = TOY.replace("    pass\n", FAULT)
    (copy / "dpcore" / "mechanisms" / "histograms" / "toy.py").write_text(faulty, encoding="utf-8")
    checked = run_in(
        copy, "import dpcore; from tests.kit.contract import check_entry; check_entry(dpcore.entry('toy'), seed=1)"
    )
    assert "exact delta" in checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (TOY.replace("ENTRIES", "ENTRYS"), "toy defines Toy and exposes no ENTRIES"),
        (TOY.replace('"toy"', '"identity"'), "share a key"),
    ],
)
def test_a_module_that_does_not_belong_is_an_error(copy: Path, text: str, complaint: str) -> None:
    (copy / "dpcore" / "mechanisms" / "histograms" / "toy.py").write_text(text, encoding="utf-8")
    assert complaint in run_in(copy, "import dpcore; dpcore.catalogue()").stderr
