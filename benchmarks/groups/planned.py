"""Means of hundreds of groups, of coarser groups and of all rows: planned Gaussian noise beside pure counters.

Hours of Adult by education × relationship × sex, 192 groups, and by education × occupation × sex, 480. A row is added
or removed. The error of a set of columns is the root mean square over its groups with enough rows; pure counters of
coarser groups are sums. Two prices are compared:

- ε = 1, and δ = 10⁻⁶ where noise is Gaussian;
- ρ = 1/2 for all, as accounts in ρ count ε = 1 without δ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

import numpy as np

from benchmarks.groups.tables import SCHOOLS, GroupedTable
from dpcore import Labels, Number, Preview, Problem
from dpcore.core import Dataset, Floats, Mechanism
from dpcore.mechanisms.grouped.counters import GaussianGroupCounters, GroupCounters
from dpcore.mechanisms.grouped.planned import PlannedGroupCounters
from dpcore.mechanisms.grouped.release import GroupRelease, GroupState
from dpcore.privacy.concentrated import rho_of_gaussians
from dpcore.privacy.persons import GaussianMechanism

TRIALS = 300
DELTA = 1e-6
FEW = 100
"""Rows of a group below which its mean is left out: noise of ε = 1 hides it."""
LEANS = (1.0, 16.0)
RELATIONSHIPS = ("Husband", "Wife", "Own-child", "Other-relative", "Unmarried", "Not-in-family")
OCCUPATIONS = (
    "Adm-clerical", "Armed-Forces", "Craft-repair", "Exec-managerial", "Farming-fishing", "Handlers-cleaners",
    "Machine-op-inspct", "Other-service", "Priv-house-serv", "Prof-specialty", "Protective-serv", "Sales",
    "Tech-support", "Transport-moving",
)  # fmt: skip


def _labels(*labels: str) -> Labels:
    return Labels(labels=labels, missing=False)


COLUMNS = {
    "education": _labels(*SCHOOLS),
    "relationship": _labels(*RELATIONSHIPS),
    "occupation": Labels(labels=OCCUPATIONS),
    "sex": _labels("Female", "Male"),
}
SETS = (("education", "relationship", "sex"), ("education", "occupation", "sex"))


def table_of(names: tuple[str, ...]) -> GroupedTable:
    """Return the hours of Adult by these columns."""
    return GroupedTable(
        title=f"Adult: hours by {' × '.join(names)}",
        sample_key="adult",
        groups={name: COLUMNS[name] for name in names},
        measured={"hours_per_week": Number(high=100.0, bins=1000)},
    )


def errors(mechanism: Mechanism, dataset: Dataset, problem: Problem) -> dict[tuple[int, ...], float]:
    """Return the root mean square error of the means of groups by each set of columns."""
    state = mechanism.prepare(dataset, problem)
    release = mechanism.run(state, Preview(1), TRIALS)
    assert isinstance(release, GroupRelease) and isinstance(state, GroupState)
    true = GroupRelease(
        problem=problem, guarantee=release.guarantee, sampler="", refused=np.zeros(1, dtype=np.bool_),
        counters=state.counters[None],
    )  # fmt: skip
    columns, found = range(len(release.queries.shape)), dict[tuple[int, ...], float]()
    for kept in (each for order in reversed(range(len(columns) + 1)) for each in combinations(columns, order)):
        truth, means = true.statistics(kept), release.statistics(kept)["mean"]
        enough = truth["rows"][0] >= FEW
        off: Floats = np.nan_to_num(means[:, enough], nan=50.0) - truth["mean"][:, enough]
        found[kept] = float(np.sqrt(np.mean(off**2)))
    return found


def at_rho(make: Callable[[float], GaussianMechanism], rho: float, problem: Problem) -> GaussianMechanism:
    """Return the mechanism, made of ε, whose draws cost this ρ."""
    low, high = 0.01, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        within = rho_of_gaussians(make(middle).gaussians(problem)) <= rho
        low, high = (middle, high) if within else (low, middle)
    return make(low)


def _planned(lean: float, epsilon: float) -> GaussianMechanism:
    return PlannedGroupCounters(epsilon=epsilon, delta=DELTA, lean=lean)


GAUSSIANS: dict[str, Callable[[float], GaussianMechanism]] = {
    "Gaussian, sums": lambda epsilon: GaussianGroupCounters(epsilon=epsilon, delta=DELTA),
    **{f"planned, weight {lean:g}": partial(_planned, lean) for lean in LEANS},
}
"""Mechanisms with Gaussian noise, made of ε."""


def mechanisms(problem: Problem, *, in_rho: bool) -> Iterator[tuple[str, Mechanism]]:
    """Yield the mechanisms of one price."""
    yield "pure, sums", GroupCounters(epsilon=1.0)
    for title, make in GAUSSIANS.items():
        yield title, at_rho(make, 0.5, problem) if in_rho else make(1.0)


def main() -> list[tuple[str, bool]]:
    """Print the errors of both tables at both prices; return the goals and whether they hold."""
    goals = []
    for names in SETS:
        table = table_of(names)
        dataset, problem = table.rows(table.statistics())
        for in_rho in (False, True):
            price = "ρ = 1/2" if in_rho else "ε = 1, δ = 10⁻⁶"
            print(f"{table.title}, {problem.queries.count} groups, {price}: error of means in hours")
            found = dict[str, dict[tuple[int, ...], float]]()
            for title, mechanism in mechanisms(problem, in_rho=in_rho):
                found[title] = errors(mechanism, dataset, problem)
                by = {"×".join(names[a][:4] for a in kept) or "all": off for kept, off in found[title].items()}
                texts = [f"{name} {off:.2g}" for name, off in by.items()]
                print(f"  {title:20}{'  '.join(texts)}")
            pure, _, planned, leaning = found.values()
            if in_rho:
                better = all(planned[kept] < pure[kept] for kept in pure)
                goals.append((f"{table.title}, {price}: planned noise is less for every set of columns", better))
            else:
                half = leaning[()] < pure[()] / 2
                goals.append((f"{table.title}, {price}: noise of weight 16 is less than half for all rows", half))
    return goals


if __name__ == "__main__":
    main()
