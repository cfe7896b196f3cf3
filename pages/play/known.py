"""Ranges and cells of a private table that nobody may see: promises that follow the slider, and the way to its twin."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Entry, Mechanism, exactly
from dpcore.mechanisms import serving
from dplab.limits.data_independent_summary import DataIndependentSummary, depends_on_n
from dplab.recipe import Recipe
from dplab.solve import HIGHEST, entries_by_promised_epsilon, impossible_below
from pages.charts.component import is_dark
from pages.charts.live import encoded, live_line, live_states
from pages.charts.words import percent
from pages.play.strip import asked, private_parameters, proved, shared_values
from pages.play.target import ask_target, weakest_delta
from pages.shell.controls import log_stops
from pages.shell.private.charts import IF_N
from pages.shell.private.promises import BADGE, Offer, ask_rows, headline, outlook_of, picture_at, promises
from pages.shell.work.memory import remember

MAX_NAMED = 3
"""Mechanisms that the sentence on a target error names."""
NOBODY = "No mechanism promises it up to ε = {:g}."


def known_before(recipe: Recipe, *, head: DeltaGenerator, more: DeltaGenerator) -> None:
    """Everything that needs only public facts.

    Args:
        recipe: of the page; of its source the declaration alone is used.
        head: where the headline stands.
        more: where a target error is asked.
    """
    n = ask_rows(recipe.source, recipe.neighbours, named=recipe.nominal)
    problem = recipe.problem_for_n(n)
    with more:
        target = ask_target(n)
    values, shared = dict(recipe.values), shared_values(recipe)
    entries = {entry.key: entry for entry in serving(problem.queries)}

    def make(entry: Entry, epsilon: float) -> Mechanism:
        given = values if entry.key == recipe.entry_key else shared
        kept = {name: value for name, value in given.items() if name in entry.controls()}
        return entry.make(**{**kept, "epsilon": epsilon})

    offer = Offer(
        about=f"{recipe.source.reading!r}|{asked(recipe, problem)}|{recipe.entry_key}|{private_parameters(recipe)}",
        problem=problem,
        makers={key: functools.partial(make, entry) for key, entry in entries.items()},
        titles={key: entry.title for key, entry in entries.items()},
        chosen=recipe.entry_key,
        epsilon=float(values["epsilon"]),
        beta=recipe.beta,
        of=problem.queries.one,
        person_rows=recipe.source.person_rows,
        covers="for each single release",
        references=recipe.entry.references,
        target=target,
    )
    found = outlook_of(
        offer
    )  # first: a promise may take seconds, here they are seen, and the rest finds them worked out
    with head:
        live_line(headline(offer, offer.epsilon), key="headline")
    if target is not None:
        st.markdown(_needed(offer, recipe, target=target, shared=shared))
    promises(offer, key="promises")
    live_states(
        remember(f"live|{offer.about}|{n}|{recipe.beta}|{is_dark()}", lambda: _states(recipe, offer, found)),
        key="live_states",
    )


def _needed(offer: Offer, recipe: Recipe, *, target: float, shared: dict[str, float]) -> str:
    """Which mechanisms promise a target error, at which ε, and where nobody does."""
    entries, _ = proved(offer.problem)
    values = {entry.key: shared for entry in entries} | {recipe.entry_key: dict(recipe.values)}
    found, wall = remember(
        f"promising|{offer.about}|{offer.problem.n}|{offer.beta}|{target!r}",
        lambda: (
            entries_by_promised_epsilon(entries, offer.problem, target=target, beta=offer.beta, values=values),
            impossible_below(
                offer.problem, target=target, beta=offer.beta, delta=weakest_delta(entries, offer.problem, values)
            ),
        ),
    )
    named = [
        f"{offer.titles[key]} **ε = {exactly(epsilon)}**"
        + (f" ({IF_N})" if depends_on_n(offer.makers[key](epsilon), offer.problem, beta=offer.beta) else "")
        for key, epsilon in found[:MAX_NAMED]
    ]
    text = f"ε that a promise of {percent(target)} needs: {', '.join(named)}." if named else NOBODY.format(HIGHEST)
    return text + (f" Below ε = {exactly(wall)} nobody can promise it." if wall else "") + " :orange-badge[theory]"


def _states(recipe: Recipe, offer: Offer, found: DataIndependentSummary) -> Any:
    """The picture and the headline at each stop of the slider."""
    stops = log_stops(recipe.entry.controls()["epsilon"])
    texts = [headline(offer, stop) for stop in stops]
    pictures = [picture_at(offer, found, stop, tabled=False) for stop in stops]
    told = {"headline": texts, "promises_chart": [picture.sentence for picture in pictures]}
    return encoded({"promises_chart": pictures}, told, badge=BADGE, dark=is_dark())
