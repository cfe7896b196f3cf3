"""A mechanism of the catalogue at the user's settings, on two small public neighbouring data sets.

The data have forty rows: twenty equal rows, nineteen of a second value, and one unique row, which has a fourth value on
the other data set (or is missing there, where rows are added or removed). The unique row decides the median and the
larger of two groups, and shows whether empty cells are treated differently.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.core import (
    Dataset,
    Domain,
    DomainType,
    Entry,
    Guarantee,
    Mechanism,
    Neighbours,
    ParameterError,
    Problem,
    Provenance,
    ProvenanceKind,
    Queries,
)
from dpcore.data.columns import Labels, Number, is_labels, is_number
from dpcore.data.lists import DecisionLists, is_lists
from dpcore.data.product import Product, is_table, is_yes_no
from dpcore.data.sphere import Halfspaces, Sphere, is_sphere
from dpcore.data.unlisted.texts import LabelCounts, Texts, is_texts
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.groups import GroupQuantiles, GroupStatistics
from dpcore.queries.hypotheses import Hypotheses
from dpcore.queries.inputs import Inputs
from dpcore.queries.linear import generated
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from dpcore.randomness import Preview
from dplab.audit.exact import exact_epsilon
from dplab.audit.orders import Outcomes

ROWS = 40
MAX_QUESTIONS = 6
"""Queries of an interactive mechanism that are audited: later queries do not change earlier answers."""
REFUSED = -(2.0**40)
"""Value of every coordinate of a refused outcome."""
QUICK_PATHS = 1 << 12
"""Largest number of coin paths that are enumerated while the user waits."""
PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="forty rows of a test")

FourRecords = NDArray[Any]
"""Four records along the first axis: the common value, the second one, the unique row, and its replacement."""


def _small_domain(kind: DomainType) -> tuple[Domain, FourRecords]:
    """Return a small domain of this kind and four records of it."""
    cells, yes_no = np.array([0, 3, 1, 2]), np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    halves, coded = Number(bits=1), Labels(labels=("0", "1"), missing=False)
    small: dict[DomainType, tuple[Domain, FourRecords]] = {
        DomainType.NUMBER: (Number(bits=2), cells),
        DomainType.LABELS: (Labels(labels=("a", "b", "c", "d")), cells),
        DomainType.MAP: (Product.map(halves, halves), cells),
        DomainType.GROUPS: (Product.map(Labels(labels=("a", "b")), halves), cells),
        DomainType.YES_NO: (Product.yes_no(("a", "b")), yes_no),
        DomainType.TABLE: (Product(names=("a", "b"), columns=(coded, halves)), yes_no),
        DomainType.LISTS: (
            DecisionLists(names=("a",), rules=1),
            np.array([[2, 0, 0], [2, 0, 1], [0, 1, 0], [1, 1, 0]]),
        ),
        DomainType.TEXTS: (Texts(), np.array(["a", "b", "c", None], dtype=object)),
        DomainType.VECTORS: (Sphere(dimensions=2), np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])),
    }
    return small[kind]


def _first_query_class(entry: Entry, domain: Domain) -> Queries:
    """Return the first query class that the entry serves."""
    wider: list[Queries] = [kind(domain=domain) for kind in classes_for(domain)] if domain.listed else []
    if is_number(domain) or is_labels(domain):
        wider.append(generated("bumps", queries=4, domain=domain, seed=1))
    elif is_yes_no(domain):
        wider = [AtLeast(domain=domain, width=2, least=1), Hypotheses(domain=domain, label=1)]
    elif is_table(domain):
        wider = [Marginals(domain=domain, ways=1), RangeBoxes(domain=domain)]
        wider += [GroupStatistics(domain=domain), GroupQuantiles(domain=domain)]
    elif is_lists(domain):
        wider = [Inputs(domain=domain)]
    elif is_texts(domain):
        wider = [LabelCounts(domain=domain)]
    elif is_sphere(domain):
        wider = [Halfspaces(domain=domain)]
    return next(queries for queries in wider if entry.serves(queries))


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditSetting:
    """A mechanism with its claim, prepared on two neighbouring data sets.

    Attributes:
        mechanism: the mechanism at the user's settings.
        problem: the small problem.
        guarantee: the claim on this problem.
        states: prepared states of the two data sets.
    """

    mechanism: Mechanism
    problem: Problem
    guarantee: Guarantee
    states: tuple[Any, Any]

    def draw(self, side: int, preview: Preview, runs: int) -> Outcomes:
        """Return everything that each of ``runs`` releases publishes, (T, w); REFUSED where a release refused."""
        release = self.mechanism.run(self.states[side], preview, runs)
        return np.where(release.refused[:, None], REFUSED, release.outcomes())


def _with_few_questions(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism, with at most MAX_QUESTIONS queries if it is interactive."""
    if isinstance(mechanism, Interactive):
        return dataclasses.replace(mechanism, questions=min(mechanism.questions, MAX_QUESTIONS))
    return mechanism


def audit_setting(entry: Entry, mechanism: Mechanism, neighbours: Neighbours) -> AuditSetting:
    """Return the mechanism prepared on its small data.

    Raises:
        ParameterError: it has no proof for the relation, or its settings do not fit so small a universe.
    """
    mechanism = _with_few_questions(mechanism)
    domain, records = _small_domain(entry.domains[0])
    problem = Problem(domain=domain, queries=_first_query_class(entry, domain), n=ROWS, neighbours=neighbours)
    many = [0] * (ROWS // 2) + [1] * (ROWS // 2 - 1)
    pair = ([*many, 2], [*many, 3] if neighbours is Neighbours.REPLACE_ONE else many)
    guarantee = mechanism.guarantee(problem)
    one, other = (mechanism.prepare(Dataset(domain, records[rows], PROVENANCE), problem) for rows in pair)
    return AuditSetting(mechanism=mechanism, problem=problem, guarantee=guarantee, states=(one, other))


def exactly_on_two_rows(entry: Entry, mechanism: Mechanism, neighbours: Neighbours) -> float | None:
    """Return the smallest epsilon at the claimed delta over all neighbouring data sets of two rows on two cells.

    None where its data are not cells, its coins have too many paths to enumerate while the user waits (as those of an
    interactive mechanism), or its guarantee is about data drawn at random.

    Raises:
        ParameterError: it has no proof for the relation.
    """
    two = {DomainType.NUMBER: Number(bits=1), DomainType.LABELS: Labels(labels=("a", "b"), missing=False)}
    domain = two.get(entry.domains[0])
    if domain is None or "gamma" in entry.controls() or isinstance(mechanism, Interactive):
        return None
    problem = Problem(domain=domain, queries=_first_query_class(entry, domain), n=2, neighbours=neighbours)
    mechanism.guarantee(problem)
    try:
        return exact_epsilon(mechanism, problem, window=(-4, 6), max_paths=QUICK_PATHS).epsilon
    except ParameterError:
        return None
