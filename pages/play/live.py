"""What the page looks like at each stop of the ε slider, so that its pictures follow the finger."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from typing import Any

from dpcore.core import Dataset, State
from dpcore.experiments.measure import BLOCK_SECONDS, ErrorReport, finish, measure
from dpcore.experiments.recipe import Recipe
from dpcore.randomness import Preview
from pages.charts.live import encoded
from pages.play.pictures import View, shown
from pages.shell.controls import log_stops

MOST_CELLS = 1 << 20
"""Releases x cells at one stop: where the page draws more, the stops have fewer of the same releases."""
LEAST_RELEASES = 100


def releases(recipe: Recipe, cells: int) -> int:
    """How many releases a stop has."""
    return min(recipe.trials, max(LEAST_RELEASES, MOST_CELLS // cells))


def reports(recipe: Recipe, dataset: Dataset, state: State) -> Generator[float, None, list[ErrorReport]]:
    """A report for each stop, with the page's seed; yields the fraction done. None at all where that takes too long."""
    stops = log_stops(recipe.entry.controls()["epsilon"])
    trials = releases(recipe, dataset.domain.size)
    before, each = recipe.mechanism().preview_seconds(state.problem)
    if len(stops) * (before + trials * each) > BLOCK_SECONDS:
        return []
    values, found = dict(recipe.values), []
    for place, stop in enumerate(stops):
        mechanism = dataclasses.replace(recipe, values=tuple({**values, "epsilon": stop}.items())).mechanism()
        work = measure(mechanism, dataset, state, Preview(recipe.seed), trials=trials, beta=recipe.beta)
        found.append(finish(work))
        yield (place + 1) / len(stops)
    return found


def states(
    found: Sequence[ErrorReport], dataset: Dataset, view: View, *, beta: float, badge: str
) -> Generator[float, None, Any]:
    """Every stop's pictures; yields the fraction done. None where there are none, or they are too large to be sent."""
    at = []
    for place, report in enumerate(found):
        at.append(shown(dataset, report, view, beta=beta))
        yield (place + 1) / len(found)
    if not at:
        return None
    keys = at[0].pictures
    texts = {"headline": [each.headline for each in at]}
    texts |= {key: [each.captions[key] for each in at] for key in keys}
    return encoded({key: [each.pictures[key] for each in at] for key in keys}, texts, badge=badge)
