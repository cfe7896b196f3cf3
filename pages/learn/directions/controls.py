"""Settings of directions: rows, a direction, a margin, the mechanism's parameters and a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Floats, Parameter
from dpcore.data.bundled import VECTORS, vectors_of
from dpcore.data.readings import Measure, Vectors
from dpcore.data.sources import Source, generated_vectors
from dpcore.data.sphere import Halfspaces
from dpcore.mechanisms import entry
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dplab.halfspace_parts import directions_at
from pages.data.picker import BY_PERSON, NOT_SENT, OWN_FILE, choose_data, show_credit
from pages.data.upload import SessionFile, session_file
from pages.shell.controls import Value, check_link, control, link_key, seed, stops, whole
from pages.shell.links import in_link
from pages.shell.private.data_in_use import show_data_in_use
from pages.shell.request import PageRequest

GENERATED = "generated"
ROW_CHOICES = (300, 1000, 3000, 10_000, 30_000, 100_000)
MAX_COLUMNS = 16


@dataclass(frozen=True, kw_only=True)
class DirectionsRequest(PageRequest[Halfspaces]):
    """Rows, queries, mechanism and seed; the direction lies in the source's plane, at an angle from its first axis."""

    degrees: int
    tilt: int
    margin: float
    alpha: float

    @property
    def mechanism(self) -> HalfspaceCounts:
        """Mechanism with the chosen parameters."""
        return self.mechanism_of(HalfspaceCounts)

    @property
    def epsilon(self) -> float:
        """Privacy budget ε of one release."""
        return float(self.values["epsilon"])

    @property
    def reading(self) -> Vectors:
        """Reading of the rows as unit vectors."""
        assert isinstance(self.source.reading, Vectors)
        return self.source.reading

    @property
    def dimensions(self) -> int:
        """Number of numbers in a row."""
        return self.reading.domain.dimensions

    @property
    def plane(self) -> Floats:
        """Two axes of the plane in which the direction turns, (2, d)."""
        return self.reading.plane(tilt=self.tilt)

    def towards(self, degrees: Floats) -> Floats:
        """Return the directions (Q, d) at these angles in degrees (Q,)."""
        return directions_at(degrees, self.plane)

    @property
    def direction(self) -> Floats:
        """Chosen direction as a unit vector, (d,)."""
        chosen: Floats = self.towards(np.array([float(self.degrees)]))[0]
        return chosen


def choose_settings() -> DirectionsRequest | None:
    """Return the settings from the link and the controls; None until the columns of an own file are declared."""
    chosen = entry("halfspaces")
    data, turning, machine = st.columns(3)
    with data:
        source = _choose_rows()
        if source is None:
            return None
        reading = source.reading
        assert isinstance(reading, Vectors)
        show_data_in_use(source)
    with turning:
        degrees = whole("Direction, degrees", 0, 359, 10, key="angle", help_text=f"From “{reading.axes[0]}” (0°).")
        tilt = 0
        if reading.domain.dimensions == 3:
            tilt = whole(
                "Tilt of the circle, degrees", 0, 180, 40, key="tilt",
                help_text="The direction turns in a great circle; this tilts it. 0: along the equator, 90: over the "
                "poles.",
            )  # fmt: skip
        margin = _choose_margin(
            "Required margin γ", 0.25, key="margin",
            help_text="Guarantees are for directions where no row is nearer to the dividing line than this.",
        )  # fmt: skip
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
            coins = seed()
            alpha = float(
                control(entry("intervals-anchored"), "alpha", entry("intervals-anchored").controls()["alpha"])
            )
            st.caption("α is the paper's allowed error; its parameters and the releases of the angle use it.")
    values["epsilon"] = control(chosen, "epsilon", parameters["epsilon"])
    st.caption("← more private · more accurate →")
    queries = Halfspaces(domain=reading.domain)
    return DirectionsRequest(
        rows=source, source=source, queries=queries, entry=chosen, values=values, seed=coins,
        degrees=degrees, tilt=tilt, margin=margin, alpha=alpha,
    )  # fmt: skip


def _choose_rows() -> Source | None:
    file = session_file()
    chosen = choose_data(
        "Rows",
        {GENERATED: "Generated: two clouds with a margin"}
        | {key: sample.reading.words for key, sample in VECTORS.items()},
        key="vectors",
        own_title="Your file: some of its columns" if file and not file.by_person else "",
        missing_reason=BY_PERSON if file else NOT_SENT,
        help_text="Each row is scaled to length 1: only its direction counts. The Data page takes a file of yours.",
    )
    if chosen == OWN_FILE and file:
        return _choose_columns(file)
    if chosen == GENERATED:
        return _generate_rows()
    source = vectors_of(chosen)
    show_credit(source, story=VECTORS[chosen].story)
    return source


def _generate_rows() -> Source:
    n = int(stops("Rows n", ROW_CHOICES, 10_000, key="vector-rows"))
    dimensions = whole("Dimensions d", 2, 64, 2, key="vector-dimensions")
    margin = _choose_margin(
        "Margin of the clouds", 0.5, key="vector-margin",
        help_text="Most rows of one cloud lie on one side of a plane, most of the other on the other side. No row is "
            "nearer to the plane than the margin.",
    )  # fmt: skip
    return generated_vectors(n=n, dimensions=dimensions, margin=margin)


def _choose_margin(label: str, default: float, *, key: str, help_text: str | None = None) -> float:
    """Return a margin, bound to the link."""
    check_link(key, parameter=Parameter(label=label, low=0.0, high=0.9))
    return float(st.slider(label, 0.0, 0.9, default, step=0.01, key=in_link(key), help=help_text, bind="query-params"))


def _choose_columns(file: SessionFile) -> Source | None:
    """Return the chosen columns of the user's file; None until two of them have ranges."""
    columns = st.multiselect(
        "Columns, two or more", file.table.columns, key=f"{file.prefix}vector-columns", max_selections=MAX_COLUMNS,
        persist_state="session",
        help="A row of these numbers is scaled to length 1. A row with a missing number counts in n, but on no side.",
    )  # fmt: skip
    measures = [measure for column in columns if (measure := _declare_range(file, column)) is not None]
    if len(columns) < 2 or len(measures) < len(columns):
        st.caption(
            "Choose two columns or more and type a range for each. The middle of a range becomes 0. Ranges "
            "must be public: never read them off private data."
        )
        return None
    axes = (f"larger {columns[0]}", f"larger {columns[1]}")
    return Source(origin=file.origin, reading=Vectors(measures=tuple(measures), axes=axes))


def _declare_range(file: SessionFile, column: str) -> Measure | None:
    """Return the range of a column; None until both ends are typed."""
    prefix = f"{file.prefix}vector-{file.table.columns.index(column)}-"
    places = st.columns(2)
    low, high = (
        place.number_input(
            f"{column}: {end}", value=None, step=None, format="%g", key=f"{prefix}{end}", persist_state="session",
            placeholder="type it",
        )
        for place, end in zip(places, ("from", "to"), strict=True)
    )  # fmt: skip
    if low is None or high is None:
        return None
    if not low < high:
        st.error(f"The range of {column} must begin below its end.")
        return None
    return Measure(column=column, low=float(low), high=float(high))
