"""Give the error, get ε: the least privacy loss at which a mechanism errs by at most a target, except with chance β.

Twice for each mechanism. *Promised*: the theorem's number, bisected; it holds for all data. *Simulated*: on these data.
A pilot with common coins finds a likely ε, and fresh coins confirm it: the exact upper limit for the chance to fail
(Clopper and Pearson 1934), at confidence 1 - κ/2^j in attempt j, must be at most β, else ε grows by 3% and is tried
again. An ε that fails more often than β passes attempt j with chance at most κ/2^j, so one is returned with chance
at most κ. What is confirmed is what is returned: ε is rounded up before. Of other data it says nothing certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import numpy as np

from dpcore.core import (
    Blocks,
    Dataset,
    Entry,
    ErrorUnit,
    Floats,
    Guarantee,
    Mechanism,
    ParameterError,
    Problem,
    State,
    rounded_up,
    scaled,
)
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.limits.chance import binomial_interval
from dpcore.randomness import Preview
from dplab.limits.data_independent_summary import promised_error
from dplab.measure import measure

LOWEST, HIGHEST = 0.001, 20.0
"""Privacy losses that are tried."""
HALVINGS = 15
"""Of the logarithm of ε between these two: the last step is 0.03%."""
PILOT = 9
"""Privacy losses that the pilot tries."""
CLOSE = 1.02
"""The pilot stops where its ε is off by so much."""
STEP = 1.03
"""By so much ε grows where fresh coins do not confirm it."""
KAPPA = 0.05
"""Chance that a confirmed ε fails more often than β."""
ATTEMPTS = 24
RUNS, MAX_SECONDS = 24, 5.0
"""Runs of the pilot and of attempts that confirm, in runs of the pilot; a mechanism that says they last longer is not
simulated.
"""
PILOT_FAILURES, CONFIRMING_FAILURES = 20, 60
"""Releases of a pilot point and of an attempt, times β: enough for a quantile, and for an exact limit close to β."""


@dataclass(frozen=True, kw_only=True)
class ConfirmedEpsilon:
    """An ε that fresh coins confirmed: so many of so many releases erred by more than the target, or refused."""

    epsilon: float
    failures: int
    releases: int


@dataclass(frozen=True, kw_only=True)
class Need:
    """The ε a mechanism needs.

    Attributes:
        key: of its entry.
        promised: ε at which its theorem promises the target; None: at none up to HIGHEST.
        simulated: ε at which releases of these data keep it; None: at none, or it was not tried.
        slow: whether simulating was not tried, because it takes too long.
    """

    key: str
    promised: float | None
    simulated: ConfirmedEpsilon | None
    slow: bool = False

    @property
    def least(self) -> float:
        """What it is ranked by: the simulated ε, else the promised one, else infinity."""
        return self.simulated.epsilon if self.simulated else self.promised or math.inf


def least_epsilon(is_enough: Callable[[float], bool]) -> float | None:
    """The least ε that is enough, rounded up to three digits and itself enough; None if HIGHEST is not.

    Args:
        is_enough: once true, true for every larger ε.
    """
    if not is_enough(HIGHEST):
        return None
    if is_enough(LOWEST):
        return LOWEST
    low, high = math.log(LOWEST), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(math.exp(middle)) else (middle, high)
    epsilon = min(HIGHEST, round_up(math.exp(high)))
    return epsilon if is_enough(epsilon) else HIGHEST


def round_up(epsilon: float) -> float:
    """Rounded up to three digits.

    >>> up(0.28701), up(0.5)
    (0.288, 0.5)
    """
    return float(rounded_up(epsilon))


def round_down(epsilon: float) -> float:
    """Rounded down to three digits.

    >>> down(0.28799), down(0.5)
    (0.287, 0.5)
    """
    return -float(Decimal(repr(-epsilon)).normalize(Context(prec=3, rounding=ROUND_CEILING)))


def make_mechanism(entry: Entry, *, target: float, values: Mapping[str, Any], epsilon: float) -> Mechanism:
    """The mechanism at an ε, with the values it has controls for; the allowed error, if it has one, is the target."""
    controls = entry.controls()
    given = {name: value for name, value in values.items() if name in controls}
    if "alpha" in controls:
        given["alpha"] = min(max(target, controls["alpha"].low), controls["alpha"].high)
    return entry.make(**{**given, "epsilon": epsilon})


def promised_epsilon(
    entry: Entry, problem: Problem, *, target: float, beta: float, values: Mapping[str, Any]
) -> float | None:
    """The least ε at which the entry's theorem promises the target; None where it promises it at no ε."""

    def is_enough(epsilon: float) -> bool:
        bound = make_mechanism(entry, target=target, values=values, epsilon=epsilon).accuracy(problem, beta)
        return bound.guaranteed and bound.unit is not ErrorUnit.TABLES and bound.value <= target

    return least_epsilon(is_enough)


def entries_by_promised_epsilon(
    entries: Sequence[Entry], problem: Problem, *, target: float, beta: float, values: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, float]]:
    """Entries that promise the target whatever the data are, with the ε each needs, the least first.

    That a public n is the number of rows is taken for granted. No data are looked at.
    """
    epsilons = []
    for entry in entries:
        given = values.get(entry.key, {})

        def is_enough(epsilon: float, entry: Entry = entry, given: Mapping[str, Any] = given) -> bool:
            mechanism = make_mechanism(entry, target=target, values=given, epsilon=epsilon)
            return promised_error(mechanism, problem, beta=beta) <= target

        epsilon = least_epsilon(is_enough)
        if epsilon is not None:
            epsilons.append((entry.key, epsilon))
    return sorted(epsilons, key=lambda each: each[1])


def impossible_below(problem: Problem, *, target: float, beta: float, delta: float) -> float:
    """The ε, rounded down, below which nobody promises the target for all data with a slack of at most δ; 0: none."""

    def is_allowed(epsilon: float) -> bool:
        guarantee = Guarantee(epsilon=epsilon, delta=delta, neighbours=problem.neighbours)
        bound = lower_bound(problem, guarantee, beta=beta)
        return bound is None or bound.value <= target

    if is_allowed(LOWEST):
        return 0.0
    low, high = math.log(LOWEST), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_allowed(math.exp(middle)) else (middle, high)
    return round_down(math.exp(low))


def simulated_epsilon(
    make: Callable[[float], Mechanism],
    dataset: Dataset,
    problem: Problem,
    *,
    target: float,
    beta: float,
    seed: int,
    kappa: float = KAPPA,
) -> Generator[float, None, ConfirmedEpsilon | None]:
    """An ε at which at most a share β of releases of these data err by more than the target, or refuse.

    Yields the fraction done, roughly. None where no ε up to HIGHEST is confirmed.

    Args:
        make: the mechanism at an ε.
        dataset: the true data.
        problem: what is asked.
        target: the allowed error, a fraction of n.
        beta: the allowed share of failures.
        seed: of the pilot's coins; those of attempts follow from it.
        kappa: chance that the returned ε fails more often than β.
    """
    epsilon = yield from likely_epsilon(make, dataset, problem, target=target, beta=beta, seed=seed)
    if epsilon is None:
        return None
    releases, state = math.ceil(CONFIRMING_FAILURES / beta), make(epsilon).prepare(dataset, problem)
    for attempt in range(1, ATTEMPTS + 1):
        epsilon = min(HIGHEST, round_up(epsilon))
        coins = int(np.random.SeedSequence([seed, attempt]).generate_state(1, np.uint64)[0]) >> 1
        _, upper_limits = binomial_interval(np.arange(releases), releases, confidence=1 - 2 * kappa / 2**attempt)
        allowed = int((upper_limits <= beta).sum()) - 1  # the limit grows with the failures
        work = _failures(
            make(epsilon), dataset, state, target=target, seed=coins, releases=releases, allowed=allowed, done=0.8
        )
        failures = yield from work
        if failures <= allowed:
            return ConfirmedEpsilon(epsilon=epsilon, failures=failures, releases=releases)
        if epsilon == HIGHEST:
            return None
        epsilon *= STEP
    return None


def likely_epsilon(
    make: Callable[[float], Mechanism], dataset: Dataset, problem: Problem, *, target: float, beta: float, seed: int
) -> Generator[float, None, float | None]:
    """Where the pilot's (1 - β)-quantile of the worst error reaches the target; None if nowhere. Not confirmed.

    The same coins at every ε, so that errors nearly fall as ε grows; of errors that do not, the least so far counts.
    """
    releases = math.ceil(PILOT_FAILURES / beta)
    allowed = releases - math.ceil((1 - beta) * releases)
    state: State | None = None

    def reached(epsilon: float, done: float) -> Generator[float, None, bool]:
        nonlocal state
        mechanism = make(epsilon)
        state = state or mechanism.prepare(dataset, problem)
        work = _failures(
            mechanism, dataset, state, target=target, seed=seed, releases=releases, allowed=allowed, done=done
        )
        return (yield from work) <= allowed

    tried = np.geomspace(LOWEST, HIGHEST, PILOT).tolist()
    if not (yield from reached(HIGHEST, 0.0)):
        return None
    low = None
    for place, epsilon in enumerate(tried[:-1]):
        if (yield from reached(epsilon, 0.6 * (place + 1) / PILOT)):
            high = epsilon
            break
        low = epsilon
    else:
        high = HIGHEST
    if low is None:
        return LOWEST
    while high / low > CLOSE:
        middle = math.sqrt(low * high)
        if (yield from reached(middle, 0.7)):
            high = middle
        else:
            low = middle
    return float(high)


def _failures(
    mechanism: Mechanism,
    dataset: Dataset,
    state: State,
    *,
    target: float,
    seed: int,
    releases: int,
    allowed: int,
    done: float,
) -> Generator[float, None, int]:
    """Of so many releases those that err by more than the target, or refuse; yields the fraction done of all.

    Where more fail than are allowed no further block is drawn: how many more would fail does not matter.
    """

    def failed(worst: Floats) -> int:
        return int((~(worst <= target)).sum())  # a refusal is no number

    def too_many(worst: Floats) -> bool:
        return failed(worst) > allowed

    work = measure(mechanism, dataset, state, Preview(seed), trials=releases, queries_shown=1, enough=too_many)
    blocks = Blocks(work)
    for _ in blocks:
        yield done
    return failed(blocks.result.worst)


def needed_epsilons(
    entries: Sequence[Entry],
    dataset: Dataset,
    problem: Problem,
    *,
    target: float,
    beta: float,
    values: Mapping[str, Mapping[str, Any]],
    seed: int,
    on_all_data: bool = False,
) -> Generator[float, None, list[Need]]:
    """What every entry needs, the least ε first; yields the fraction done. Computed with the true data: not private.

    Args:
        entries: mechanisms that serve the problem's queries.
        dataset: the true data.
        problem: what is asked.
        target: the allowed error, a fraction of n.
        beta: failure chance.
        values: further parameter values by an entry's key.
        seed: of the simulated releases.
        on_all_data: simulate only what errs alike on all data, so that every ε found holds for all of them.
    """
    if not 0 < target < 1:
        raise ParameterError(f"A target error must lie between 0 and 1, got {target!r}.")
    needs = []
    for place, entry in enumerate(entries):
        given = values.get(entry.key, {})
        promised = promised_epsilon(entry, problem, target=target, beta=beta, values=given)
        yield place / len(entries)

        def make(epsilon: float, entry: Entry = entry, given: Mapping[str, Any] = given) -> Mechanism:
            return make_mechanism(entry, target=target, values=given, epsilon=epsilon)

        before, each = make(1.0).preview_seconds(problem)
        slow = RUNS * (before + each * PILOT_FAILURES / beta) > MAX_SECONDS
        simulated: ConfirmedEpsilon | None = None
        if not slow and (entry.mechanism.data_independent or not on_all_data):
            work = simulated_epsilon(make, dataset, problem, target=target, beta=beta, seed=seed)
            simulated = yield from scaled(work, place, len(entries))
        needs.append(Need(key=entry.key, promised=promised, simulated=simulated, slow=slow))
    return sorted(needs, key=lambda need: need.least)
