"""The page's pictures at each stop of the ε slider, so that the browser can update them at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Sequence
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
from pages.shell.state import SessionKey
from pages.shell.status import badge
from pages.shell.tasks.shared import WorkSubject, find_shared, is_public_work, share_with_progress

KEY, BROWSER_READY = "live_states", SessionKey("live_wanted", False)
"""Key of the component, and whether the browser has requested the states."""
MAX_CELLS = 1 << 20
"""Maximum releases x cells at one stop; if the page has more, the stops use the first of its releases."""
MIN_RELEASES = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class SliderStops:
    """The inputs of the pictures at every stop of ε.

    Attributes:
        recipe: of the page, at any ε.
        dataset: the rows.
        state: the mechanism's prepared state.
        view: display settings.
        key: cache key of the problem and the mechanism.
    """

    recipe: Recipe
    dataset: Dataset
    state: State
    view: View
    key: str

    @property
    def every(self) -> str:
        """Cache key of everything that the reports at the stops depend on."""
        return f"{self.key}|{self.recipe.trials}|{self.recipe.seed}|{self.recipe.beta}"

    @property
    def badge(self) -> str:
        """Badge of each picture."""
        return badge(self.recipe.source, "released: ", seed=self.recipe.seed, sampler=Preview.name)

    def report(self, recipe: Recipe) -> ErrorReport | None:
        """Return the cached report at a recipe's ε, if it has as many releases; None otherwise."""
        stored: list[ErrorReport] = find_shared(recipe, self.every) or []
        stops = log_stops(recipe.entry.controls()["epsilon"]) if stored else []
        epsilon = dict(recipe.values)["epsilon"] if stored else None
        if epsilon not in stops or stored[0].trials != recipe.trials:
            return None
        st.empty()  # takes the place of the progress bar, so that nothing below moves
        return stored[stops.index(float(epsilon))]


def send_states(stops: SliderStops) -> None:
    """Send the pictures at each stop; for public data once the browser has drawn the page."""
    recipe, view, beta = stops.recipe, stops.view, stops.recipe.beta

    def encode() -> Any:
        dark = is_dark()  # the theme of the requesting session, not of the session that computes the last block
        reports = share_with_progress(
            recipe, stops.every, lambda: stop_reports(recipe, stops.dataset, stops.state), label=""
        )
        work = partial(encode_stops, reports, stops.dataset, view, beta=beta, badge=stops.badge, dark=dark)
        return share_with_progress(recipe, f"{stops.every}|{view!r}|{dark}", work, label="")

    send_when_ready(recipe, encode)


def send_when_ready(subject: WorkSubject, encode: Callable[[], Any]) -> None:
    """Send encoded pictures; those of public data once the browser has drawn the page."""

    def send() -> None:
        if is_public_work(subject) and not BROWSER_READY.value:
            live_states(None, key=KEY, on_request=partial(BROWSER_READY.set, True))
            return
        live_states(encode(), key=KEY)

    run_as_fragment(subject, send)


def stop_reports(recipe: Recipe, dataset: Dataset, state: State) -> Generator[float, None, list[ErrorReport]]:
    """Return a report for each stop, with the page's seed; empty if it takes too long. Yields the fraction done."""
    stops = log_stops(recipe.entry.controls()["epsilon"])
    trials = min(recipe.trials, max(MIN_RELEASES, MAX_CELLS // dataset.domain.size))
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
    """Return the encoded pictures of every stop; None without reports or if too large. Yields the fraction done."""
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
