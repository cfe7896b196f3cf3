"""Find labels: the exact law over all neighbouring columns of texts, for rows and for persons."""

from __future__ import annotations

import dataclasses
import itertools
from typing import ClassVar

import numpy as np
import pytest
from typing_extensions import override

from dpcore.core import (
    DataError,
    Dataset,
    Floats,
    Integers,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
)
from dpcore.data.declarations import Capped
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.texts import LONGEST, MAX_LONGEST, LabelCounts, TextColumn, Texts
from dpcore.data.twin import MOCK_LABELS, twin
from dpcore.mechanisms.histograms.labels import FindLabels, LabelsRelease, LabelState
from dpcore.mechanisms.histograms.threshold import person_delta
from dpcore.randomness import Account, Enumerate, Preview, Sampler, Secure
from dpcore.randomness.laws import laplace_mass, laplace_tail
from dplab.audit import exact_delta
from dplab.audit.exact import hockey_stick
from tests.kit.statistics import assert_law_from, assert_other_law

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
UNIVERSE = ("ann", "bob", "céline")
TEXTS = np.array([*UNIVERSE, None], dtype=object)
"""All records of a tiny column: three labels, and a cell that counts as missing."""


def problem_of(neighbours: Neighbours, *, n: int = 3) -> Problem:
    domain = Texts()
    return Problem(domain=domain, queries=LabelCounts(domain=domain), n=n, neighbours=neighbours)


class OnUniverse(FindLabels):
    """The same releases, each with the count of every text of the universe, so that laws can be compared."""

    universe: ClassVar[tuple[str, ...]] = UNIVERSE

    @override
    def run(self, state: LabelState, sampler: Sampler, trials: int = 1) -> LabelsRelease:
        release = super().run(state, sampler, trials)
        return dataclasses.replace(release, labels=self.universe, counts=release.counts_of(self.universe))


class AtTheTie(OnUniverse):
    """Control: a count that is the threshold is released too."""

    @override
    def threshold(self, problem: Problem) -> int:
        return super().threshold(problem) - 1


class InFileOrder(OnUniverse):
    """Control: the order of the labels says which of them has more rows."""

    @override
    def run(self, state: LabelState, sampler: Sampler, trials: int = 1) -> LabelsRelease:
        release = super().run(state, sampler, trials)
        first = np.argsort(-np.append(state.counts, [0, 0, 0])[:1])
        order = np.full((trials, 1), len(state.labels) and int(state.counts.argmax()) + first[0])
        return dataclasses.replace(release, counts=np.concatenate([release.counts, order], axis=1))


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("values", [{"epsilon": 3.0, "delta": 0.1}, {"epsilon": 6.0, "delta": 0.01}])
def test_delta_is_exactly_that_of_a_lone_label(values: dict[str, float], neighbours: Neighbours) -> None:
    """Over all columns of three cells, all neighbours and both directions; labels that only one of them has too."""
    mechanism, problem = OnUniverse(**values), problem_of(neighbours)
    lone = float(laplace_tail(mechanism.threshold(problem), scale=mechanism.scale(problem)))
    finding = exact_delta(mechanism, problem, universe=TEXTS, window=(-1, mechanism.threshold(problem) + 4))
    assert finding.delta == pytest.approx(lone, rel=1e-9)
    assert 0 < lone <= mechanism.delta == mechanism.guarantee(problem).delta


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("broken", [AtTheTie, InFileOrder])
def test_a_tie_that_is_released_and_an_order_that_tells_are_caught(
    broken: type[OnUniverse], neighbours: Neighbours
) -> None:
    mechanism = broken(epsilon=3.0, delta=0.1)
    assert exact_delta(mechanism, problem_of(neighbours), universe=TEXTS, window=(-1, 8)).delta > 0.1


@pytest.mark.parametrize("rows", [2, 3])
def test_a_person_is_protected_over_all_ways_to_have_labels(rows: int) -> None:
    """A person's rows are added to every small column of others, in all labels; δ is exactly the largest there."""
    problem = problem_of(Neighbours.ADD_REMOVE_ONE)
    mechanism = OnUniverse(epsilon=1.0, delta=0.01)
    promised = mechanism.guarantee(dataclasses.replace(problem, person_rows=rows))
    assert promised.person_rows == rows and promised.epsilon == rows
    paths = Enumerate(window=(0, mechanism.threshold(problem) + 12))
    worst = 0.0
    for others in ([], ["ann"], ["ann", "ann", "bob"]):
        for own in itertools.combinations_with_replacement(UNIVERSE, rows):
            laws = []
            for texts in (others, [*others, *own]):
                dataset = Dataset(problem.domain, np.array(texts, dtype=object), MADE)
                laws.append(paths.law(mechanism, mechanism.prepare(dataset, problem)))
            for one, other in (laws, laws[::-1]):
                worst = max(worst, hockey_stick(one, other, epsilon=promised.epsilon))
    expected = person_delta(rows, threshold=mechanism.threshold(problem), scale=mechanism.scale(problem))
    assert worst == pytest.approx(promised.delta, rel=1e-6) == expected
    # Three labels of one row each are worse than one label of three, or not: both are among the ways.
    assert worst > float(laplace_tail(mechanism.threshold(problem), scale=mechanism.scale(problem)))


@pytest.mark.parametrize("sampler", [Preview(7), Secure()])
def test_samplers_have_the_law(sampler: Sampler) -> None:
    problem = problem_of(Neighbours.ADD_REMOVE_ONE, n=7)
    mechanism, trials = OnUniverse(epsilon=1.0, delta=0.1), 20_000
    dataset = Dataset(problem.domain, np.array(["bob"] * 5 + ["ann"] * 2, dtype=object), MADE)
    state = mechanism.prepare(dataset, problem)
    threshold, scale = mechanism.threshold(problem), mechanism.scale(problem)
    most = threshold + 20
    for column, rows, other in ((0, 2, 5), (1, 5, 2)):

        def draw(column: int = column) -> Integers:
            counts = mechanism.run(state, sampler, trials).counts
            assert not counts[:, 2].any()
            return np.bincount(np.minimum(counts[:, column], most), minlength=most + 1)

        law, wrong = (_law(each, threshold=threshold, scale=scale, most=most) for each in (rows, other))
        assert_law_from(sampler, draw, law)
        assert_other_law(draw(), wrong)


def _law(rows: int, *, threshold: int, scale: float, most: int) -> Floats:
    """Probabilities of released counts from 0, which is no release, to ``most`` and more."""
    law = np.zeros(most + 1)
    counts = np.arange(threshold + 1, most)
    law[counts] = laplace_mass(counts - rows, scale=scale)
    law[most] = float(laplace_tail(most - rows, scale=scale))
    law[0] = 1 - law.sum()
    return law


def test_a_column_without_labels_draws_and_spends_as_any_other() -> None:
    problem, spent = problem_of(Neighbours.ADD_REMOVE_ONE), []
    for texts in ([], [None, None], ["ann"] * 50):
        mechanism, account = FindLabels(epsilon=1.0), Account(Preview(1))
        dataset = Dataset(problem.domain, np.array(texts, dtype=object), MADE)
        release = mechanism.run(mechanism.prepare(dataset, problem), account)
        spent.append([each.epsilon for each in account.charges])
        assert release.labels == ("ann",) * (len(texts) > 2)
        assert list(release.frame().columns) == ["trial", "value", "rows"]
    assert spent == [[1.0]] * 3


def test_labels_are_sorted_whatever_the_order_of_the_rows() -> None:
    problem, mechanism = problem_of(Neighbours.ADD_REMOVE_ONE), FindLabels(epsilon=1.0)
    texts = np.array(["zoë"] * 200 + ["ann"] * 100 + ["bob"] * 300 + ["rare"] * 3, dtype=object)
    for seed in range(4):
        rows = np.random.Generator(np.random.SFC64(seed)).permutation(texts)
        release = mechanism.run(mechanism.prepare(Dataset(problem.domain, rows, MADE), problem), Preview(seed))
        assert release.labels == ("ann", "bob", "zoë") and mechanism.possible(release)
        for wrong in (
            {"labels": ("bob", "ann", "zoë")},
            {"labels": ("ann", "ann", "zoë")},
            {"labels": ("ann", "bob\n", "zoë")},
            {"labels": ("ann", "bob", "z" * (LONGEST + 1))},
            {"counts": np.minimum(release.counts, mechanism.threshold(problem))},
            {"counts": -release.counts},
        ):
            assert not mechanism.possible(dataclasses.replace(release, **wrong))


def test_the_error_holds_for_a_label_at_the_edge() -> None:
    """A label with one row more than the bound, and one with fewer: both errors are within it except with chance β."""
    problem, mechanism, beta = problem_of(Neighbours.ADD_REMOVE_ONE, n=1000), FindLabels(epsilon=1.0), 0.1
    bound = round(mechanism.accuracy(problem, beta).value * problem.n)
    for rows in (bound - 1, bound, bound + 1):
        dataset = Dataset(problem.domain, np.array(["ann"] * rows, dtype=object), MADE)
        release = mechanism.run(mechanism.prepare(dataset, problem), Preview(rows), 4000)
        failed = (np.abs(release.counts_of(("ann",))[:, 0] - rows) > bound).mean()
        assert failed < beta * 1.3
    hidden = (release.counts_of(("ann",)) == 0).mean()
    assert hidden < beta, "a label with more rows than the bound is released"


def table_of(cells: list[str], *, rest: str = "") -> Table:
    lines = "".join(f'{place},"{cell}"\n' for place, cell in enumerate(cells))
    return read_table(f"who,name\n{lines}{rest}".encode(), name="names.csv", header=True)


def test_a_cell_that_is_no_label_is_missing_and_each_cell_is_judged_alone() -> None:
    cells = {
        "ann": "ann",
        " ann\t": "ann",
        "ANN": "ANN",
        "": None,
        "x" * LONGEST: "x" * LONGEST,
        "x" * (LONGEST + 1): None,
        "日" * LONGEST: "日" * LONGEST,
        "two\nlines": None,
        "tab\tinside": None,
        "hid\u202eden": None,
        "a\u0007bell": None,
        "\u3164": None,
        "=1+1": "=1+1",
        "a;b": "a;b",
    }
    reading = TextColumn(column="name")
    records = reading.records(table_of(list(cells)))
    assert records.tolist() == list(cells.values())
    for cell, label in cells.items():  # the same alone as among others
        assert reading.records(table_of([cell, "other"])).tolist() == [label, "other"]
    codes = table_of(["ann", "-9", "n/a"]).with_format(dataclasses.replace(table_of(["a"]).format, missing=("-9",)))
    assert reading.records(codes).tolist() == ["ann", None, "n/a"]


def test_a_label_is_later_matched_with_its_cells() -> None:
    table = table_of(["ann", " ann ", "007", "7", "céline", "ce\u0301line"])
    records = TextColumn(column="name").records(table)
    labels = sorted({*records})
    assert [labels[code] for code in table.labels("name", labels)] == records.tolist()
    assert len(labels) == 5, "two spellings are two labels"


def test_rows_beyond_a_persons_cap_are_not_read() -> None:
    table = read_table(b"who,name\n1,a\n1,b\n1,c\n2,a\n,d\n", name="names.csv", header=True)
    reading = Capped(reading=TextColumn(column="name"), person="who", rows=2)
    assert reading.records(table).tolist() == ["a", "b", "a"]
    assert reading.dataset(table, MADE).person_rows == 2


def test_unfit_records_and_settings_have_a_sentence_that_quotes_none() -> None:
    domain = Texts(longest=3)
    for records in (["long text"], ["a\n"], [1], [" a"]):
        with pytest.raises(DataError) as caught:
            Dataset(domain, np.array(records, dtype=object), MADE)
        assert "long text" not in str(caught.value)
    with pytest.raises(DataError):
        Dataset(domain, np.array([1, 2]), MADE)
    for longest in (0, MAX_LONGEST + 1, 2.0, True):
        with pytest.raises(ParameterError):
            TextColumn(column="name", longest=longest)  # type: ignore[arg-type]


def test_mock_data_have_public_labels() -> None:
    reading = TextColumn(column="name")
    dataset = twin(reading, n=500).dataset()
    assert set(dataset.records) <= set(MOCK_LABELS) and len(set(dataset.records)) > 5
