"""Errors of every mechanism that answers a question, against ε or n; and other noise of a plan at the same price.

Everything is simulated on mock data, so that it is public. Each cell, a mechanism at one ε and one n, has its own
random numbers: a stopped computation keeps its finished cells and continues with the others.

Noise of statistics by group is compared in closed form, for all of them together: the other noise gets ε by a common
factor, the largest at which the whole plan costs no more. A price in ε and δ favours Laplace noise for few statistics,
and Gaussian noise, also planned, for many, as all of it is one vector; a price in ρ favours Gaussian noise for any
number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, MutableMapping
from dataclasses import dataclass, replace

import numpy as np

from dpcore.core import Dataset, Entry, Floats, ParameterError
from dpcore.queries.groups import GroupStatistics
from dplab.intervals.released import noise_law
from dplab.limits.data_independent_summary import depends_on_n
from dplab.measure import BLOCK_SECONDS
from dplab.sweep import EPSILON_GRID, Sweep
from dprelease.ledger.units import Price
from dprelease.plan.answers import MAX_SIMULATED_ROWS
from dprelease.plan.errors import guaranteed_question_error, simulate_errors, twin_of
from dprelease.plan.groups import PEOPLE
from dprelease.plan.margins import margin, worst_shares
from dprelease.plan.planned_question import WHOLE_TABLE, PlannedQuestion
from dprelease.plan.questions import Plan
from dprelease.sizes import MAX_COMPARED_CELLS

N_GRID = tuple(round(10 ** (power / 2)) for power in range(4, 13))
"""Numbers of rows: 100 to a million, two per factor of ten."""
LEVELS = (0.05, 0.5, 0.95)
MIN_TRIALS, MAX_TRIALS = 20, 60
"""Limits of the number of simulated releases of a cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """Errors of one mechanism at one ε and n: LEVELS of the worst and of the mean error, and the guaranteed error."""

    worst: Floats
    typical: Floats
    promised: float


Cells = MutableMapping[tuple[str, float], Cell]
"""Finished cells, by the mechanism's key and the value on the axis."""


def compare_mechanisms(
    plan: Plan, question: PlannedQuestion, *, cells: Cells, by_rows: bool = False, seed: int = 1
) -> Generator[float, None, Sweep]:
    """Compute the errors of every mechanism at every ε, or at every n; yields the fraction done after each cell.

    Args:
        plan: the plan with the declared table.
        question: the question; its own ε is used where n varies.
        cells: finished cells of the same question, relation, axis and seed; new ones are added.
        by_rows: whether the axis is n.
        seed: seed of the mock data and of the simulations.
    """
    entries, _, places = _grid(plan, question, by_rows=by_rows)
    twins: dict[int, Dataset] = {}
    for row, entry in enumerate(entries):
        for column, place in enumerate(places):
            if (entry.key, place) not in cells:
                cells[entry.key, place] = _cell(plan, question, entry, place, by_rows=by_rows, seed=seed, twins=twins)
            yield (row * len(places) + column + 1) / (len(entries) * len(places))
    return partial_frontier(plan, question, cells=cells, by_rows=by_rows)


def partial_frontier(plan: Plan, question: PlannedQuestion, *, cells: Cells, by_rows: bool = False) -> Sweep:
    """Return the finished part of the comparison; unfinished cells are NaN without a guarantee."""
    entries, left_out, places = _grid(plan, question, by_rows=by_rows)
    unknown = Cell(worst=np.full(3, math.nan), typical=np.full(3, math.nan), promised=math.inf)
    grid = [[cells.get((entry.key, place), unknown) for place in places] for entry in entries]
    shape = len(entries), len(places)
    return Sweep(
        n=plan.n,
        keys=tuple(entry.key for entry in entries),
        epsilons=np.array(places),
        worst=np.array([[cell.worst for cell in row] for row in grid]).reshape(*shape, 3),
        typical=np.array([[cell.typical for cell in row] for row in grid]).reshape(*shape, 3),
        promised=np.array([[cell.promised for cell in row] for row in grid]).reshape(shape),
        left_out=tuple(entry.key for entry in left_out),
    )


def _grid(plan: Plan, question: PlannedQuestion, *, by_rows: bool) -> tuple[list[Entry], list[Entry], list[float]]:
    """Return the mechanisms that are fast enough, those that are not, and the values of the axis."""
    entries: list[Entry] = []
    left_out: list[Entry] = []
    for key, entry in plan.proved(question).items():
        before, each = entry.make(**question.values_for(key)).preview_seconds(plan.problem(question))
        (entries if before + MAX_TRIALS * each <= BLOCK_SECONDS else left_out).append(entry)
    max_n = MAX_SIMULATED_ROWS if question.entry_key == WHOLE_TABLE else N_GRID[-1]
    return entries, left_out, [float(n) for n in N_GRID if n <= max_n] if by_rows else list(EPSILON_GRID)


def _cell(
    plan: Plan,
    question: PlannedQuestion,
    entry: Entry,
    place: float,
    *,
    by_rows: bool,
    seed: int,
    twins: dict[int, Dataset],
) -> Cell:
    """Compute the errors of one mechanism at one ε, or at one n."""
    at_n = replace(plan, n=int(place), questions=(question,)) if by_rows else plan
    at_entry = replace(question, entry_key=entry.key, values=question.values_for(entry.key))
    if question.statistic:  # in closed form
        mechanism = entry.make(**at_entry.values, epsilon=question.epsilon if by_rows else place)
        worst, typical = (
            worst_shares(at_n, at_entry, mechanism, chances=LEVELS, together=each) for each in (True, False)
        )
        return Cell(worst=worst, typical=typical, promised=math.inf)
    if at_n.n not in twins:
        twins[at_n.n] = twin_of(at_n, question, seed=seed)
    mechanism = entry.make(**at_entry.values, epsilon=question.epsilon if by_rows else place)
    trials = max(MIN_TRIALS, min(MAX_TRIALS, MAX_COMPARED_CELLS // at_n.problem(question).domain.size))
    errors = simulate_errors(at_n, at_entry, mechanism, twins[at_n.n], seed=seed, trials=trials)
    nothing, promise = np.full(3, math.nan), guaranteed_question_error(at_n, at_entry, mechanism)
    if promise < math.inf and depends_on_n(mechanism, at_n.problem(at_entry), beta=at_n.beta):
        promise = math.inf  # a curve cannot show the condition that n is the number of rows
    return Cell(
        worst=np.quantile(errors.worst, LEVELS) if len(errors.worst) else nothing,
        typical=np.quantile(errors.typical, LEVELS) if len(errors.typical) else nothing,
        promised=promise,
    )


NOISES = {
    "Laplace": ("group-counters", "laplace"),
    "Gaussian": ("group-counters-gaussian", "gaussian"),
    "planned Gaussian": ("group-counters-planned", "gaussian"),
}
"""Noise of statistics by group: the mechanism of counters, and the noise of numbers of people."""
MIN_EPSILON, MAX_EPSILON = 0.001, 20.0
HALVINGS = 24
GAIN = 0.99
"""Ratio of margins from which other noise is worth a change."""


@dataclass(frozen=True, kw_only=True)
class OtherNoise:
    """A plan whose statistics by group have other noise, at the same price.

    Attributes:
        name: of the noise, one of NOISES.
        plan: the same statistics.
        price: of the plan.
        margins: largest ratio of a statistic's margin in one group to that of the plan before.
        totals: the same of all rows together, whose counters are sums.
    """

    name: str
    plan: Plan
    price: Price
    margins: float
    totals: float


def better_noise(
    plan: Plan, price_of: Callable[[Plan], Price], *, max_delta: int
) -> Generator[float, None, OtherNoise | None]:
    """Find the noise of all statistics by group with smaller margins at the plan's price; None where it has it.

    The margins of all single groups must be smaller; of several such noises, and for the plan's own, the product with
    the ratio of all rows together decides.

    Args:
        plan: the plan; statistics whose ε is fixed keep their noise.
        price_of: returns a plan's price in the measure of its account.
        max_delta: δ that the plan may cost, in units of 10^-18; its own δ is allowed too.
    """
    price = price_of(plan)
    max_delta, best = max(max_delta, price.delta), None
    for done, name in enumerate(NOISES):
        other = _same_price(_with_noise(plan, name), price_of, price=price, max_delta=max_delta)
        if other is not None and other.questions != plan.questions:
            margins, totals = _ratios(plan, other)
            enough = margins < GAIN and margins * totals < (best.margins * best.totals if best else GAIN)
            if enough:
                best = OtherNoise(name=name, plan=other, price=price_of(other), margins=margins, totals=totals)
        yield (done + 1) / len(NOISES)
    return best


def _grouped(plan: Plan) -> list[int]:
    """Return the indices of the statistics by group whose noise may change."""
    by_group = [question.statistic == PEOPLE or question.queries == GroupStatistics.key for question in plan.questions]
    return [at for at, each in enumerate(plan.questions) if by_group[at] and not each.pinned]


def _with_noise(plan: Plan, name: str) -> Plan:
    """Return the plan with this noise of its statistics by group, each at the same ε."""
    (key, noise), questions = NOISES[name], list(plan.questions)
    for at in _grouped(plan):
        each = questions[at]
        if each.statistic == PEOPLE:
            questions[at] = replace(each, values={**each.values, "noise": noise})
        elif each.entry_key != key:
            questions[at] = replace(each, entry_key=key, values=each.values_for(key))
    return replace(plan, questions=tuple(questions))


def _same_price(plan: Plan, price_of: Callable[[Plan], Price], *, price: Price, max_delta: int) -> Plan | None:
    """Return the plan with the largest ε of its statistics by group, by a common factor, within a price."""
    grouped = _grouped(plan)
    epsilons = [plan.questions[at].epsilon for at in grouped]
    if not grouped:
        return None

    def times(factor: float) -> Plan:
        changed = [min(max(math.floor(factor * each * 1e4) / 1e4, MIN_EPSILON), MAX_EPSILON) for each in epsilons]
        return plan.with_losses(dict(zip(grouped, changed, strict=True)))

    def within(other: Plan) -> bool:
        cost = price_of(other)
        return cost.epsilon_or_rho <= price.epsilon_or_rho and cost.delta <= max_delta

    low, high = MIN_EPSILON / max(epsilons), MAX_EPSILON / min(epsilons)
    if not within(times(low)):
        return None
    for _ in range(HALVINGS):
        factor = math.sqrt(low * high)
        low, high = (factor, high) if within(times(factor)) else (low, factor)
    return times(low)


def _ratios(before: Plan, after: Plan) -> tuple[float, float]:
    """Return the largest ratios of a statistic's margins in one group, and of the noise of all rows together."""
    margins, totals = [], []
    for at in _grouped(after):
        shares, sums = [], []
        for plan in (before, after):
            question = plan.questions[at]
            mechanism, problem = plan.mechanism(question), plan.problem(question)
            try:
                shares.append(margin(plan, question, mechanism).share)
            except ParameterError:  # no margin of this ratio can be predicted
                shares.append(noise_law(mechanism, problem).deviation)
            noise = noise_law(mechanism, problem, kept=())
            sums.append(noise.deviation * (1.0 if noise.of_sums else math.sqrt(problem.queries.count)))
        margins.append(shares[1] / shares[0])
        totals.append(sums[1] / sums[0])
    return max(margins), max(totals)
