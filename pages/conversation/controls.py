"""Controls of the Conversation page: data, kind of question, mechanism and budget; then each question."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from typing_extensions import override

from dpcore.core import Domain, Entry, Floats, Integers, Queries
from dpcore.core.sizes import MAX_WEIGHTS
from dpcore.data.columns import Number, is_number
from dpcore.mechanisms import serving
from dpcore.mechanisms.online.analysts import ANALYSTS, analyst_kind
from dpcore.mechanisms.online.interactive import Interactive
from dpcore.queries.linear import GENERATED, LinearQueries, generated
from dpcore.queries.ranges import Intervals, Thresholds, classes_for
from pages.data.picker import pick_source
from pages.shell.controls import Value, choice, choose_entry, control, epsilon_bar, neighbours, number, seed
from pages.shell.private.twin import untwinned
from pages.shell.request import PageRequest

FIRST_DATA = "earnings.earnings"
MAX_SUMS = 200
"""Weighted sums of a class."""


class ConversationRequest(PageRequest[Queries]):
    """The settings of a conversation, and its automatic analyst."""

    @override
    def may_show(self) -> bool:
        return not self.private  # true answers to a conversation would spend the rows' budget, whoever asks

    @property
    def key(self) -> str:
        """Return everything that a conversation depends on: another key is another conversation."""
        return f"{self.source.key}|{self.query_class}|{self.entry.key}|{self.without_analyst}|{self.seed}"

    @property
    def analyst(self) -> str:
        """Return the key of the automatic analyst."""
        return str(self.values["analyst"])

    @property
    def without_analyst(self) -> dict[str, Value]:
        """Return the parameters that do not depend on the analyst."""
        return {name: value for name, value in self.values.items() if name != "analyst"}

    @property
    def query_class(self) -> str:
        """Return the class of questions, with the weights where they are weighted sums."""
        weights = self.queries.name if isinstance(self.queries, LinearQueries) else ""
        return f"{self.queries.key}:{weights}"

    @property
    def weights(self) -> None:
        """Return no weights of a user: those of weighted sums are generated from a seed."""

    def mechanism(self, entry: Entry | None = None) -> Interactive:
        """Return the mechanism with these parameters, or another mechanism with the same ones."""
        mechanism = (entry or self.entry).make(**self.values)
        assert isinstance(mechanism, Interactive)
        return mechanism


def draw_controls(side: DeltaGenerator, bar: DeltaGenerator) -> ConversationRequest:
    """Draw the controls, ε in the bar; return all settings but the questions."""
    with side:
        source = pick_source(default=FIRST_DATA)
        classes: dict[str, type[Queries]] = {kind.key: kind for kind in classes_for(source.domain)}
        if LinearQueries.fits(source.domain):
            classes[LinearQueries.key] = LinearQueries
        class_key = choice("Queries", {key: kind.title for key, kind in classes.items()}, key="ask-questions-about")
        weighted = class_key == LinearQueries.key
        queries = _weighted(source.domain) if weighted else classes[class_key](domain=source.domain)
        entries = {each.key: each for each in serving(queries, releases="conversation")}
        # The median mechanism is at its best on thresholds, where it needs no list of candidates.
        default = "median" if isinstance(queries, Thresholds) else "weights"
        entry = choose_entry("Mechanism", entries, key="ask", default=default)
    parameters, values = entry.controls(), dict[str, Value]()
    values["epsilon"] = epsilon_bar(entry, bar)
    with side:
        values["alpha"] = control(entry, "alpha", parameters["alpha"])
        # Both mechanisms share these controls, so that they can be compared: the names in the link are the page's.
        values["updates"] = round(number(parameters["updates"], key="ask-updates", default=20.0))
    with side, st.popover("More settings", width="stretch"):
        values["questions"] = round(number(parameters["questions"], key="ask-questions", default=500.0))
        wanted = choice(
            "Automatic analyst", {kind: kind for kind in ANALYSTS}, key="ask-analyst",
            help_text=parameters["analyst"].help,
        )  # fmt: skip
        values["analyst"] = analyst_kind(wanted, queries)
        neighbours(both=False)
        preview_seed = seed()
    return ConversationRequest(
        rows=untwinned(source), source=source, queries=queries, entry=entry, values=values, seed=preview_seed
    )


def _weighted(domain: Domain) -> LinearQueries:
    """Draw the control for weights; return sums with random weights from 0 to 1 for each cell."""
    titles = {key: name.capitalize() for key, (name, _) in GENERATED.items()}
    kind = choice(
        "Weights", titles, key="ask-weights", default="bumps", help_text="A query adds up the weights of its rows."
    )
    return generated(kind, queries=min(MAX_SUMS, MAX_WEIGHTS // domain.ordered), domain=domain, seed=1)


def draw_question(queries: Queries, *, key: str) -> int:
    """Draw the control for one question; return its index."""
    domain = queries.domain
    if is_number(domain) and isinstance(queries, Thresholds):
        unit = f" ({domain.unit})" if domain.unit else ""
        threshold = st.slider(f"How many rows are below …{unit}", *_edges(domain), value=_place(domain, 0.5), key=key,
                         step=domain.width, format="%.5g",
                         help="The highest value counts all rows that are not missing.")  # fmt: skip
        return _cell(domain, threshold)
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
    """Return the lowest and the highest threshold."""
    return float(domain.low + domain.width), float(domain.high)


def _place(domain: Number, share: float) -> float:
    """Return the edge of a cell at this share of the range."""
    return float(domain.low) + max(1, math.floor(share * domain.ordered)) * domain.width


def _cell(domain: Number, edge: float) -> int:
    """Return the cell that ends at an edge; -1 at the lower bound."""
    return int(np.clip(round((edge - domain.low) / domain.width) - 1, -1, domain.ordered - 1))


def spread_questions(queries: Queries, limit: int) -> tuple[Integers, list[str] | Floats]:
    """Return at most so many questions spread over a class, and the place of each: a number, or a label."""
    domain = queries.domain
    if is_number(domain) and isinstance(queries, Thresholds | Intervals):
        cells = np.unique(np.linspace(0, domain.ordered - 1, min(limit, domain.ordered)).round().astype(np.int64))
        edges = domain.low + (cells + 1).astype(np.float64) * domain.width
        return cells, edges  # intervals from the first cell have these numbers too
    indices = queries.batch(limit)
    return indices, [queries.describe(int(index)) for index in indices]
