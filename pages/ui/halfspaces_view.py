"""The Halfspaces page: rows and a direction, all directions of a circle, what errs, what is promised."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats
from dpcore.figures.figure import minus, percent, rows, significant
from dpcore.figures.halfspaces import side_view
from dpcore.figures.halfspaces_circle import great_circle
from dpcore.halfspace_parts import CIRCLE, expected_after_projection
from dpcore.halfspaces.structure import HalfspaceRelease, SphereState
from dpcore.randomness import Preview
from dpcore.sphere import Halfspaces
from pages.ui.charts import draw_selectable, hide_toolbars, is_dark, numbers
from pages.ui.halfspaces_controls import Asked, ask
from pages.ui.halfspaces_errors import angle_link, where_from
from pages.ui.halfspaces_promise import code, paper, promised
from pages.ui.session import is_steward, remembered, with_progress

TRIALS, FEWEST = 200, 10
MOST_HELD = 1 << 19
"""Noisy counts of all previewed releases together."""
MOST_WORK = 10**9
"""Products of a row and a direction for all of them together: a few seconds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Previewed:
    """A data set, releases of it, and their answers around the circle."""

    dataset: Dataset
    state: SphereState
    release: HalfspaceRelease
    truth: Floats
    answers: Floats
    expected: Floats | None


def halfspaces() -> None:
    """Read the controls, then show what they do."""
    st.markdown(
        "Rows are arrows of length 1. A question is a direction y: **how many rows point to its side?** One release "
        "answers every direction there is. It is no table of rows: it is good at this one thing only."
    )
    asked = ask()
    if asked is None:
        return
    private = asked.source.provenance.is_private
    if private and not is_steward():
        st.info(
            "These data are private. Their directions and the errors against them would reveal them, so nothing is "
            "computed here. Preview on a public stand-in or on generated rows of the same size, or, if you are their "
            "steward, say so above."
        )
    else:
        if private:
            hide_toolbars()
        found = _previewed(asked)
        _pictures(asked, found)
        where_from(asked, found.state, found.release)
        if asked.source.domain.dimensions == 2:
            angle_link(asked, found.dataset, found.release)
        promised(asked, found.dataset, CIRCLE, np.abs(found.answers - found.truth))
        code(asked, trials=found.release.trials)
    paper(asked)


def trials_for(asked: Asked, n: int) -> int:
    """Releases previewed: fewer where one takes long or fills much memory."""
    mechanism, problem = asked.mechanism, asked.problem(n)
    work = mechanism.measured(problem) * (n if mechanism.is_projected(problem) else 1)
    return int(np.clip(min(MOST_WORK // work, MOST_HELD // mechanism.measured(problem)), FEWEST, TRIALS))


def _previewed(asked: Asked) -> Previewed:
    """Everything that does not depend on the chosen direction; computed once for each setting."""
    source, mechanism, seed = asked.source, asked.mechanism, asked.seed
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    problem = asked.problem(dataset.n)
    trials = trials_for(asked, dataset.n)
    state = remembered(f"sphere|{source.key}", lambda: mechanism.prepare(dataset, problem))
    net = {name: value for name, value in asked.values.items() if name != "epsilon"}

    def count() -> Generator[float, None, bool]:
        yield from state.counting(mechanism.signs(problem, Preview(seed), trials), mechanism.net(problem))
        return True

    with_progress(f"sides|{source.key}|{net!r}|{seed}|{trials}", count, label="Counting rows on the sides.")
    key = f"{source.key}|{asked.values!r}|{seed}|{trials}"
    release = remembered(f"halfspaces|{key}", lambda: mechanism.run(state, Preview(seed), trials))
    towards = asked.towards(CIRCLE)
    queries = problem.queries
    assert isinstance(queries, Halfspaces)
    plane = f"{source.key}|{asked.tilt}"
    expected = None
    if mechanism.is_projected(problem):
        expected = remembered(
            f"expected|{plane}|{mechanism.projected}",
            lambda: expected_after_projection(dataset.records, towards, dimensions=mechanism.projected),
        )
    return Previewed(
        dataset=dataset,
        state=state,
        release=release,
        truth=remembered(f"sides of a circle|{plane}", lambda: queries.truth(dataset.records, towards)),
        answers=remembered(f"answers|{key}|{asked.tilt}", lambda: release.answer(towards)),
        expected=expected,
    )


def _pictures(asked: Asked, found: Previewed) -> None:
    """The direction's numbers, the rows, the circle."""
    dataset, dark, n = found.dataset, is_dark(), found.dataset.n
    problem = asked.problem(n)
    queries = problem.queries
    assert isinstance(queries, Halfspaces)
    direction = asked.direction
    height = dataset.records @ direction
    truth, released = float((height > 0).mean()), float(found.release.answer(direction[None])[0, 0])
    nearest = float(np.abs(height[(dataset.records != 0).any(axis=1)]).min(initial=1.0))
    st.header(f"{percent(truth)} point to its side; released: {percent(released)}")
    counted = minus(f"{released * n:,.0f}")
    st.markdown(
        f"The direction y: **{in_words(asked)}**. True {rows(truth, n)} :gray-badge[true]; the first release says "
        f"{counted} :blue-badge[simulated]. The margin of this direction, the nearest any row comes to its line, is "
        f"**{significant(nearest)}**; you ask for γ = {asked.margin:g}."
    )
    flat = asked.source.domain.dimensions == 2
    net = asked.mechanism.net(problem)
    left, right = st.columns(2)
    with left:
        st.subheader("The rows")
        figure = side_view(
            places=dataset.records @ asked.plane.T, inside=height > 0, angle=asked.degrees, drawn=_drawn(asked.degrees),
            margin=asked.margin, near=float((np.abs(height) < asked.margin).mean()), share=truth,
            measured=np.degrees(np.arctan2(net[:, 1], net[:, 0])) if flat and net.shape[1] == 2 else np.empty(0),
            axes=asked.source.axes, flat=flat, badge=asked.badge(), dark=dark,
        )  # fmt: skip
        draw_selectable(figure, key="halfspaces_rows_chart", selection="drag", on_select=_dragged)
        numbers(figure, title="rows in the picture", key="halfspaces_rows_numbers")
    with right:
        st.subheader("All directions of the circle")
        figure = great_circle(
            degrees=CIRCLE, truth=found.truth, answers=found.answers, expected=found.expected,
            angle=float(asked.degrees), here=(truth, released), badge=asked.badge(), dark=dark,
        )  # fmt: skip
        # A new key after each pick: a place that is still selected could not be picked again.
        key = f"halfspaces_circle_chart_{st.session_state.setdefault('turns', 0)}"
        draw_selectable(figure, key=key, selection="pick", on_select=_turn)
        numbers(figure, title="shares around the circle", key="halfspaces_circle_numbers")


def _drawn(degrees: int) -> int:
    """A number that changes with the angle: what was dragged before is then no longer what the picture shows."""
    drawn: int
    drawn, angle = st.session_state.get("drawn", (0, None))
    drawn += angle != degrees
    st.session_state["drawn"] = (drawn, degrees)
    return drawn


def _dragged() -> None:
    """The arrow was let go: the direction is where it points."""
    held = st.session_state["halfspaces_rows_chart"].selection.get("drag")
    if held and held[0]["drawn"] == st.session_state["drawn"][0]:
        st.session_state["angle"] = int(held[0]["angle"])
        st.session_state["drawn"] = (st.session_state["drawn"][0], st.session_state["angle"])


def _turn() -> None:
    """A click on the circle's chart turns the direction there."""
    picked = st.session_state[f"halfspaces_circle_chart_{st.session_state['turns']}"].selection.get("pick")
    if picked:
        angle = picked[0].get("angle") if isinstance(picked, list) else picked.get("angle", [None])[0]
        if angle is not None:
            st.session_state["angle"] = round(float(angle)) % 360
            st.session_state["turns"] += 1


def in_words(asked: Asked) -> str:
    """The direction: a place on the globe for cities, else its angle between the two axes."""
    if asked.source.key == "vectors:cities":
        x, y, z = asked.direction
        latitude, longitude = np.degrees(np.arcsin(np.clip(z, -1, 1))), np.degrees(np.arctan2(y, x))
        north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
        return f"the hemisphere around {abs(latitude):.0f}° {north} {abs(longitude):.0f}° {east}"
    return f"{asked.degrees}° from “{asked.source.axes[0]}” (0°), over “{asked.source.axes[1]}” (90°)"
