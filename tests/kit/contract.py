"""What every mechanism of the catalogue must keep, as functions that take an entry; test_contract.py runs them all.

The exact checks enumerate a tiny problem; sampled ones compare with the same enumeration. Mechanisms whose guarantee
fails with probability gamma over the draw of the data are checked over the product measure instead.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dpcore.core import (
    DataRelease,
    Dataset,
    Entry,
    Floats,
    Integers,
    Mechanism,
    Neighbours,
    PointsRelease,
    Problem,
    State,
)
from dpcore.randomness import Account, Enumerate, Preview, Sampler, Secure
from dplab.audit import ROUNDING, Law, aligned, exact_delta, exact_gamma, hockey_stick
from tests.kit.problems import (
    Clamped,
    dataset_of,
    distributions,
    law_problem,
    ordinary_data,
    ordinary_problems,
    outcomes_of,
    relations,
    tiny_mechanism,
    tiny_problems,
    variants,
    window_for,
)
from tests.kit.statistics import CONTROL, assert_law_from, assert_other_law, tally_rows

TELLING_EPSILONS = (3.0, 12.0)


def check_privacy(mechanism: Mechanism, problem: Problem) -> None:
    """The exact law of every neighbour is within the guarantee; with gamma, but for pairs of chance gamma."""
    guarantee = mechanism.guarantee(problem)
    assert guarantee.neighbours is problem.neighbours
    if guarantee.gamma:
        chances = exact_gamma(mechanism, problem, masses=distributions(problem.domain.size), window=window_for(problem))
        assert chances.max() <= guarantee.gamma + ROUNDING, f"bad pairs have chance {chances.max():.6g}"
        return
    # Where rows come and go, no rows and one are neighbours too, whatever the nominal n.
    for rows in (problem.n, 0) if problem.neighbours is Neighbours.ADD_REMOVE_ONE else (problem.n,):
        finding = exact_delta(mechanism, problem, window=window_for(problem), rows=rows)
        assert finding.pairs > 0
        assert finding.delta <= guarantee.delta + ROUNDING, (
            f"exact delta {finding.delta:.6g} at epsilon = {guarantee.epsilon:g} for {finding.pair}, "
            f"above the promised {guarantee.delta:.6g}"
        )


def check_privacy_whatever_is_asked(mechanism: Mechanism, problems: Sequence[Problem]) -> None:
    """Problems on one domain that differ in their queries: once, where no release on any data looks at them."""
    unasked = dataclasses.replace(problems[0])
    object.__delattr__(unasked, "queries")
    try:
        check_privacy(mechanism, unasked)
    except AttributeError:
        for problem in problems:
            check_privacy(mechanism, problem)


@lru_cache(maxsize=1)
def prepared(mechanism: Mechanism, problem: Problem) -> list[State]:
    """States of data at one end and in two lumps: listing a net takes long, and two checks in a row need it."""
    return [mechanism.prepare(dataset, problem) for dataset in ordinary_data(problem)[::3]]


def check_spending(mechanism: Mechanism, problem: Problem, *, seed: int) -> None:
    """What the draws of a run add up to is never above the guarantee, whatever the data."""
    guarantee = mechanism.guarantee(problem)
    for state in prepared(mechanism, problem):
        account = Account(Preview(seed))
        mechanism.run(state, account, 3)
        assert account.charges, "nothing was drawn: nothing protects the data"
        for charge in account.charges:
            # No law shows a wrong shift: it is told for this account only. Who measures sums of cells tells how far.
            told = getattr(mechanism, "shift", lambda problem: problem.neighbours.histogram_shift)
            assert not charge.sigma or charge.squared_shift == sum(step * step for step in told(problem))
        assert account.epsilon <= guarantee.epsilon * (1 + 1e-9), f"spent {account.epsilon}, told {guarantee.epsilon}"
        assert account.delta(guarantee.epsilon) <= guarantee.delta * (1 + 1e-9)


def pair_divergence(
    mechanism: Mechanism, problem: Problem, pair: Sequence[Dataset], *, window: tuple[int, int], epsilon: float
) -> float:
    """The larger hockey-stick divergence, of both directions, of the exact laws on two data sets."""
    paths = Enumerate(window=window)
    one, other = (paths.law(mechanism, mechanism.prepare(dataset, problem)) for dataset in pair)
    return max(hockey_stick(one, other, epsilon=epsilon), hockey_stick(other, one, epsilon=epsilon))


def louder(mechanism: Mechanism) -> Mechanism:
    """The positive control: the same mechanism at CONTROL times its epsilon."""
    known: Any = mechanism  # to have an epsilon
    changed: Mechanism = dataclasses.replace(known, epsilon=CONTROL * known.epsilon)
    return changed


def distance(law: Law, other: Law) -> float:
    """Pearson's distance of another law from a law, per draw."""
    p, q = aligned(law, other)
    return float(((p - q) ** 2 / np.maximum(p, 1e-4)).sum())


def telling_case(entry: Entry, problem: Problem) -> tuple[Mechanism, Dataset, Law, int]:
    """The mechanism at the epsilon where its control differs most, data, the exact law, and draws that show it."""
    steps, size = np.arange(problem.n), problem.domain.size
    spreads = (steps * size // problem.n, steps**2 * size // problem.n**2)  # even, and lopsided: ties tell nothing
    best: tuple[float, Mechanism, Dataset, Law] | None = None
    for dataset in (dataset_of(problem, rows) for rows in spreads):
        for values in ({}, *({"epsilon": epsilon} for epsilon in TELLING_EPSILONS)):
            mechanism = tiny_mechanism(entry, **values)
            law, other = (
                Enumerate(window=window_for(problem)).law(m, m.prepare(dataset, problem))
                for m in (mechanism, louder(mechanism))
            )
            found = distance(law, other)
            if best is None or found > best[0]:
                best = found, mechanism, dataset, law
    assert best is not None
    draws = int(np.clip(400 / max(best[0], 1e-9), 4_000, 10**7))
    assert draws <= 400_000, (
        f"no epsilon tells {entry.key} from its control: choose other values in tiny=, or other tiny_size, tiny_rows"
    )
    return best[1], best[2], best[3], draws


def check_law(entry: Entry, problem: Problem, sampler: Sampler, *, seed: int) -> None:
    """A sampler's outcomes have the exact law; previews at CONTROL times epsilon, as many, do not."""
    mechanism, dataset, law, draws = telling_case(entry, problem)
    window = window_for(problem)
    control = assert_drawn(mechanism, dataset, problem, sampler, law, window=window, draws=(draws, draws), seed=seed)
    both = np.unique(np.concatenate([law[0], control]), axis=0)
    if len(both) == len(law[0]):
        assert_other_law(tally_rows(control, law[0]), law[1])


def assert_drawn(
    mechanism: Mechanism,
    dataset: Dataset,
    problem: Problem,
    sampler: Sampler,
    law: Law,
    *,
    window: tuple[int, int],
    draws: tuple[int, int],
    seed: int,
) -> Floats:
    """Fail if a sampler's outcomes do not have the law; returns previews of the control, as many as the second says."""

    def drawn() -> Integers:
        return tally_rows(outcomes_of(mechanism, dataset, problem, Clamped(sampler, window), draws[0]), law[0])

    assert_law_from(sampler, drawn, law[1])
    clamped = Clamped(Preview(seed), window)
    return outcomes_of(louder(mechanism), dataset, problem, clamped, draws[1])


def check_tiny_law(
    mechanism: Mechanism, dataset: Dataset, problem: Problem, sampler: str, *, window: tuple[int, int], seed: int
) -> None:
    """30,000 releases (secure: 8,000) by chi-square at 1e-6; releases at CONTROL times epsilon are rejected."""
    law = Enumerate(window=window).law(mechanism, mechanism.prepare(dataset, problem))
    draws, source = (30_000, Preview(seed)) if sampler == "preview" else (8_000, Secure())
    control = assert_drawn(
        mechanism, dataset, problem, source, law, window=window, draws=(draws, 30_000), seed=seed + 1
    )
    assert_other_law(tally_rows(control, law[0]), law[1])


def check_trials(mechanism: Mechanism, problem: Problem, *, seed: int) -> None:
    """Trials are the leading axis of everything, and outcomes() holds everything that is released."""
    for state in prepared(mechanism, problem):
        release, again = (mechanism.run(state, Preview(seed), 7) for _ in range(2))
        assert mechanism.run(state, Preview(seed)).trials == 1
        assert release.trials == 7
        assert release.refused.dtype == np.bool_
        assert release.problem == problem
        assert release.guarantee == mechanism.guarantee(problem)
        assert release.sampler == Preview.name
        outcomes = release.outcomes()
        assert outcomes.shape[0] == 7
        assert np.isfinite(outcomes[~release.refused]).all()
        np.testing.assert_array_equal(outcomes, again.outcomes())
        np.testing.assert_array_equal(release.refused, again.refused)
        part = release.part(2, 5)
        assert part.trials == 3
        np.testing.assert_array_equal(part.outcomes(), outcomes[2:5])
        np.testing.assert_array_equal(part.refused, release.refused[2:5])
        published = set(map(tuple, outcomes.T.tolist()))
        for field in dataclasses.fields(release):
            value = getattr(release, field.name)
            if isinstance(value, np.ndarray) and field.name != "refused":
                columns = value.reshape(7, -1).astype(np.float64).T.tolist()
                assert set(map(tuple, columns)) <= published, f"{field.name} is released but not in outcomes()"
        if isinstance(release, DataRelease):
            histogram = release.histogram()
            assert histogram.shape == (7, problem.domain.size)
            np.testing.assert_array_equal(np.isnan(histogram).any(axis=1), release.refused)
            batch = problem.queries.batch(50)
            answers = release.answer(batch)
            assert answers.shape == (7, len(batch))
            np.testing.assert_array_equal(np.isnan(answers).any(axis=1), release.refused)
        if isinstance(release, PointsRelease):
            assert (release.weights >= 0).all()
            assert (release.weights.sum(axis=1) <= 1 + 1e-9).all()


def check_declaration(entry: Entry, usual: Sequence[Problem] = ()) -> None:
    """An entry explains itself, its parameters survive a link, and a user who asks for epsilon gets no more of it.

    Args:
        entry: of the catalogue.
        usual: problems of records that are not numbered cells; those of the kit where there are none.
    """
    for text in (entry.key, entry.title, entry.story, *entry.references):
        assert text.strip()
    assert entry.references
    assert entry.story.endswith(".")
    assert entry.domains
    assert entry.queries
    explanation = (inspect.getmodule(entry.mechanism).__doc__ or "").casefold()
    for part in ("private", "notation", "references"):
        assert part in explanation, f"the module's docstring lacks {part!r}"
    assert entry.mechanism.__doc__
    mechanism = entry.make()
    assert entry.mechanism.parameters(), "no parameter is declared"
    for name, parameter in entry.mechanism.parameters().items():
        assert parameter.label
        assert parameter.help, f"{name} has no help"
        for stop in parameter.stops:
            parameter.check(name=name, value=stop)
        if name in entry.controls() and not (parameter.boolean or parameter.choices):
            for end in (parameter.low, parameter.high):
                assert getattr(entry.make(**{name: end}), name) == end
    for made in (mechanism, tiny_mechanism(entry)):
        written = json.loads(json.dumps({name: getattr(made, name) for name in entry.controls()}))
        assert entry.make(**written) == made
        assert hash(entry.make(**written)) == hash(made)
    problems = usual or [each for served in relations(entry) for each in ordinary_problems(entry, served)]
    assert problems, "there is no relation it has a guarantee for"
    for problem in problems:
        guarantee = mechanism.guarantee(problem)
        for name in ("epsilon", "delta", "gamma"):
            asked = getattr(mechanism, name, 0.0 if name != "epsilon" else np.inf)
            assert getattr(guarantee, name) <= asked * (1 + 1e-12), f"more {name} than asked for"
        bound = mechanism.accuracy(problem, 0.1)
        assert bound.statement
        assert bound.reference
        assert all(0 <= seconds < np.inf for seconds in mechanism.preview_seconds(problem))


def check_entry(entry: Entry, *, seed: int) -> None:
    """Everything that needs no entropy from the operating system."""
    check_declaration(entry)
    for neighbours in relations(entry):
        problems = list(tiny_problems(entry, neighbours))
        for mechanism in variants(entry, **entry.tiny):
            for problem in problems:
                check_privacy(mechanism, problem)
        check_law(entry, law_problem(entry, neighbours), Preview(seed), seed=seed + 1)
        for mechanism in variants(entry):
            for problem in ordinary_problems(entry, neighbours):
                check_spending(mechanism, problem, seed=seed)
                check_trials(mechanism, problem, seed=seed)
