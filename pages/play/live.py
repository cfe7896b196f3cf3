"""What the page looks like at each stop of the ε slider, so that its pictures follow the finger."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from dpcore.core import Dataset, State
from dpcore.randomness import Preview
from dplab.measure import BLOCK_SECONDS, ErrorReport, finish, measure
from dplab.recipe import Recipe
from pages.charts.component import is_dark
from pages.charts.live import encoded, live_states
from pages.play.alone import alone
from pages.play.pictures import View, shown
from pages.shell.controls import log_stops
from pages.shell.state import SessionKey
from pages.shell.status import badge
from pages.shell.work.shared import find_shared, is_public_work, share_with_progress

KEY, WANTED = "live_states", SessionKey("live_wanted", False)
"""Of the component; and that its browser has asked for them: a page without one needs none."""
MAX_CELLS = 1 << 20
"""Releases x cells at one stop: where the page draws more, the stops have fewer of the same releases."""
LEAST_RELEASES = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Stops:
    """What the page shows at every stop of ε.

    Attributes:
        recipe: at any ε.
        dataset: the rows.
        state: the mechanism's.
        view: how they are shown.
        key: what tells them from those of another problem or mechanism.
    """

    recipe: Recipe
    dataset: Dataset
    state: State
    view: View
    key: str

    @property
    def every(self) -> str:
        """The key, with all that the reports at the stops depend on."""
        return f"{self.key}|{self.recipe.trials}|{self.recipe.seed}|{self.recipe.beta}"

    @property
    def badge(self) -> str:
        """What is drawn into each picture."""
        return badge(self.recipe.source, "released: ", seed=self.recipe.seed, sampler=Preview.name)

    def report(self, recipe: Recipe) -> ErrorReport | None:
        """That of the stop at which a recipe is, where it is there already and has as many releases."""
        found: list[ErrorReport] = find_shared(recipe, self.every) or []
        stops = log_stops(recipe.entry.controls()["epsilon"]) if found else []
        epsilon = dict(recipe.values)["epsilon"] if found else None
        if epsilon not in stops or found[0].trials != recipe.trials:
            return None
        st.empty()  # in the place of the progress, so that nothing below moves
        return found[stops.index(float(epsilon))]


def send_states(stops: Stops) -> None:
    """Send what the pictures look like at each stop: of public data as soon as the browser has drawn the page."""

    def send() -> None:
        if is_public_work(stops.recipe) and not WANTED.value:
            live_states(None, key=KEY, asks=partial(WANTED.set, True))
            return
        recipe, view, beta = stops.recipe, stops.view, stops.recipe.beta
        dark = is_dark()  # of whoever asks, not of whoever does the last block
        found = share_with_progress(recipe, stops.every, lambda: reports(recipe, stops.dataset, stops.state), label="")
        live_states(
            share_with_progress(
                recipe,
                f"{stops.every}|{view!r}|{dark}",
                lambda: states(found, stops.dataset, view, beta=beta, badge=stops.badge, dark=dark),
                label="",
            ),
            key=KEY,
        )

    alone(stops.recipe, send)


def releases(recipe: Recipe, cells: int) -> int:
    """How many releases a stop has."""
    return min(recipe.trials, max(LEAST_RELEASES, MAX_CELLS // cells))


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
    found: Sequence[ErrorReport], dataset: Dataset, view: View, *, beta: float, badge: str, dark: bool
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
    return encoded({key: [each.pictures[key] for each in at] for key in keys}, texts, badge=badge, dark=dark)
