"""The nouns: what they refuse, what they hide, and what they carry."""

from __future__ import annotations

import dataclasses
import math
import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dpcore
from dpcore import (
    Cells,
    DataError,
    Labels,
    Number,
    ParameterError,
    Preview,
    Problem,
    Provenance,
    ProvenanceKind,
    Thresholds,
)
from dpcore.core import (
    Assumption,
    Bound,
    BoundKind,
    Dataset,
    Domain,
    DomainType,
    Entry,
    Guarantee,
    HistogramRelease,
    Neighbours,
    Parameter,
    PointsRelease,
    ValueRelease,
    alpha_param,
    delta_param,
    epsilon_param,
    param,
)
from dpcore.core.sizes import MAX_ROWS
from dpcore.mechanisms.histograms.identity import IdentityHistogram

LINE = Number(low=0, high=8, bits=3, missing=True)
PRIVATE = Provenance(kind=ProvenanceKind.PRIVATE, title="a private file")
DATASET = Dataset(LINE, np.array([0, 7, 7, 8, 3]), PRIVATE)
PROBLEM = Problem(domain=LINE, queries=Thresholds(domain=LINE), n=5)


def test_a_data_set_counts_its_cells_and_shows_none() -> None:
    assert DATASET.n == 5
    assert DATASET.histogram.tolist() == [1, 0, 0, 1, 0, 0, 0, 2, 1]
    with pytest.raises(ValueError, match="read-only"):
        DATASET.histogram[0] = 9
    state = IdentityHistogram().prepare(DATASET, PROBLEM)
    for shown in (repr(DATASET), str(DATASET), repr(state), f"{state}"):
        assert not re.search(r"\d", shown)
    assert PRIVATE.is_private
    assert not Provenance(kind=ProvenanceKind.BUNDLED, title="public").is_private


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_records_of_any_whole_type(kind: type[np.integer[Any]]) -> None:
    dataset = Dataset(LINE, np.array([0, 7, 7, 8, 3], dtype=kind), PRIVATE)
    assert dataset.records.dtype == np.int64
    np.testing.assert_array_equal(dataset.histogram, DATASET.histogram)


@pytest.mark.parametrize("records", [[[0]], [0.5], [-1], [9], [123456]])
def test_records_that_do_not_fit_are_an_error_that_quotes_none(records: list[Any]) -> None:
    with pytest.raises(DataError) as caught:
        Dataset(LINE, np.array(records), PRIVATE)
    assert "123456" not in str(caught.value)
    assert "-1" not in str(caught.value)


def test_a_problem_is_about_one_domain() -> None:
    with pytest.raises(ParameterError, match="different domains"):
        Problem(domain=LINE, queries=Thresholds(domain=Number()), n=5)
    with pytest.raises(ParameterError, match="between 1 and"):
        Problem(domain=LINE, queries=Thresholds(domain=LINE), n=0)
    assert Neighbours.REPLACE_ONE.histogram_shift == (1, 1)
    assert Neighbours.ADD_REMOVE_ONE.histogram_shift == (1,)


def test_a_bound_knows_what_it_is_worth() -> None:
    def bound(value: float, *met: bool) -> Bound:
        assumptions = tuple(Assumption(text="n is large", met=m) for m in met)
        return Bound(value=value, kind=BoundKind.GUARANTEE, statement="", reference="", assumptions=assumptions)

    assert bound(0.5).applies
    assert bound(0.5, True).applies
    assert not bound(0.5, True, False).applies
    assert not bound(0.999).vacuous
    assert bound(1.0).vacuous
    assert bound(math.inf).vacuous
    assert bound(math.nan).vacuous


@dataclass(frozen=True, kw_only=True)
class Every(IdentityHistogram):
    """A mechanism with every kind of parameter."""

    epsilon: float = epsilon_param()
    delta: float = delta_param()
    alpha: float = alpha_param()
    times: int = param(3, 1, 10, label="Times")
    fast: bool = param(False, label="Fast")
    rule: str = param("one", label="Rule", choices=("one", "two"))


def test_parameters_are_declared_once() -> None:
    parameters = Every.parameters()
    assert list(parameters) == ["epsilon", "delta", "alpha", "times", "fast", "rule"]
    assert [p.integer for p in parameters.values()] == [False, False, False, True, False, False]
    assert parameters["fast"].boolean
    assert parameters["epsilon"] == Parameter(
        label="Privacy budget",
        symbol="ε",
        low=0.001,
        high=20.0,
        log=True,
        stops=parameters["epsilon"].stops,
        help=parameters["epsilon"].help,
    )


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"epsilon": 0}, "between 0.001 and 20"),
        ({"epsilon": 20.1}, "between 0.001 and 20"),
        ({"epsilon": math.nan}, "finite"),
        ({"epsilon": math.inf}, "finite"),
        ({"epsilon": "1"}, "finite number"),
        ({"epsilon": True}, "finite number"),
        ({"epsilon": None}, "finite number"),
        ({"epsilon": 10**400}, "between"),
        ({"times": 10**400}, "between"),
        ({"times": 2.5}, "whole number"),
        ({"times": 0}, "between 1 and 10"),
        ({"fast": 1}, "on or off"),
        ({"rule": "three"}, "one, two"),
        ({"rule": 1}, "one, two"),
    ],
)
def test_wrong_values_are_named(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint) as caught:
        Every(**wrong)
    label = Every.parameters()[next(iter(wrong))].label
    assert str(caught.value).startswith(label)


def test_numbers_become_pythons_own() -> None:
    others: dict[str, Any] = {"epsilon": np.float64(0.5), "times": 3.0, "delta": np.float32(0.0625), "alpha": 1}
    class_instance = Every(**others)
    assert [type(value) for value in dataclasses.astuple(class_instance)] == [float, float, float, int, bool, str]
    assert class_instance == Every(epsilon=0.5, times=3, delta=0.0625, alpha=1.0)
    assert class_instance.guarantee(PROBLEM).sentence() == "ε = 0.5 (replace one row)"
    for field in dataclasses.fields(class_instance):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(class_instance, field.name, 2.0)


def test_an_entry_fixes_its_presets() -> None:
    entry = Entry(
        key="every", mechanism=Every, title="Every", story="A test.", domains=(DomainType.NUMBER,),
        queries=(Thresholds,), references=("none",), presets={"rule": "two"},
    )  # fmt: skip
    assert "rule" not in entry.controls()
    assert entry.make(times=4) == Every(rule="two", times=4)
    for unknown in ({"rule": "one"}, {"speed": 1}):
        with pytest.raises(ParameterError, match="has no parameter"):
            entry.make(**unknown)
    assert entry.serves(Thresholds(domain=LINE))
    assert not entry.serves(Cells(domain=LINE))
    assert not entry.serves(Cells(domain=Labels()))


def test_the_catalogue_finds_by_key_and_by_query_class() -> None:
    entries = dpcore.catalogue()
    assert dpcore.entry("identity") in entries
    assert len({entry.key for entry in entries}) == len(entries)
    with pytest.raises(ParameterError):
        dpcore.entry("no such mechanism")
    keys = {entry.key for entry in dpcore.serving(Cells(domain=Labels()))}
    assert {"identity", "gaussian"} <= keys
    assert all(entry.mechanism.releases == "data" for entry in dpcore.serving(Thresholds(domain=LINE)))


GUARANTEE = Guarantee(epsilon=1.0, neighbours=Neighbours.REPLACE_ONE)
TOLD: dict[str, Any] = {
    "problem": PROBLEM,
    "guarantee": GUARANTEE,
    "sampler": "preview",
    "refused": np.array([False, True, False]),
}


def test_a_histogram_release() -> None:
    counts = np.arange(27).reshape(3, 9)
    release = HistogramRelease(**TOLD, counts=counts)
    counts[1] = 0  # it refused: what was computed on the way does not travel
    np.testing.assert_array_equal(release.outcomes(), counts)
    histogram = release.histogram()
    np.testing.assert_array_equal(histogram[[0, 2]], counts[[0, 2]])
    assert np.isnan(histogram[1]).all()
    answers = release.answer(np.array([0, 2]))
    np.testing.assert_allclose(answers[[0, 2]], [[0, 3 / 5], [18 / 5, 57 / 5]])
    assert np.isnan(answers[1]).all()
    part = release.part(1, 3)
    assert part.trials == 2
    assert part.refused.tolist() == [True, False]
    np.testing.assert_array_equal(part.counts, counts[1:])


def test_a_points_release() -> None:
    points = np.array([[1, 1, 8], [0, 0, 0], [7, 2, 0]])
    weights = np.array([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    release = PointsRelease(**TOLD, points=points, weights=weights)
    histogram = release.histogram()
    np.testing.assert_allclose(histogram[0], [0, 3.75, 0, 0, 0, 0, 0, 0, 1.25])
    assert np.isnan(histogram[1]).all()
    np.testing.assert_allclose(histogram[2], [0, 0, 2.5, 0, 0, 0, 0, 2.5, 0])
    assert release.outcomes().shape == (3, 6)
    np.testing.assert_allclose(release.part(2, 3).histogram(), histogram[2:])


def test_a_value_release() -> None:
    release = ValueRelease(**TOLD, values=np.array([4, 0, 5]))
    assert release.outcomes().tolist() == [[4.0], [-1.0], [5.0]]
    assert release.part(0, 1).values.tolist() == [4]


def test_what_travels_to_other_processes_arrives() -> None:
    """Sweeps run on a pool: nouns are pickled, and a data set keeps its counts."""
    for noun in (PROBLEM, GUARANTEE, IdentityHistogram(epsilon=0.5), PRIVATE):
        assert pickle.loads(pickle.dumps(noun)) == noun
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(DATASET)).histogram, DATASET.histogram)


def test_the_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(dpcore.__file__).parent / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert example
    exec(example.group(1), {})
    sentence, bound = capsys.readouterr().out.splitlines()
    assert sentence == "ε = 0.5 (replace one row)"
    assert 0 < float(bound) < 1


def test_previews_differ_and_repeat() -> None:
    mechanism = IdentityHistogram(epsilon=1.0)
    state = mechanism.prepare(DATASET, PROBLEM)
    one, again, other = (mechanism.run(state, Preview(seed), 50).counts for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


@dataclass(frozen=True, kw_only=True)
class Pairs(Domain):
    """Rows of two numbers: nothing to count cells of."""

    title = "two numbers"
    types = frozenset()
    listed = False

    @property
    def size(self) -> int:
        return 2**64

    def points(self) -> list[str]:
        return []

    def describe(self, cell: int) -> str:
        return str(cell)

    def checked(self, records: NDArray[Any]) -> NDArray[Any]:
        if records.ndim != 2 or records.shape[1] != 2:
            raise DataError("Records must be two numbers per row.")
        return records


def test_a_domain_of_more_cells_than_can_be_counted_keeps_rows_but_no_histogram() -> None:
    provenance = Provenance(kind=ProvenanceKind.GENERATED, title="pairs")
    dataset = Dataset(Pairs(), np.array([[0.5, 1.5], [2.0, 3.0]]), provenance)
    assert dataset.n == 2
    with pytest.raises(ParameterError, match="too many cells"):
        _ = dataset.histogram
    for wrong in (np.zeros(3), np.zeros((3, 1))):
        with pytest.raises(DataError, match="two numbers"):
            Dataset(Pairs(), wrong, provenance)
    assert Dataset(Pairs(), np.zeros((0, 2)), provenance).n == 0


@pytest.mark.parametrize("found", dpcore.catalogue(), ids=lambda found: found.key)
@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1, math.nan, math.inf])
def test_no_promise_fails_never_or_always(found: Entry, beta: float) -> None:
    with pytest.raises(ParameterError, match="failure probability"):
        found.make().accuracy(PROBLEM, beta)


@pytest.mark.parametrize("n", [0, -1, 10**12 + 1, 10**18, 10**19, 2.5, math.nan, True])
def test_n_is_a_whole_number_that_cannot_wrap(n: Any) -> None:
    """10^18 once wrapped in the anchored search, and 10^19 was an OverflowError elsewhere."""
    with pytest.raises(ParameterError, match="n must be an integer between 1 and 1,000,000,000,000"):
        Problem(domain=LINE, queries=Thresholds(domain=LINE), n=n)


def test_the_largest_nominal_n_wraps_nowhere() -> None:
    """All searched quantiles of so many rows lie beyond the few there are: every found cell is the last one."""
    wrapping: Any = np.int64(7)
    assert type(dataclasses.replace(PROBLEM, n=wrapping).n) is int
    problem = dataclasses.replace(PROBLEM, n=MAX_ROWS, neighbours=Neighbours.ADD_REMOVE_ONE)
    dataset = Dataset(LINE, np.zeros(400, dtype=np.int64), PRIVATE)
    mechanism = dpcore.entry("intervals-anchored").make(alpha=0.005, epsilon=20.0)
    release = mechanism.run(mechanism.prepare(dataset, problem), dpcore.Preview(1), 3)
    assert isinstance(release, PointsRelease)
    assert (release.points == LINE.size - 1).all()
