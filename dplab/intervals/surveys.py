"""Surveys of one population, released with noise: the interval of the noise, and the wider one of the population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Neighbours, Problem
from dpcore.data.columns import Labels
from dpcore.data.product import Product
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.release import GroupState
from dpcore.mechanisms.grouped.weights import counters, row_weight
from dpcore.queries.groups import GroupStatistics
from dpcore.randomness import Preview
from dplab.intervals.interval import Interval
from dplab.intervals.population import population_mean
from dplab.intervals.released import interval, noise_of

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class Surveys:
    """The share of yes in T surveys of one population, each released once.

    Attributes:
        population: share of yes in the population.
        asked: share of yes among the people of each survey, (T,).
        released: released share, (T,); NaN where noise leaves no people.
        of_rows: intervals for ``asked``, of the noise alone, (T,).
        of_population: intervals for ``population``, of the noise and the sampling error, (T,).
    """

    population: float
    asked: Floats
    released: Floats
    of_rows: Interval
    of_population: Interval

    @property
    def hits(self) -> tuple[Booleans, Booleans, Booleans]:
        """Hits, (T,) each: noise interval and population, noise interval and people asked, wider one and population."""
        rows, wider = self.of_rows, self.of_population
        return rows.contains(self.population), rows.contains(self.asked), wider.contains(self.population)


def draw_surveys(*, n: int, population: float, epsilon: float, surveys: int, seed: int) -> Surveys:
    """Ask n people for each survey, and release the counters of all surveys as those of groups, at LEVEL.

    Args:
        n: people of each survey.
        population: share of yes in the population, which is much larger.
        epsilon: ε, for one person more or less.
        surveys: number of surveys T.
        seed: of the people and of the preview sampler.
    """
    survey = Labels(labels=tuple(map(str, range(surveys))), missing=False)
    domain = Product(names=("survey", "answer"), columns=(survey, Labels(labels=("no", "yes"), missing=False)))
    queries = GroupStatistics(domain=domain)
    problem = Problem(domain=domain, queries=queries, n=n * surveys, neighbours=Neighbours.ADD_REMOVE_ONE)
    yes = np.random.Generator(np.random.SFC64(seed)).binomial(n, population, surveys)
    groups, cells = np.indices((surveys, 2)).reshape(2, -1)
    summed = counters(groups, cells[:, None], np.stack([n - yes, yes], axis=1).reshape(-1), queries)
    mechanism = GroupCounters(epsilon=epsilon)
    release = mechanism.run(GroupState(problem=problem, counters=summed), Preview(seed))
    wider = population_mean(release.counters, noise_of(mechanism, release), weight=row_weight(queries), level=LEVEL)
    return Surveys(
        population=population,
        asked=yes / n,
        released=release.statistics()["proportion"][0],
        of_rows=interval(mechanism, release, "proportion", level=LEVEL).reshaped((surveys,)),
        of_population=wider.reshaped((surveys,)),
    )
