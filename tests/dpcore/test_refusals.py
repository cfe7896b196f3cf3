"""What is refused says why in a sentence that is true: the same call on the other side of the condition is answered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcore.core import Dataset, Neighbours, ParameterError, Problem, Provenance, ProvenanceKind
from dpcore.data.columns import Number
from dpcore.data.product import Product
from dpcore.limits.attacks.dimension_bounds import net_promise
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.mechanisms.marginals.release import MarginalRelease
from dpcore.mechanisms.ranges.halving import least_scale
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean
from dpcore.mechanisms.subsamples.votes.commonest import Commonest
from dpcore.mechanisms.tables.direct_and_fourier import DirectTables
from dpcore.privacy.composition import gaussian_delta
from dpcore.queries.at_least import AtLeast
from dpcore.queries.ranges import Thresholds
from dpcore.randomness import Preview, Secure
from dpcore.randomness.coins import SubsampleVotes
from dpcore.randomness.gates import EnumeratedGate, gate_budget
from dplab.printed.weights import fitted_error
from dprelease.ledger.records import Registration
from dprelease.ledger.units import Price
from tests.kit.attribute_tables import every_record, problem_of, release_of

REPLACE, ADD_REMOVE = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE


def mean(neighbours: Neighbours) -> object:
    domain = Number(high=8, bins=8)
    problem = Problem(domain=domain, queries=Thresholds(domain=domain), n=1000, neighbours=neighbours)
    return UnboundedMean().guarantee(problem)


def marginals(method: str, *, signed: bool = False) -> MarginalRelease:
    """A release of queries about 3 of 4 attributes."""
    domain = Product.yes_no(["a", "b", "c", "d"])
    problem = Problem(domain=domain, queries=AtLeast(domain=domain, width=3, signed=signed), n=16)
    rows = np.array([[bool(row >> place & 1) for place in range(4)] for row in range(16)])
    mechanism = PolynomialMarginals(method=method, degree=2)
    data = Dataset(domain, rows, Provenance(kind=ProvenanceKind.GENERATED, title="rows"))
    return mechanism.run(mechanism.prepare(data, problem), Preview(1))


def answered(method: str, *, width: int = 3, negated: bool = False, signed: bool = False) -> object:
    sets = np.arange(width)[None, :]
    return marginals(method, signed=signed).answers(sets, np.full(sets.shape, negated))


def tables(fit: str) -> object:
    problem = problem_of((2, 2), ways=2, n=4, neighbours=REPLACE)
    return release_of(DirectTables(epsilon=1.0), problem, every_record((2, 2)), Preview(1), 1).tables(fit=fit)


def gate(answers: float) -> object:
    budget = gate_budget(epsilon=1.0, updates=1, answers=answers)
    opened = EnumeratedGate(
        lambda laws, symbols: symbols[laws.argmax(axis=2)], window=(0, 4), budget=budget, sensitivity=1, trials=1
    )
    return opened.answer(np.array([3]))


def tree_noise(epsilon: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):  # at so large a loss a tail is 0
        return least_scale(epsilon, 8, REPLACE)


def votes(rows: int) -> object:
    """Subsamples of so many rows."""
    return Secure().draw(SubsampleVotes(np.array([5, 5, 0]), Commonest(answers=2), rows=rows, times=2), 1)


def registered(person_column: str, rows: int) -> object:
    told = Registration(
        name="a", neighbours=ADD_REMOVE, public_n=10, person_column=person_column, rows_a_person=rows
    ).refusal
    if told:
        raise ParameterError(told)
    return told


CASES: list[tuple[Callable[[], Any], Callable[[], Any], str]] = [
    (
        lambda: mean(ADD_REMOVE),
        lambda: mean(REPLACE),
        "The mean without bounds is available only for replacing one of n rows, with n public.",
    ),
    (
        lambda: answered("direct", width=2),
        lambda: answered("direct"),
        "The 3-way marginals answer queries of 3 attributes only.",
    ),
    (
        lambda: answered("minimax", negated=True),
        lambda: answered("minimax", negated=True, signed=True),
        "This release answers queries without negation only.",
    ),
    (
        lambda: tables("consistent"),
        lambda: tables("unbiased"),
        "Tables with separate noise do not agree with each other. Use the residual planner.",
    ),
    (lambda: gate(0.0), lambda: gate(0.5), "This gate keeps nothing for answers."),
    (
        lambda: fitted_error(alpha=1.0),
        lambda: fitted_error(alpha=0.3),
        "The error of answers lies between 0 and 1, not at 1.0.",
    ),
    (
        lambda: net_promise(questions=4, points=4, rows=0, epsilon=1.0, beta=0.1),
        lambda: net_promise(questions=4, points=4, rows=9, epsilon=1.0, beta=0.1),
        "A guaranteed error needs a class, rows, an ε above 0 and a β in (0, 1).",
    ),
    (
        lambda: gaussian_delta(1.0, sigma=1.0, shift=(1, 1, 1)),
        lambda: gaussian_delta(1.0, sigma=1.0, shift=(1, 1)),
        "The exact law is known for one or two cells moved by 1 each.",
    ),
    (
        lambda: Price.allowed_in_rho(epsilon=1e-6, delta=1e-17),
        lambda: Price.allowed_in_rho(epsilon=1.0, delta=1e-6),
        "A budget in ρ below 10^-9 allows no release. Choose a larger ε or δ.",
    ),
    (
        lambda: registered("", 2),
        lambda: registered("person", 2),
        "A registration needs a public n. A maximum of rows per person needs a person column.",
    ),
    (
        lambda: tree_noise(1e6),
        lambda: tree_noise(20.0),
        "The noise of a private tree is not worked out at an epsilon of 1e+06.",
    ),
    (
        lambda: votes(1 << 30),
        lambda: votes(8),
        "At most 1,073,741,824 rows can be sampled: choose fewer or smaller subsamples.",
    ),
]


@pytest.mark.parametrize(("refused", "allowed", "sentence"), CASES, ids=[case[2][:40] for case in CASES])
def test_what_is_refused_says_why_and_the_other_side_is_answered(
    refused: Callable[[], Any], allowed: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        refused()
    allowed()
