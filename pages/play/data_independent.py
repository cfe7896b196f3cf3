"""Play for private rows without access to true values: guaranteed errors, and the link to mock data."""

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
from pages.charts.live import encode_states, live_line, live_states
from pages.charts.words import percent
from pages.play.comparison import private_parameters, problem_key, shared_values, split_by_guarantee
from pages.play.target import ask_target, weakest_delta
from pages.shell.controls import log_stops
from pages.shell.private.charts import IF_N
from pages.shell.private.promises import BADGE, Offer, ask_rows, headline, outlook_of, picture_at, promises
from pages.shell.tasks.memory import remember

MAX_NAMED = 3
"""Maximum number of mechanisms in the sentence on a target error."""
NO_GUARANTEE = "No mechanism guarantees this error up to ε = {:g}."


def data_independent_summary(recipe: Recipe, *, head: DeltaGenerator, settings: DeltaGenerator) -> None:
    """Draw the results that depend on public facts only.

    Args:
        recipe: of the page; only the declaration of its source is used.
        head: container of the headline.
        settings: container of the target error.
    """
    n = ask_rows(recipe.source, recipe.neighbours, named=recipe.nominal)
    problem = recipe.problem_for_n(n)
    with settings:
        target = ask_target(n)
    values, shared = dict(recipe.values), shared_values(recipe)
    entries = {entry.key: entry for entry in serving(problem.queries)}

    def make(entry: Entry, epsilon: float) -> Mechanism:
        parameters = values if entry.key == recipe.entry_key else shared
        used = {name: value for name, value in parameters.items() if name in entry.controls()}
        return entry.make(**{**used, "epsilon": epsilon})

    offer = Offer(
        about=f"{recipe.source.reading!r}|{problem_key(recipe, problem)}|{recipe.entry_key}|"
        f"{private_parameters(recipe)}",
        problem=problem,
        makers={key: functools.partial(make, entry) for key, entry in entries.items()},
        titles={key: entry.title for key, entry in entries.items()},
        chosen=recipe.entry_key,
        epsilon=float(values["epsilon"]),
        beta=recipe.beta,
        of=problem.queries.one,
        person_rows=recipe.source.person_rows,
        covers="for each release",
        references=recipe.entry.references,
        target=target,
    )
    theory = outlook_of(offer)  # computed first, with its progress shown: it may take seconds, and the rest reuses it
    with head:
        live_line(headline(offer, offer.epsilon), key="headline")
    if target is not None:
        st.markdown(_needed_sentence(offer, recipe, target=target, shared=shared))
    promises(offer, key="promises")
    live_states(
        remember(f"live|{offer.about}|{n}|{recipe.beta}|{is_dark()}", lambda: _encode_slider(recipe, offer, theory)),
        key="live_states",
    )


def _needed_sentence(offer: Offer, recipe: Recipe, *, target: float, shared: dict[str, float]) -> str:
    """Return the mechanisms that guarantee a target error, with their ε and the lower bound, as a sentence."""
    entries, _ = split_by_guarantee(offer.problem)
    values = {entry.key: shared for entry in entries} | {recipe.entry_key: dict(recipe.values)}
    guarantees, smallest_epsilon = remember(
        f"promising|{offer.about}|{offer.problem.n}|{offer.beta}|{target!r}",
        lambda: (
            entries_by_promised_epsilon(entries, offer.problem, target=target, beta=offer.beta, values=values),
            impossible_below(
                offer.problem, target=target, beta=offer.beta, delta=weakest_delta(entries, offer.problem, values)
            ),
        ),
    )
    mechanism_texts = [
        f"{offer.titles[key]} **ε = {exactly(epsilon)}**"
        + (f" ({IF_N})" if depends_on_n(offer.makers[key](epsilon), offer.problem, beta=offer.beta) else "")
        for key, epsilon in guarantees[:MAX_NAMED]
    ]
    guaranteed = f"ε that guarantees {percent(target)}: {', '.join(mechanism_texts)}."
    text = guaranteed if mechanism_texts else NO_GUARANTEE.format(HIGHEST)
    if smallest_epsilon:
        text += f" Below ε = {exactly(smallest_epsilon)} this error is impossible (lower bound)."
    return f"{text} :orange-badge[theory]"


def _encode_slider(recipe: Recipe, offer: Offer, theory: DataIndependentSummary) -> Any:
    """Return the encoded pictures and headlines at each stop of the slider."""
    stops = log_stops(recipe.entry.controls()["epsilon"])
    texts = [headline(offer, stop) for stop in stops]
    pictures = [picture_at(offer, theory, stop, tabled=False) for stop in stops]
    sentences = {"headline": texts, "promises_chart": [picture.sentence for picture in pictures]}
    return encode_states({"promises_chart": pictures}, sentences, badge=BADGE, dark=is_dark())
