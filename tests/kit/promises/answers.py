"""The promises of mechanisms that answer questions about rows of several numbers: halfspaces, marginals, inputs.

Data include those on which a polynomial is furthest from what it stands in for, and rows that lie on the very margin
that is promised for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore import Dataset, Neighbours, Preview, Problem
from dpcore.core import Entry, Floats, Integers, Mechanism, Queries, Release
from dpcore.data.lists import college_domain, college_students
from dpcore.data.predicates import correlated_domain, correlated_rows
from dpcore.data.product import Product
from dpcore.data.sphere import STEP, Halfspaces, Sphere
from dpcore.data.unlisted.texts import LabelCounts, Texts
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease
from dpcore.mechanisms.histograms.labels import FindLabels
from dpcore.mechanisms.intervals.boxes import BoxRelease
from dpcore.mechanisms.marginals.decision_list_release import ListRelease
from dpcore.mechanisms.marginals.learner import RuleRelease
from dpcore.mechanisms.marginals.release import MarginalRelease
from dpcore.mechanisms.tables.release import TablesRelease
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.counting import pack
from dpcore.queries.hypotheses import INTERVALS, Hypotheses
from dpcore.queries.inputs import Inputs, fires
from dpcore.queries.marginals import Marginals as Tables
from dpcore.queries.marginals import Set
from dplab.measure import finish
from tests.kit.promises.cases import BETAS, Case, Grid, claimed, made, releases, row_counts, tried


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A class of questions about some kind of rows.

    Attributes:
        queries: the class.
        data: records by name, for a number of rows.
        truth: all true answers of a data set.
        errors: worst error of each release beside the truth, (T,).
        trials: at most so many releases.
    """

    queries: Queries
    data: Callable[[int], dict[str, NDArray[Any]]]
    truth: Callable[[Dataset], Any]
    errors: Callable[[Release, Any], Floats]
    trials: int = 1_000

    def cases(self, entry: Entry, grid: Grid, *, sizes: tuple[int, ...], told: dict[str, Any]) -> Iterator[Case]:
        """Each number of rows, relation and epsilon, on each of the named data."""
        known = {name: value for name, value in told.items() if name in entry.controls()}
        truth = lru_cache(maxsize=8)(self.truth)  # by data set: it takes longer than many releases

        def worst(mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: Preview, trials: int) -> Floats:
            return self.errors(releases(mechanism, dataset, problem, sampler, trials), truth(dataset))

        for n, neighbours in product(grid.of(*sizes), Neighbours):
            problem = Problem(domain=self.queries.domain, queries=self.queries, n=n, neighbours=neighbours)
            for rows, meets in row_counts(problem):
                sets = [made(problem, records, name) for name, records in self.data(rows).items()]
                for epsilon, dataset in product(grid.epsilons, sets):
                    mechanism = entry.make(epsilon=epsilon, **known)
                    if claimed(mechanism, problem):
                        data, trials = f"{dataset.provenance.title}, {rows:,} rows", min(grid.trials, self.trials)
                        yield tried(worst, mechanism, dataset, problem, data=data, trials=trials, meets=meets)


# Any of, all of: k of d attributes.


def marginal_data(attributes: int, rows: int) -> dict[str, NDArray[Any]]:
    """Attributes that go together; and rows all the same, so that each answer is one value of a polynomial."""
    half = np.arange(attributes) < attributes // 2
    return {
        "correlated": correlated_rows(n=rows, attributes=attributes, seed=1),
        "all rows the same": np.broadcast_to(half, (rows, attributes)).copy(),
    }


def marginal_truth(queries: AtLeast, dataset: Dataset) -> Floats:
    """Shares of the rows, all queries."""
    return finish(queries.truth(pack(dataset.records), np.arange(queries.count)))


def marginal_errors(queries: AtLeast, release: Release, truth: Floats) -> Floats:
    """Over all queries of the class."""
    assert isinstance(release, MarginalRelease)
    sets, negated = queries.sets(np.arange(queries.count))
    worst: Floats = np.abs(release.answers(sets, negated if queries.signed else None) - truth).max(axis=1)
    return worst


METHODS: tuple[dict[str, Any], ...] = (
    {"noise": "gaussian", "method": "chebyshev"},
    {"method": "minimax", "basis": "zeros", "degree": 2},
    {"noise": "gaussian"},
    {"method": "noise-aware"},
)


def marginals(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Any, or two, of three of ten attributes, and all of four, some negated, by every method the entry has."""
    domain, controls = correlated_domain(10), entry.controls()
    classes = (
        *grid.of(AtLeast(domain=domain, width=3, least=2), AtLeast(domain=domain, width=4, least=4, signed=True)),
        AtLeast(domain=domain, width=3, least=1),
    )
    methods = {tuple((name, value) for name, value in told.items() if name in controls) for told in grid.of(*METHODS)}
    for queries, told in product(classes, sorted(methods)):
        asked = Asked(
            queries=queries,
            data=partial(marginal_data, 10),
            truth=partial(marginal_truth, queries),
            errors=partial(marginal_errors, queries),
            trials=250 if queries.signed else 1_000,
        )
        yield from asked.cases(entry, grid, sizes=(1_000, 20_000), told=dict(told))


# Rules that predict an attribute.


def rule_truth(queries: Hypotheses, dataset: Dataset) -> Integers:
    """Rows on which each rule errs."""
    return finish(queries.errors(dataset.records))


def rule_data(rows: int) -> dict[str, NDArray[Any]]:
    """Attributes that go together, and fair coins: of those all rules err on nearly as many."""
    coins = np.random.Generator(np.random.SFC64(1)).integers(0, 2, (rows, 10))
    return marginal_data(10, rows) | {"coins": coins.astype(np.bool_)}


def rule_errors(release: Release, truth: Integers) -> Floats:
    """Errors of the chosen rule above those of the best one."""
    assert isinstance(release, RuleRelease)
    above: Floats = (truth[release.chosen] - truth.min()) / release.problem.n
    return above


def learned(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Rules of two of ten attributes, and one that is set while another is not."""
    domain = correlated_domain(10)
    for queries in grid.of(Hypotheses(domain=domain, kind=INTERVALS), Hypotheses(domain=domain, label=9)):
        asked = Asked(
            queries=queries,
            data=rule_data,
            truth=partial(rule_truth, queries),
            errors=rule_errors,
        )
        yield from asked.cases(entry, grid, sizes=(1_000, 20_000), told={})


# Tables of k attributes.


def table_truth(queries: Tables, dataset: Dataset) -> dict[Set, Integers]:
    """Rows in each cell of each table."""
    truths = {}
    for table in queries.sets():
        shape = tuple(queries.domain.sizes[attribute] for attribute in table)
        cells = np.ravel_multi_index(tuple(dataset.records[:, attribute] for attribute in table), shape)
        truths[table] = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
    return truths


def table_errors(release: Release, truth: dict[Set, Integers]) -> Floats:
    """Over all cells of all tables, before anything is fitted."""
    assert isinstance(release, TablesRelease)
    off = [np.abs(release.unbiased(table) - counts).reshape(release.trials, -1) for table, counts in truth.items()]
    worst: Floats = np.concatenate(off, axis=1).max(axis=1) / release.problem.n
    return worst


def table_data(sizes: tuple[int, ...], rows: int) -> dict[str, NDArray[Any]]:
    """Attributes that lean on the first one."""
    random = np.random.Generator(np.random.SFC64(1))
    first, own = random.random((rows, 1)), random.random((rows, len(sizes)))
    return {"leaning": ((0.6 * first + 0.4 * own) * np.array(sizes)).astype(np.int64)}


def tables(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Tables of two of four attributes of several sizes, and of three of six yes/no ones, with either noise."""
    for sizes, ways in ((2, 3, 4, 3), 2), ((2,) * 6, 3):
        queries = Tables(domain=Product.coded({f"a{place}": size for place, size in enumerate(sizes)}), ways=ways)
        asked = Asked(
            queries=queries, data=partial(table_data, sizes), truth=partial(table_truth, queries), errors=table_errors
        )
        for noise in ("gaussian", "laplace") if "noise" in entry.controls() else ("",):
            yield from asked.cases(entry, grid, sizes=(1_000, 20_000), told={"noise": noise, "delta": 1e-6})


# Boxes.


def box_truth(queries: RangeBoxes, dataset: Dataset) -> Floats:
    """Shares of the rows, all boxes."""
    (rows,) = table_truth(Tables(domain=queries.domain, ways=len(queries.domain.names)), dataset).values()
    shares: Floats = queries.answers(rows[None])[0] / len(dataset.records)
    return shares


def box_errors(release: Release, truth: Floats) -> Floats:
    """Over all boxes of the batch."""
    assert isinstance(release, BoxRelease)
    worst: Floats = np.abs(release.answers() - truth).max(axis=1)
    return worst


def box_data(sizes: tuple[int, ...], rows: int) -> dict[str, NDArray[Any]]:
    """Columns that lean on the first; and all rows in one cell."""
    return table_data(sizes, rows) | {"one cell": np.full((rows, len(sizes)), 1)}


def boxes(entry: Entry, grid: Grid) -> Iterator[Case]:
    """Two columns, and three, which promise something to many rows alone."""
    for sizes, rows in ((6, 5), 50_000), ((4, 3, 2), 1_000_000):
        queries = RangeBoxes(domain=Product.coded({f"a{place}": size for place, size in enumerate(sizes)}))
        data, truth = partial(box_data, sizes), partial(box_truth, queries)
        asked = Asked(queries=queries, data=data, truth=truth, errors=box_errors, trials=20)
        yield from asked.cases(entry, grid, sizes=(1_000, rows), told={"levels": 4})


# Decision lists.


def list_truth(queries: Inputs, dataset: Dataset) -> Floats:
    """Shares of the lists, all inputs; lists that are alike are looked at once."""
    lists, counts = np.unique(dataset.records, axis=0, return_counts=True)
    rules, places = queries.domain.rules, np.arange(len(lists))
    shares = []
    for values in queries.values(np.arange(queries.count)):
        fired = fires(lists, values, rules=rules)
        first = np.where(fired.any(axis=1), fired.argmax(axis=1), rules)
        shares.append(lists[places, rules + first] @ counts / len(dataset.records))
    return np.array(shares)


def list_errors(release: Release, truth: Floats) -> Floats:
    """Over all inputs."""
    assert isinstance(release, ListRelease)
    worst: Floats = np.abs(release.answers(np.arange(len(truth))) - truth).max(axis=1)
    return worst


def list_data(rules: int, rows: int) -> dict[str, NDArray[Any]]:
    """Students; and lists that are all the same, with outputs that change from rule to rule, or all but the last."""
    found: dict[str, NDArray[Any]] = {"students": college_students(n=rows, rules=rules, seed=1)}
    for name, outputs in (("alternating", np.arange(rules + 1) % 2), ("yes at last", np.arange(rules + 1) == rules)):
        found[name] = np.broadcast_to([*range(rules), *outputs.astype(int)], (rows, 2 * rules + 1)).copy()
    return found


def lists(entry: Entry, grid: Grid) -> Iterator[Case]:
    """All inputs to lists of three rules."""
    queries = Inputs(domain=college_domain(3))
    asked = Asked(queries=queries, data=partial(list_data, 3), truth=partial(list_truth, queries), errors=list_errors)
    for told in grid.of({"noise_aware": False, "degree": 1}, {"noise_aware": True, "degree": 2}):
        yield from asked.cases(entry, grid, sizes=(20_000, 5_000), told=told)


# Halfspaces.


def deepest(net: Floats) -> Floats:
    """Of many directions the one furthest from all of a net (k, t) and their opposites, (t,)."""
    towards = np.random.Generator(np.random.SFC64(1)).normal(size=(20_000, net.shape[1]))
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    found: Floats = towards[np.abs(towards @ net.T).max(axis=1).argmin()]
    return found


def halfspace_data(net: Floats, margin: float, rows: int) -> dict[str, NDArray[Any]]:
    """Rows along one line; and at the margin of the direction furthest from the net, leaning all they can."""
    hole = deepest(net)
    u = net[np.abs(net @ hole).argmax()]
    u = u * np.sign(u @ hole)
    across = u - (u @ hole) * hole
    across /= np.linalg.norm(across)
    leaning = margin * hole - math.sqrt(1 - margin**2) * across
    signs = np.where(np.arange(rows) % 3, 1, -1)[:, None]
    # On the net's first direction, turned so little that no row lies on the plane of another.
    line = net[0] + 1e-3 * hole
    return {"one line": signs * line, "at the margin": np.broadcast_to(leaning, (rows, len(hole))).copy()}


def halfspace_truth(queries: Halfspaces, net: Floats, dataset: Dataset) -> tuple[Floats, Floats]:
    """Those that have the margin of the net, the direction furthest from it and a thousand more; their answers."""
    random = np.random.Generator(np.random.SFC64(2)).normal(size=(1_000, net.shape[1]))
    towards = queries.sphere.unit(np.concatenate([net, -net, [deepest(net)], [-deepest(net)], random]))
    towards = towards[queries.margins(np.unique(dataset.records, axis=0), towards) >= queries.margin]
    assert len(towards), "no direction has the margin"
    return towards, queries.truth(dataset.records, towards)


def halfspace_errors(release: Release, truth: tuple[Floats, Floats]) -> Floats:
    """Over these directions."""
    assert isinstance(release, HalfspaceRelease)
    towards, shares = truth
    worst: Floats = np.abs(release.answer(towards) - shares).max(axis=1)
    return worst


def halfspaces(entry: Entry, grid: Grid) -> Iterator[Case]:
    """In as many dimensions as there are nets for, with the margin that the net needs; and projected: no promise."""
    for dimensions, most in grid.of((5, 16), (2, 8), (4, 24), (3, 16)):
        domain = Sphere(dimensions=dimensions)
        told = {"directions": most, "projected": min(4, dimensions)}
        mechanism = entry.make(**told)
        assert isinstance(mechanism, HalfspaceCounts)
        problem = Problem(domain=domain, queries=Halfspaces(domain=domain), n=1)
        net = np.eye(dimensions) if mechanism.is_projected(problem) else mechanism.net(problem)
        # Rows are rounded, so they lie a little further off than the margin that is asked for.
        steps = 2 * STEP * math.sqrt(dimensions)
        margin = math.sin(min(mechanism.reach(problem), math.pi / 2)) + 3 * steps
        queries = Halfspaces(domain=domain, margin=min(margin, 1.0))
        asked = Asked(
            queries=queries,
            data=partial(halfspace_data, net, margin + steps),
            truth=partial(halfspace_truth, queries, net),
            errors=halfspace_errors,
        )
        yield from asked.cases(entry, grid, sizes=(20_000, 2_000), told=told)


def label_missed_by(mechanism: FindLabels, dataset: Dataset, problem: Problem, preview: Preview, trials: int) -> Floats:
    """How far the released count of the only label is off, as a share of n; a hidden label has a count of 0."""
    release = mechanism.run(mechanism.prepare(dataset, problem), preview, trials)
    off: Floats = np.abs(release.counts_of(("ann",))[:, 0] - (dataset.records == "ann").sum()) / problem.n
    return off


def found_labels(entry: Entry, grid: Grid) -> Iterator[Case]:
    """A label that has as many rows as the promise allows to hide, and one row more."""
    domain, n = Texts(), 20_000
    for neighbours, epsilon, beta in product(Neighbours, grid.epsilons, BETAS):
        problem = Problem(domain=domain, queries=LabelCounts(domain=domain), n=n, neighbours=neighbours)
        mechanism = entry.make(epsilon=epsilon)
        if not claimed(mechanism, problem):
            continue
        assert isinstance(mechanism, FindLabels)
        bound = round(mechanism.accuracy(problem, beta).value * n)
        for rows in (bound, bound + 1):
            dataset = made(problem, np.array(["ann"] * rows + [None] * (n - rows), dtype=object), "one label")
            told: dict[str, Any] = {"data": f"a label of {rows} rows", "trials": grid.trials, "betas": (beta,)}
            yield tried(label_missed_by, mechanism, dataset, problem, **told)
