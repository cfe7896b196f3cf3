"""What the Tables page asks: rows, queries, the mechanism's parameters, and how previews are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpcore.core import Entry, Neighbours, Problem
from dpcore.data.cubes import PREDICATES, BundledCube, CubeSource, GeneratedCube
from dpcore.data.samples import sample
from dpcore.mechanisms import entry
from dpcore.mechanisms.marginals.polynomial_release import PolynomialMarginals
from dpcore.queries.at_least import AtLeast
from dpcore.queries.attribute_sets import MOST_WIDTH
from pages.data.upload import held_file
from pages.marginals.upload import OWN_ROWS, own_predicates
from pages.shell.badges import simulated
from pages.shell.controls import (
    Value,
    choice,
    control,
    neighbours,
    preview_seed,
    privacy_loss,
    slider,
    stops,
    without_file,
)
from pages.shell.session import in_link

GENERATED = "generated"
ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
ENTRIES = {"laplace": "marginals-polynomial", "gaussian": "marginals-polynomial-gaussian"}
ANY, ALL, SOME = "any", "all", "some"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Everything that is asked."""

    source: CubeSource
    entry: Entry
    values: dict[str, Value]
    width: int
    least: int
    signed: bool
    neighbours: Neighbours
    seed: int

    @property
    def mechanism(self) -> PolynomialMarginals:
        """The mechanism with the chosen parameters."""
        made = self.entry.make(**self.values)
        assert isinstance(made, PolynomialMarginals)
        return made

    def problem(self, n: int) -> Problem:
        """The public problem; where rows come and go, for a public number of them."""
        if self.neighbours is Neighbours.ADD_REMOVE_ONE:
            n = self.source.public_rows
        domain = self.source.domain
        queries = AtLeast(domain=domain, width=self.width, least=self.least, signed=self.signed)
        return Problem(domain=domain, queries=queries, n=n, neighbours=self.neighbours)

    def badge(self) -> str:
        """What the numbers are: drawn into every picture."""
        return simulated(self.source.provenance, self.seed)

    @property
    def words(self) -> str:
        """The kind of query."""
        if self.width == 1:
            return "one attribute"
        which = {1: "any of", self.width: "all of"}.get(self.least, f"at least {self.least} of")
        return f"{which} {self.width} attributes"


def ask() -> Asked | None:
    """Everything that is asked, from the link and the controls; None as long as an own file's attributes are open."""
    data, question, machine = st.columns(3)
    with data:
        source = _pick()
        if source is None:
            return None
    with question:
        width, least, signed = _question(source.domain.attributes)
    values: dict[str, Value] = {}
    with machine:
        noise = choice(
            "Noise",
            {"laplace": "Laplace: ε alone", "gaussian": "Gaussian: ε and a slack δ"},
            key="marginal-noise",
            help_text="Gaussian noise is far smaller when many counts are released at once.",
        )
        chosen = entry(ENTRIES[noise])
        parameters = chosen.controls()
        for name in parameters:
            if name not in ("epsilon", "basis"):
                values[name] = control(chosen, name, parameters[name])
        with st.popover("More settings"):
            relation, seed = neighbours(), preview_seed()
            values["basis"] = control(chosen, "basis", parameters["basis"])
    values["epsilon"] = privacy_loss(chosen)
    return Asked(
        source=source,
        entry=chosen,
        values=values,
        width=width,
        least=least,
        signed=signed,
        neighbours=relation,
        seed=seed,
    )


def _pick() -> CubeSource | None:
    """The rows."""
    titles = {GENERATED: "Generated: attributes that go together"}
    titles |= {key: f"{sample(key).title}: {len(found)} predicates" for key, found in PREDICATES.items()}
    if held_file() is not None:
        titles[OWN_ROWS] = "Your file: attributes you name"
    else:
        without_file("cube", OWN_ROWS)
    chosen = choice(
        "Rows of yes/no attributes",
        titles,
        key="cube",
        help_text="Generated and bundled rows are public: previews on them cost nothing. The Data page takes a file "
        "of yours.",
    )
    if chosen == OWN_ROWS:
        return own_predicates()
    if chosen == GENERATED:
        n = int(stops("Rows n", ROWS, 100_000, key="cube-rows"))
        return GeneratedCube(n=n, attributes=slider("Attributes d", 4, 64, 32, key="cube-attributes"))
    source = BundledCube(sample_key=chosen)
    st.caption(f"{source.sample.story} Source: {source.sample.attribution}. Licence: {source.sample.licence}.")
    return source


def _question(attributes: int) -> tuple[int, int, bool]:
    """Attributes of a query, how many must be set, and whether they may be negated."""
    most = min(MOST_WIDTH, attributes)
    if int(st.session_state.get("width", 1)) > most:
        st.session_state["width"] = most
    width = slider("Attributes in a query k", 1, most, min(5, most), key="width")
    least = 1
    if width > 1:
        titles = {ANY: "any of them", ALL: "all of them"} | ({SOME: "some: at least r of them"} if width > 2 else {})
        kind = choice("A row counts if it has", titles, key="counts-if")
        least = {ANY: 1, ALL: width}.get(kind, 2)
        if kind == SOME and width > 3:
            if int(st.session_state.get("at-least", 2)) > width - 1:
                st.session_state["at-least"] = width - 1
            least = slider("At least r", 2, width - 1, 2, key="at-least")
    signed = st.toggle(
        "Attributes may be negated",
        key=in_link("negated"),
        bind="query-params",
        help="Answers queries with “not” in them too. Every row then has one of each attribute's two literals, so "
        "replacing it moves twice as many counts.",
    )
    return width, least, bool(signed)
