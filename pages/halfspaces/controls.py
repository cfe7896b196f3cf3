"""What the Directions page asks: rows, a direction, a margin, the mechanism's parameters and a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpcore.core import Entry, Floats, Parameter, ParameterError, Problem
from dpcore.data.sphere import Halfspaces
from dpcore.data.vectors import RECIPES, BundledVectors, GeneratedVectors, VectorSource
from dpcore.experiments.halfspace_parts import around
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from pages.charts.component import show
from pages.charts.picture import Picture
from pages.data.upload import held_file
from pages.halfspaces.upload import OWN_ROWS, own_columns
from pages.shell.badges import simulated
from pages.shell.controls import (
    Value,
    check_link,
    choice,
    control,
    link_key,
    preview_seed,
    privacy_loss,
    slider,
    stops,
    without_file,
)
from pages.shell.session import in_link

GENERATED = "generated"
ROWS = (300, 1000, 3000, 10_000, 30_000, 100_000)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Everything that is asked; the direction lies in the source's plane, at an angle from its first axis."""

    source: VectorSource
    entry: Entry
    values: dict[str, Value]
    degrees: int
    tilt: int
    margin: float
    alpha: float
    seed: int

    @property
    def mechanism(self) -> HalfspaceCounts:
        """The mechanism with the chosen parameters."""
        made = self.entry.make(**self.values)
        assert isinstance(made, HalfspaceCounts)
        return made

    @property
    def epsilon(self) -> float:
        """The privacy loss."""
        return float(self.values["epsilon"])

    @property
    def plane(self) -> Floats:
        """The picture's two axes, (2, d)."""
        return self.source.plane(tilt=self.tilt)

    def towards(self, degrees: Floats) -> Floats:
        """Directions (Q, d) at these angles."""
        return around(degrees, self.plane)

    @property
    def direction(self) -> Floats:
        """The chosen one, (d,)."""
        chosen: Floats = self.towards(np.array([float(self.degrees)]))[0]
        return chosen

    def problem(self, n: int, *, margin: float = 0.0) -> Problem:
        """The public problem for so many rows."""
        domain = self.source.domain
        return Problem(domain=domain, queries=Halfspaces(domain=domain, margin=margin), n=n)

    def show(
        self,
        picture: Picture,
        *,
        name: str,
        title: str,
        on_pick: Callable[[Any], None] | None = None,
        on_move: Callable[[float, float], None] | None = None,
    ) -> None:
        """A picture of these rows and its numbers; kept as a file only where anybody may have the rows."""
        provenance = self.source.provenance
        show(
            picture,
            key=f"halfspaces_{name}",
            badge=simulated(provenance, self.seed),
            title=title,
            download=not provenance.is_private,
            on_pick=on_pick,
            on_move=on_move,
        )


def ask() -> Asked | None:
    """Everything that is asked, from the link and the controls; None as long as an own file's columns are not told."""
    chosen = entry("halfspaces")
    data, turning, machine = st.columns(3)
    with data:
        source = _pick()
        if source is None:
            return None
    with turning:
        degrees = slider("Direction, degrees", 0, 359, 10, key="angle", help_text=f"From “{source.axes[0]}” (0°).")
        tilt = 0
        if source.domain.dimensions == 3:
            told = "The direction turns in a great circle; this tilts it. 0: along the equator, 90: over the poles."
            tilt = slider("Tilt of the circle, degrees", 0, 180, 40, key="tilt", help_text=told)
        told = "Promises are about directions whose line no row is nearer to than this."
        margin = _fraction("Margin asked γ", 0.25, key="margin", help_text=told)
    values: dict[str, Value] = {}
    parameters = chosen.controls()
    with machine:
        values["projected"] = control(chosen, "projected", parameters["projected"])
        for name in ("projections", "directions"):
            parameter, key = parameters[name], link_key(chosen, name)
            default = float(getattr(chosen.mechanism, name))
            values[name] = int(
                stops(
                    f"{parameter.label} {parameter.symbol}", parameter.stops, default, key=key, help_text=parameter.help
                )
            )
        with st.popover("More settings"):
            seed = preview_seed()
            alpha = float(
                control(entry("intervals-anchored"), "alpha", entry("intervals-anchored").controls()["alpha"])
            )
            st.caption("α is the paper's allowed error; its parameters and the releases of the angle use it.")
    values["epsilon"] = privacy_loss(chosen)
    return Asked(
        source=source, entry=chosen, values=values, degrees=degrees, tilt=tilt, margin=margin, alpha=alpha, seed=seed
    )


def _pick() -> VectorSource | None:
    """The rows."""
    titles = {GENERATED: "Generated: two clouds with a margin"}
    titles |= {key: recipe.title for key, recipe in RECIPES.items()}
    if held_file() is not None:
        titles[OWN_ROWS] = "Your file: some of its columns"
    else:
        without_file("vectors", OWN_ROWS)
    chosen = choice(
        "Rows",
        titles,
        key="vectors",
        help_text="Each row is scaled to length 1: only its direction counts. The Data page takes a file of yours.",
    )
    if chosen == OWN_ROWS:
        return own_columns()
    if chosen == GENERATED:
        return _generated()
    source = BundledVectors(recipe_key=chosen)
    st.caption(f"{source.recipe.story} Source: {source.sample.attribution}. Licence: {source.sample.licence}.")
    return source


def _generated() -> GeneratedVectors:
    """Size, dimensions and gap of the two clouds."""
    n = int(stops("Rows n", ROWS, 10_000, key="vector-rows"))
    dimensions = slider("Dimensions d", 2, 64, 2, key="vector-dimensions")
    margin = _fraction("Margin of the clouds", 0.5, key="vector-margin")
    st.caption("Most lie on one side of a plane, the others on the other, and none is nearer to it than the margin.")
    return GeneratedVectors(n=n, dimensions=dimensions, margin=margin, seed=1)


def _fraction(label: str, default: float, *, key: str, help_text: str | None = None) -> float:
    """A margin bound to the link."""
    check_link(key, parameter=Parameter(label=label, low=0.0, high=0.9), default=default)
    value = float(st.slider(label, 0.0, 0.9, default, step=0.01, key=in_link(key), help=help_text, bind="query-params"))
    if not 0 <= value <= 1:
        raise ParameterError("A margin lies between 0 and 1.")
    return value
