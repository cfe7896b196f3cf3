"""A mechanism of the catalogue at somebody's settings, on two small neighbouring data sets that everybody may see.

Forty rows of four kinds: twenty of one, nineteen of another, and one that is alone in what it is, and is something
else on the other data set (or missing there, where rows come and go). Such a row sits on the median, decides which of
two groups is larger, and shows where empty cells are treated differently.
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
    DomainKind,
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
from dpcore.data.lists import DecisionLists
from dpcore.data.product import Product, is_table, is_yes_no
from dpcore.data.sphere import Halfspaces, Sphere
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.at_least import AtLeast
from dpcore.queries.boxes import RangeBoxes
from dpcore.queries.inputs import Inputs
from dpcore.queries.linear import generated
from dpcore.queries.marginals import Marginals
from dpcore.queries.ranges import classes_for
from dpcore.randomness import Preview
from dplab.audit.exact import exact_epsilon
from dplab.audit.orders import Outcomes

ROWS = 40
MAX_QUESTIONS = 6
"""Of a conversation: its first ones. How many follow changes nothing of what is said before."""
REFUSED = -(2.0**40)
"""What stands in every place of an outcome that was refused."""
QUICK_PATHS = 1 << 12
"""Paths of coins that are walked at once."""
PROVENANCE = Provenance(kind=ProvenanceKind.GENERATED, title="forty rows of an audit")

RecordKinds = NDArray[Any]
"""Records of four kinds, on the first axis: the many, the other many, the lone one, and what it becomes."""


def _small_domain(kind: DomainKind) -> tuple[Domain, RecordKinds]:
    """A small domain of this kind with four kinds of records."""
    cells, yes_no = np.array([0, 3, 1, 2]), np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    halves = Number(bits=1)
    small: dict[DomainKind, tuple[Domain, RecordKinds]] = {
        DomainKind.NUMBER: (Number(bits=2), cells),
        DomainKind.LABELS: (Labels(labels=("a", "b", "c", "d")), cells),
        DomainKind.MAP: (Product.map(halves, halves), cells),
        DomainKind.GROUPS: (Product.map(Labels(labels=("a", "b")), halves), cells),
        DomainKind.YES_NO: (Product.yes_no(("a", "b")), yes_no),
        DomainKind.TABLE: (Product.coded({"a": 2, "b": 2}), yes_no),
        DomainKind.LISTS: (
            DecisionLists(names=("a",), rules=1),
            np.array([[2, 0, 0], [2, 0, 1], [0, 1, 0], [1, 1, 0]]),
        ),
        DomainKind.VECTORS: (Sphere(dimensions=2), np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]])),
    }
    return small[kind]


def _first_query_class(entry: Entry, domain: Domain) -> Queries:
    """The first class of questions that the entry serves."""
    wider: list[Queries] = [kind(domain=domain) for kind in classes_for(domain)] if domain.listed else []
    if is_number(domain) or is_labels(domain):
        wider.append(generated("bumps", queries=4, domain=domain, seed=1))
    elif is_yes_no(domain):
        wider = [AtLeast(domain=domain, width=2, least=1)]
    elif is_table(domain):
        wider = [Marginals(domain=domain, ways=1), RangeBoxes(domain=domain)]
    elif isinstance(domain, DecisionLists):
        wider = [Inputs(domain=domain)]
    elif isinstance(domain, Sphere):
        wider = [Halfspaces(domain=domain)]
    return next(queries for queries in wider if entry.serves(queries))


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditSetting:
    """A mechanism, what it claims, and two states of it to draw from.

    Attributes:
        mechanism: at the settings.
        problem: the small one.
        guarantee: claimed on it.
        states: of the two data sets.
    """

    mechanism: Mechanism
    problem: Problem
    guarantee: Guarantee
    states: tuple[Any, Any]

    def draw(self, side: int, preview: Preview, runs: int) -> Outcomes:
        """Everything that each of so many releases publishes, (T, w); REFUSED where it answered nothing."""
        release = self.mechanism.run(self.states[side], preview, runs)
        return np.where(release.refused[:, None], REFUSED, release.outcomes())


def _with_few_questions(mechanism: Mechanism) -> Mechanism:
    """The mechanism; of a conversation its first questions."""
    if isinstance(mechanism, Interactive):
        return dataclasses.replace(mechanism, questions=min(mechanism.questions, MAX_QUESTIONS))
    return mechanism


def audit_setting(entry: Entry, mechanism: Mechanism, neighbours: Neighbours) -> AuditSetting:
    """The mechanism on its small data.

    Raises:
        ParameterError: it has no proof for the relation, or no place for its settings on so small a universe.
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
    """The least epsilon that holds at the claimed delta for every pair of neighbours of two rows on two cells.

    None where its data are not of cells, its coins take too many paths to be walked while somebody waits (those of a
    conversation do), or its promise is about data drawn at random, which so few rows cannot show.

    Raises:
        ParameterError: it has no proof for the relation.
    """
    two = {DomainKind.NUMBER: Number(bits=1), DomainKind.LABELS: Labels(labels=("a", "b"), missing=False)}
    domain = two.get(entry.domains[0])
    if domain is None or "gamma" in entry.controls() or isinstance(mechanism, Interactive):
        return None
    problem = Problem(domain=domain, queries=_first_query_class(entry, domain), n=2, neighbours=neighbours)
    mechanism.guarantee(problem)
    try:
        return exact_epsilon(mechanism, problem, window=(-4, 6), max_paths=QUICK_PATHS).epsilon
    except ParameterError:
        return None
