"""Find the smallest ε at which a mechanism's error is at most a target, with confidence 1 − β.

There are two values for each mechanism. *Promised*: from the theorem, by bisection; it holds for all data. *Simulated*:
on these data. A pilot with common random numbers finds a likely ε, and fresh random numbers confirm it: the exact upper
limit of the failure probability (Clopper and Pearson 1934), at confidence 1 - κ/2^j in attempt j, must be at most β,
else ε grows by 3% and is tried again. An ε that fails more often than β passes attempt j with probability at most
κ/2^j, so such an ε is returned with probability at most κ. ε is rounded up before it is confirmed. The result is not
valid for other data.
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
from dpcore.core.bisection import bisect_range
from dpcore.limits.bounds.applicable import lower_bound
from dpcore.limits.chance import binomial_interval
from dpcore.randomness import Preview
from dplab.limits.data_independent_summary import promised_error
from dplab.measure import measure

LOWEST, HIGHEST = 0.001, 20.0
"""Range of ε that is searched."""
HALVINGS = 15
"""Bisections of the logarithm of ε in this range: the last step is 0.03%."""
PILOT = 9
"""Number of values of ε in the pilot's grid."""
CLOSE = 1.02
"""Ratio of the pilot's upper to its lower ε at which it stops."""
STEP = 1.03
"""Factor by which ε grows where fresh random numbers do not confirm it."""
KAPPA = 0.05
"""Probability that a confirmed ε fails more often than β."""
ATTEMPTS = 24
RUNS, MAX_SECONDS = 24, 5.0
"""Total work in runs of the pilot, and its time limit; a mechanism whose estimated time exceeds it is not simulated."""
PILOT_FAILURES, CONFIRMING_FAILURES = 20, 60
"""Expected failures in the releases of a pilot point and of an attempt: enough for an accurate quantile and limit."""


@dataclass(frozen=True, kw_only=True)
class ConfirmedEpsilon:
    """ε confirmed by fresh random numbers, with the number of releases that exceeded the target or refused."""

    epsilon: float
    failures: int
    releases: int


@dataclass(frozen=True, kw_only=True)
class Need:
    """ε that a mechanism needs for a target.

    Attributes:
        key: key of the entry.
        promised: ε at which the theorem guarantees the target; None where no ε up to HIGHEST does.
        simulated: ε at which releases of these data meet it; None where none does, or it was not simulated.
        slow: whether it was not simulated because that takes too long.
    """

    key: str
    promised: float | None
    simulated: ConfirmedEpsilon | None
    slow: bool = False

    @property
    def least(self) -> float:
        """Simulated ε, else the guaranteed one, else infinity, for ranking."""
        return self.simulated.epsilon if self.simulated else self.promised or math.inf


def _along_logarithms(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Return two values of ε near each other, of which a condition holds for the second; it does for HIGHEST."""
    ends = math.log(LOWEST), math.log(HIGHEST)
    low, high = bisect_range(lambda logarithm: holds(math.exp(logarithm)), *ends, steps=HALVINGS)
    return math.exp(low), math.exp(high)


def least_epsilon(is_enough: Callable[[float], bool]) -> float | None:
    """Return the smallest ε that is enough, rounded up to three digits; None if HIGHEST is not enough.

    Args:
        is_enough: monotone: once true, it is true for every larger ε.
    """
    if not is_enough(HIGHEST):
        return None
    if is_enough(LOWEST):
        return LOWEST
    _, least = _along_logarithms(is_enough)
    epsilon = min(HIGHEST, round_up(least))
    return epsilon if is_enough(epsilon) else HIGHEST


def round_up(epsilon: float) -> float:
    """Round up to three digits.

    >>> round_up(0.28701), round_up(0.5)
    (0.288, 0.5)
    """
    return float(rounded_up(epsilon))


def round_down(epsilon: float) -> float:
    """Round down to three digits.

    >>> round_down(0.28799), round_down(0.5)
    (0.287, 0.5)
    """
    return -float(Decimal(repr(-epsilon)).normalize(Context(prec=3, rounding=ROUND_CEILING)))


def make_mechanism(entry: Entry, *, target: float, values: Mapping[str, Any], epsilon: float) -> Mechanism:
    """Make the mechanism at an ε, with the values that it has controls for, and the target as its allowed error."""
    controls = entry.controls()
    given = {name: value for name, value in values.items() if name in controls}
    if "alpha" in controls:
        given["alpha"] = min(max(target, controls["alpha"].low), controls["alpha"].high)
    return entry.make(**{**given, "epsilon": epsilon})


def promised_epsilon(
    entry: Entry, problem: Problem, *, target: float, beta: float, values: Mapping[str, Any]
) -> float | None:
    """Return the smallest ε at which the entry's theorem guarantees the target; None where no ε does."""

    def is_enough(epsilon: float) -> bool:
        bound = make_mechanism(entry, target=target, values=values, epsilon=epsilon).accuracy(problem, beta)
        return bound.guaranteed and bound.unit is not ErrorUnit.TABLES and bound.value <= target

    return least_epsilon(is_enough)


def entries_by_promised_epsilon(
    entries: Sequence[Entry], problem: Problem, *, target: float, beta: float, values: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, float]]:
    """Return the entries that guarantee the target for all data, with the ε each needs, in ascending order.

    A public n is assumed to be the number of rows. No data are used.
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
    """Return the ε, rounded down, below which no mechanism with δ guarantees the target for all data; 0 if unknown."""

    def is_allowed(epsilon: float) -> bool:
        guarantee = Guarantee(epsilon=epsilon, delta=delta, neighbours=problem.neighbours)
        bound = lower_bound(problem, guarantee, beta=beta)
        return bound is None or bound.value <= target

    if is_allowed(LOWEST):
        return 0.0
    return round_down(_along_logarithms(is_allowed)[0])


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
    """Find an ε at which at most a share β of releases of these data exceed the target or refuse.

    Yields the approximate fraction done. Returns None where no ε up to HIGHEST is confirmed.

    Args:
        make: makes the mechanism at an ε.
        dataset: the true data.
        problem: the public problem.
        target: allowed error, a fraction of n.
        beta: allowed share of failures.
        seed: seed of the pilot; the seeds of attempts are derived from it.
        kappa: probability that the returned ε fails more often than β.
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
    """Find the ε at which the pilot's (1 - β)-quantile of the worst error reaches the target; None if none does.

    It uses the same random numbers at every ε, so that errors are nearly monotone in ε.
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
    """Count the releases that exceed the target or refuse; yields ``done`` after each block.

    It stops once more fail than are allowed, as further failures do not matter.
    """

    def failed(worst: Floats) -> int:
        return int((~(worst <= target)).sum())  # a refusal is NaN

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
    """Compute the ε that every entry needs, in ascending order; yields the fraction done. Uses true data: not private.

    Args:
        entries: mechanisms that serve the problem's queries.
        dataset: the true data.
        problem: the public problem.
        target: allowed error, a fraction of n.
        beta: failure probability.
        values: further parameter values by an entry's key.
        seed: seed of the simulated releases.
        on_all_data: simulate only mechanisms with data-independent error, so that every ε holds for all data.
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
