"""Find labels: the exact law over all neighbouring columns of texts, for rows and for persons."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
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
from dpcore.core.sizes import MAX_LABEL_CHARACTERS
from dpcore.data.declarations import Capped
from dpcore.data.reading.tables import Table, read_table
from dpcore.data.twin import MOCK_LABELS, twin
from dpcore.data.unlisted.texts import LONGEST, LabelCounts, TextColumn, Texts
from dpcore.mechanisms.histograms.labels import FindLabels, LabelsRelease, LabelState
from dpcore.mechanisms.histograms.optimal_labels import OptimalLabels, exact_delta_of, noise_weights
from dpcore.mechanisms.histograms.threshold import person_delta
from dpcore.randomness import Account, Preview, Sampler, Secure, WeightedCounts
from dpcore.randomness.laws import laplace_mass, laplace_tail
from dplab.audit import exact_delta
from tests import ROOT
from tests.kit.contract import pair_divergence
from tests.kit.statistics import assert_law_from, assert_other_law

MADE = Provenance(kind=ProvenanceKind.GENERATED, title="test")
UNIVERSE = ("ann", "bob", "céline")
TEXTS = np.array([*UNIVERSE, None], dtype=object)
"""All records of a tiny column: three labels, and a cell that counts as missing."""
ADDED = Neighbours.ADD_REMOVE_ONE


def cells_of(*texts: str | None) -> Dataset:
    return Dataset(Texts(), np.array(texts, dtype=object), MADE)


def problem_of(neighbours: Neighbours, *, n: int = 3) -> Problem:
    domain = Texts()
    return Problem(domain=domain, queries=LabelCounts(domain=domain), n=n, neighbours=neighbours)


class AtTheTie(FindLabels):
    """Control: a count that is the threshold is released too."""

    @override
    def threshold(self, problem: Problem) -> int:
        return super().threshold(problem) - 1


class ByTrueCount(FindLabels):
    """Control: the order of the labels says which of them has more rows."""

    @override
    def run(self, state: LabelState, sampler: Sampler, trials: int = 1) -> LabelsRelease:
        order = np.argsort(-state.counts, kind="stable")
        labels = tuple(state.labels[place] for place in order)
        return super().run(dataclasses.replace(state, labels=labels, counts=state.counts[order]), sampler, trials)


@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("values", [{"epsilon": 3.0, "delta": 0.1}, {"epsilon": 6.0, "delta": 0.01}])
def test_delta_is_exactly_that_of_a_lone_label(values: dict[str, float], neighbours: Neighbours) -> None:
    """Over all columns of three cells, all neighbours and both directions; labels that only one of them has too."""
    mechanism, problem = FindLabels(**values), problem_of(neighbours)
    lone = float(laplace_tail(mechanism.threshold(problem), scale=mechanism.scale(problem)))
    finding = exact_delta(mechanism, problem, universe=TEXTS, window=(-1, mechanism.threshold(problem) + 4))
    assert finding.delta == pytest.approx(lone, rel=1e-9)
    assert 0 < lone <= mechanism.delta == mechanism.guarantee(problem).delta


@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_tie_that_is_released_is_caught(neighbours: Neighbours) -> None:
    mechanism = AtTheTie(epsilon=3.0, delta=0.1)
    assert exact_delta(mechanism, problem_of(neighbours), universe=TEXTS, window=(-1, 8)).delta > 0.1


def test_an_order_by_true_counts_is_caught() -> None:
    pair = [cells_of(*["ann"] * 5, *["bob"] * rows) for rows in (5, 6)]
    right, wrong = (
        pair_divergence(kind(epsilon=3.0, delta=0.01), problem_of(ADDED), pair, window=(0, 12), epsilon=3.0)
        for kind in (FindLabels, ByTrueCount)
    )
    assert right <= 0.01 and wrong > 0.5


@pytest.mark.parametrize("rows", [2, 3])
@pytest.mark.parametrize("mechanism", [FindLabels(epsilon=1.0, delta=0.01), OptimalLabels(epsilon=0.5, delta=0.01)])
def test_a_person_is_protected_over_all_ways_to_have_labels(mechanism: FindLabels, rows: int) -> None:
    """A person's rows are added to small columns of others, in all labels; δ is exactly the largest there."""
    problem = problem_of(ADDED)
    promised = mechanism.guarantee(dataclasses.replace(problem, person_rows=rows))
    assert promised.person_rows == rows and promised.epsilon == rows * mechanism.epsilon
    threshold, worst = mechanism.threshold(problem), 0.0
    for others in ([], ["ann"], ["ann", "bob"], ["ann", "ann", "bob"], ["ann"] * 9):
        for own in itertools.combinations_with_replacement(UNIVERSE, rows):
            pair = [cells_of(*others), cells_of(*others, *own)]
            found = pair_divergence(mechanism, problem, pair, window=(0, threshold + 12), epsilon=promised.epsilon)
            worst = max(worst, found)
    assert 0.999 * promised.delta < worst <= promised.delta * (1 + 1e-6)
    if not isinstance(mechanism, OptimalLabels):
        scale = mechanism.scale(problem)
        assert promised.delta == pytest.approx(person_delta(rows, threshold=threshold, scale=scale), rel=1e-6)
        # Three labels of one row each are worse than one label of three, or not: both are among the ways.
        assert worst > float(laplace_tail(threshold, scale=scale))


@pytest.mark.parametrize("sampler", [Preview(7), Secure()])
def test_samplers_have_the_law(sampler: Sampler) -> None:
    problem = problem_of(ADDED, n=7)
    mechanism, trials = FindLabels(epsilon=1.0, delta=0.1), 20_000
    dataset = cells_of(*["bob"] * 5, *["ann"] * 2)
    state = mechanism.prepare(dataset, problem)
    threshold, scale = mechanism.threshold(problem), mechanism.scale(problem)
    most = threshold + 20
    for column, rows, other in ((0, 2, 5), (1, 5, 2)):

        def draw(column: int = column) -> Integers:
            release = mechanism.run(state, sampler, trials)
            counts = release.counts_of(UNIVERSE)
            assert not counts[:, 2].any() and not {"céline"} & {*release.labels}
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
    problem, spent = problem_of(ADDED), []
    for texts in ([], [None, None], ["ann"] * 50):
        mechanism, account = FindLabels(epsilon=1.0), Account(Preview(1))
        dataset = cells_of(*texts)
        release = mechanism.run(mechanism.prepare(dataset, problem), account)
        spent.append([each.epsilon for each in account.charges])
        assert release.labels == ("ann",) * (len(texts) > 2)
        assert list(release.frame().columns) == ["trial", "value", "rows"]
    assert spent == [[1.0]] * 3


def test_labels_are_sorted_whatever_the_order_of_the_rows() -> None:
    problem, mechanism = problem_of(ADDED), FindLabels(epsilon=1.0)
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
    problem, mechanism, beta = problem_of(ADDED, n=1000), FindLabels(epsilon=1.0), 0.1
    bound = round(mechanism.accuracy(problem, beta).value * problem.n)
    for rows in (bound - 1, bound, bound + 1):
        dataset = cells_of(*["ann"] * rows)
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
    wrong: tuple[Any, ...] = (0, MAX_LABEL_CHARACTERS + 1, 2.0, True)
    for longest in wrong:
        with pytest.raises(ParameterError):
            TextColumn(column="name", longest=longest)


def test_mock_data_have_public_labels() -> None:
    reading = TextColumn(column="name")
    dataset = twin(reading, n=500).dataset()
    assert set(dataset.records) <= set(MOCK_LABELS) and len(set(dataset.records)) > 5


# The noise that hides the fewest labels.

SETTINGS = [(3.0, 0.1), (1.0, 0.1), (8.0, 0.001)]


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_the_delta_of_the_optimal_noise_is_exact_and_used_up(epsilon: float, delta: float) -> None:
    """Over all columns of up to three cells, all neighbours and both directions."""
    mechanism, problem = OptimalLabels(epsilon=epsilon, delta=delta), problem_of(ADDED)
    weights = noise_weights(epsilon=epsilon, delta=delta)
    exact = float(exact_delta_of(weights, epsilon=epsilon))
    assert 0.999 * delta < exact <= delta
    assert exact_delta_of(weights, epsilon=epsilon) <= Fraction(str(delta)), "what a ledger charges, in decimals"
    for rows in (0, 1, 2):
        window = (-1, mechanism.threshold(problem) + rows + 2)
        finding = exact_delta(mechanism, problem, universe=TEXTS, window=window, rows=rows)
        assert finding.delta <= delta * (1 + 1e-12)
        assert rows == 0 or finding.delta == pytest.approx(exact, rel=1e-9)


class OneWeightMore(OptimalLabels):
    """Control: the noise that releases a lone label has a chance a tenth too large."""

    @override
    def weights(self) -> Integers:
        weights = super().weights()
        weights[0] += weights[0] // 10
        return weights


def test_a_lone_label_that_is_released_too_often_is_caught() -> None:
    for mechanism, most in ((OptimalLabels(epsilon=1.0, delta=0.1), 0.1), (OneWeightMore(epsilon=1.0, delta=0.1), 1.0)):
        found = exact_delta(mechanism, problem_of(ADDED), universe=TEXTS, window=(-1, 8), rows=0).delta
        assert (found > 0.1 * (1 + 1e-9)) == (most == 1.0)


BOTH = [*SETTINGS, (0.4, 0.05), (0.5, 1e-8), (0.05, 1e-9), (1.0, 1e-15), (20.0, 1e-6)]


@pytest.mark.parametrize(("epsilon", "delta"), BOTH)
def test_no_mechanism_releases_a_label_more_often(epsilon: float, delta: float) -> None:
    """The chances by the number of rows follow the largest that neighbours allow, from none at no row."""
    weights = noise_weights(epsilon=epsilon, delta=delta)
    exact = exact_delta_of(weights, epsilon=epsilon)
    assert 0.999 * delta < exact <= delta
    released = np.cumsum(weights, dtype=np.float64) / sum(weights)
    most = 0.0
    for rows, chance in enumerate(released, 1):
        most = min(np.exp(epsilon) * most + delta, 1 - np.exp(-epsilon) * (1 - most - delta), 1.0)
        assert chance <= most * (1 + 1e-6), "the largest is an upper bound"
        assert rows > 60 or chance == pytest.approx(most, rel=2e-3)
    mechanism, problem = OptimalLabels(epsilon=epsilon, delta=delta), problem_of(ADDED)
    threshold = FindLabels(epsilon=epsilon, delta=delta)
    for rows in range(1, 60):
        usual = float(laplace_tail(threshold.threshold(problem) + 1 - rows, scale=threshold.scale(problem)))
        assert released[min(rows, len(released)) - 1] >= usual * (1 - 2e-3)
    assert mechanism.threshold(problem) <= threshold.threshold(problem)


def test_the_optimal_noise_is_for_rows_that_are_added_or_removed() -> None:
    with pytest.raises(ParameterError, match="Choose “Find labels”"):
        OptimalLabels().guarantee(problem_of(Neighbours.REPLACE_ONE))
    with pytest.raises(ParameterError, match="too many values"):
        OptimalLabels(epsilon=0.001, delta=1e-12).guarantee(problem_of(ADDED))


@pytest.mark.parametrize("sampler", [Preview(7), Secure()])
def test_samplers_have_the_optimal_law(sampler: Sampler) -> None:
    weights = np.array(noise_weights(epsilon=1.0, delta=0.1)[::-1], dtype=np.int64)
    draw = WeightedCounts(np.array([[5]]), weights=weights, first=-2, epsilon=1.0, delta=0.1)

    def drawn() -> Integers:
        return np.bincount(sampler.draw(draw, 20_000)[:, 0] - 3, minlength=len(weights))

    assert_law_from(sampler, drawn, weights / weights.sum())
    assert_other_law(drawn(), weights[::-1] / weights.sum())


def test_weights_that_are_no_noise_have_a_sentence() -> None:
    for weights in (np.array([1 << 60, 1 << 61]), np.array([], dtype=np.int64), np.array([3, 0]), np.array([0.5])):
        with pytest.raises(ParameterError, match=r"weights that add up|integers"):
            WeightedCounts(np.array([[5]]), weights=weights, first=-1, epsilon=1.0, delta=0.1)
    with pytest.raises(ParameterError, match="one data set"):
        WeightedCounts(np.array([[5], [4]]), weights=np.array([1, 2]), first=-1, epsilon=1.0, delta=0.1)


def test_names_of_pets_are_found_as_often_as_the_largest_chances_say() -> None:
    """Of the 13,929 names in Seattle's licences, at ε = 1 and δ = 10⁻⁶: 606 by the threshold, 652 by the optimum."""
    names = pd.read_parquet(ROOT / "assets" / "data" / "seattle_pets.parquet")["animal_name"].dropna().str.strip()
    problem, found = problem_of(ADDED, n=len(names)), []
    counts = names.value_counts().to_numpy()
    state = LabelState(problem=problem, labels=tuple(f"{k:05d}" for k in range(len(counts))), counts=counts)
    for kind in (FindLabels, OptimalLabels):
        release = kind(epsilon=1.0, delta=1e-6).run(state, Preview(3), 50)
        found.append((release.counts > 0).sum(axis=1).mean())
    assert len(counts) == 13_929
    np.testing.assert_allclose(found, [606, 652], atol=4)
