"""What the Conversation page asks of its reader: data, kind of question, mechanism, budget; and then each question."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.core import Domain, Entry, Floats, Integers, Queries
from dpcore.data.columns import Number, is_number
from dpcore.mechanisms import serving
from dpcore.mechanisms.online.analysts import ANALYSTS
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.linear import GENERATED, MAX_WEIGHTS, LinearQueries, generated
from dpcore.queries.ranges import Intervals, Thresholds, classes_for
from pages.data.picker import pick_source
from pages.shell.controls import Value, choice, control, epsilon_bar, neighbours, number, seed
from pages.shell.private.twin import untwinned
from pages.shell.request import PageRequest

FIRST = "earnings.earnings"
MAX_SUMS = 200
"""Weighted sums that may be asked."""


class ConversationRequest(PageRequest[Queries]):
    """What a conversation is about, and who asks."""

    @property
    def key(self) -> str:
        """All that a conversation depends on: another key is another conversation."""
        return f"{self.source.key}|{self.asks}|{self.entry.key}|{self.without_analyst}|{self.seed}"

    @property
    def analyst(self) -> str:
        """Who may go on with it."""
        return str(self.values["analyst"])

    @property
    def without_analyst(self) -> dict[str, Value]:
        """The parameters that are the same whoever asks."""
        return {name: value for name, value in self.values.items() if name != "analyst"}

    @property
    def asks(self) -> str:
        """The class of questions, with the weights where they are weighted sums."""
        weights = self.queries.name if isinstance(self.queries, LinearQueries) else ""
        return f"{self.queries.key}:{weights}"

    @property
    def weights(self) -> None:
        """Nobody's own: they are made by chance, from a seed."""

    def mechanism(self, entry: Entry | None = None) -> Interactive:
        """The mechanism with these values, or another one with the same."""
        made = (entry or self.entry).make(**self.values)
        assert isinstance(made, Interactive)
        return made


def setting(beside: DeltaGenerator, bar: DeltaGenerator) -> ConversationRequest:
    """Everything but the questions, from the link and the controls.

    Args:
        beside: where the controls go.
        bar: where ε goes.
    """
    with beside:
        source = pick_source(default=FIRST)
        classes: dict[str, type[Queries]] = {kind.key: kind for kind in classes_for(source.domain)}
        if LinearQueries.fits(source.domain):
            classes[LinearQueries.key] = LinearQueries
        chosen = choice("Questions", {key: kind.title for key, kind in classes.items()}, key="ask-questions-about")
        weighted = chosen == LinearQueries.key
        queries = _weighted(source.domain) if weighted else classes[chosen](domain=source.domain)
        entries = {each.key: each for each in serving(queries, releases="conversation")}
        # The median mechanism is at its best on thresholds, where it needs no list of candidates.
        usual = "median" if isinstance(queries, Thresholds) else "weights"
        titles = {key: each.title for key, each in entries.items()}
        stories = "\n\n".join(f"{each.title}: {each.story}" for each in entries.values())
        entry = entries[choice("Mechanism", titles, key="ask", default=usual, help_text=stories)]
    parameters, values = entry.controls(), dict[str, Value]()
    values["epsilon"] = epsilon_bar(entry, bar)
    with beside:
        values["alpha"] = control(entry, "alpha", parameters["alpha"])
        # The same for both mechanisms, so that they can be compared: their names in the link are the page's.
        values["updates"] = round(number(parameters["updates"], key="ask-updates", default=20.0))
    with beside, st.popover("More settings", width="stretch"):
        values["questions"] = round(number(parameters["questions"], key="ask-questions", default=500.0))
        values["analyst"] = choice(
            "Automatic analyst", {kind: kind for kind in ANALYSTS}, key="ask-analyst",
            help_text=parameters["analyst"].help,
        )  # fmt: skip
        neighbours(both=False)
        coins = seed()
    return ConversationRequest(
        rows=untwinned(source), source=source, queries=queries, entry=entry, values=values, seed=coins
    )


def _weighted(domain: Domain) -> LinearQueries:
    """Sums whose weights are made by chance, from 0 to 1 for each cell."""
    kinds = {key: name.capitalize() for key, (name, _) in GENERATED.items()}
    kind = choice("Weights", kinds, key="ask-weights", default="bumps", help_text="A query adds up its rows' weights.")
    return generated(kind, queries=min(MAX_SUMS, MAX_WEIGHTS // domain.ordered), domain=domain, seed=1)


def question(queries: Queries, *, key: str) -> int:
    """The control that picks one question; its index."""
    domain = queries.domain
    if is_number(domain) and isinstance(queries, Thresholds):
        unit = f" ({domain.unit})" if domain.unit else ""
        last = st.slider(f"How many rows are below …{unit}", *_edges(domain), value=_place(domain, 0.5), key=key,
                         step=domain.width, format="%.5g", help="The highest counts all not missing.")  # fmt: skip
        return _cell(domain, last)
    if is_number(domain) and isinstance(queries, Intervals):
        unit = f" ({domain.unit})" if domain.unit else ""
        low, high = st.slider(
            f"How many rows lie between …{unit}", float(domain.low), float(domain.high),
            (_place(domain, 0.25), _place(domain, 0.5)), key=key, step=domain.width, format="%.5g",
        )  # fmt: skip
        first = min(_cell(domain, low) + 1, domain.ordered - 1)
        return queries.index(first, max(first, _cell(domain, high)))
    if isinstance(queries, LinearQueries):
        return int(st.selectbox("The weighted sum of …", range(queries.count), key=key, format_func=queries.describe))
    cells = list(range(domain.ordered))
    return int(st.selectbox("How many rows are in …", cells, key=key, format_func=domain.describe))


def _edges(domain: Number) -> tuple[float, float]:
    """The lowest and the highest threshold."""
    return float(domain.low + domain.width), float(domain.high)


def _place(domain: Number, share: float) -> float:
    """An edge of a cell at this share of the way up."""
    return float(domain.low) + max(1, math.floor(share * domain.ordered)) * domain.width


def _cell(domain: Number, edge: float) -> int:
    """The cell that ends at an edge; -1 at the lower bound."""
    return int(np.clip(round((edge - domain.low) / domain.width) - 1, -1, domain.ordered - 1))


def spread_questions(queries: Queries, most: int) -> tuple[Integers, list[str] | Floats]:
    """Questions spread over a class, and where each stands: the shares up to a place on a line, or each label's."""
    domain = queries.domain
    if is_number(domain) and isinstance(queries, Thresholds | Intervals):
        cells = np.unique(np.linspace(0, domain.ordered - 1, min(most, domain.ordered)).round().astype(np.int64))
        edges = domain.low + (cells + 1).astype(np.float64) * domain.width
        return cells, edges  # intervals from the first cell have these numbers too
    found = queries.batch(most)
    return found, [queries.describe(int(index)) for index in found]
