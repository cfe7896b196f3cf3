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
from pages.charts.live import encode_states, live_states
from pages.play.fragments import run_as_fragment
from pages.play.pictures import View, build_epsilon_view
from pages.shell.controls import log_stops
from pages.shell.kept import already, is_everybodys, kept
from pages.shell.state import SessionKey
from pages.shell.status import badge

KEY, BROWSER_READY = "live_states", SessionKey("live_wanted", False)
"""Of the component; and that its browser has asked for them: a page without one needs none."""
MAX_CELLS = 1 << 20
"""Releases x cells at one stop: where the page draws more, the stops have fewer of the same releases."""
MIN_RELEASES = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class SliderStops:
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
        stored: list[ErrorReport] = already(recipe, self.every) or []
        stops = log_stops(recipe.entry.controls()["epsilon"]) if stored else []
        epsilon = dict(recipe.values)["epsilon"] if stored else None
        if epsilon not in stops or stored[0].trials != recipe.trials:
            return None
        st.empty()  # in the place of the progress, so that nothing below moves
        return stored[stops.index(float(epsilon))]


def send_states(stops: SliderStops) -> None:
    """Send what the pictures look like at each stop: of public data as soon as the browser has drawn the page."""

    def send() -> None:
        if is_everybodys(stops.recipe) and not BROWSER_READY.value:
            live_states(None, key=KEY, on_request=partial(BROWSER_READY.set, True))
            return
        recipe, view, beta = stops.recipe, stops.view, stops.recipe.beta
        dark = is_dark()  # of whoever asks, not of whoever does the last block
        reports = kept(recipe, stops.every, lambda: stop_reports(recipe, stops.dataset, stops.state), label="")
        live_states(
            kept(
                recipe,
                f"{stops.every}|{view!r}|{dark}",
                lambda: encode_stops(reports, stops.dataset, view, beta=beta, badge=stops.badge, dark=dark),
                label="",
            ),
            key=KEY,
        )

    run_as_fragment(stops.recipe, send)


def releases_per_stop(recipe: Recipe, cells: int) -> int:
    """How many releases a stop has."""
    return min(recipe.trials, max(MIN_RELEASES, MAX_CELLS // cells))


def stop_reports(recipe: Recipe, dataset: Dataset, state: State) -> Generator[float, None, list[ErrorReport]]:
    """A report for each stop, with the page's seed; yields the fraction done. None at all where that takes too long."""
    stops = log_stops(recipe.entry.controls()["epsilon"])
    trials = releases_per_stop(recipe, dataset.domain.size)
    prepare_seconds, seconds_per_release = recipe.mechanism().preview_seconds(state.problem)
    if len(stops) * (prepare_seconds + trials * seconds_per_release) > BLOCK_SECONDS:
        return []
    values, done = dict(recipe.values), []
    for place, stop in enumerate(stops):
        mechanism = dataclasses.replace(recipe, values=tuple({**values, "epsilon": stop}.items())).mechanism()
        work = measure(mechanism, dataset, state, Preview(recipe.seed), trials=trials, beta=recipe.beta)
        done.append(finish(work))
        yield (place + 1) / len(stops)
    return done


def encode_stops(
    reports: Sequence[ErrorReport], dataset: Dataset, view: View, *, beta: float, badge: str, dark: bool
) -> Generator[float, None, Any]:
    """Every stop's pictures; yields the fraction done. None where there are none, or they are too large to be sent."""
    views = []
    for place, report in enumerate(reports):
        views.append(build_epsilon_view(dataset, report, view, beta=beta))
        yield (place + 1) / len(reports)
    if not views:
        return None
    keys = views[0].pictures
    texts = {"headline": [each.headline for each in views]}
    texts |= {key: [each.captions[key] for each in views] for key in keys}
    return encode_states({key: [each.pictures[key] for each in views] for key in keys}, texts, badge=badge, dark=dark)
