"""The Directions page: rows and a direction, all directions of a circle, what errs, what is promised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats
from dpcore.data.bundled import VECTORS
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease, SphereState
from dplab.halfspace_parts import CIRCLE, counting, expected_after_projection, released, sides
from pages.charts.component import draw_with_table
from pages.charts.words import minus, percent, rows, significant
from pages.learn.directions.charts import great_circle
from pages.learn.directions.controls import DirectionsAsked, ask
from pages.learn.directions.errors import angle_link, where_from
from pages.learn.directions.rows_charts import degrees_of, rows_in_the_plane, rows_on_the_sphere
from pages.learn.directions.theorem import code, paper, promised
from pages.shell.asked import show_code
from pages.shell.controls import audit_this
from pages.shell.session import remembered, with_progress
from pages.shell.state import set_controls
from pages.shell.status import may_show
from pages.shell.theorem import lead

TRIALS, FEWEST = 200, 10
MAX_HELD = 1 << 19
"""Noisy counts of all previewed releases together."""
MAX_WORK = 10**9
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


def own_data() -> None:
    """Read the controls, then show what they do."""
    lead(
        "Rows are arrows of length 1. A question is a direction y: **how many rows point to its side?**",
        "One release answers every direction there is. It is no table of rows: it is good at this one thing only.",
    )
    asked = ask()
    if asked is None:
        return
    if not may_show(asked.source):
        st.info(
            "These data are private. Their directions and the errors against them would reveal them, so nothing is "
            "computed here. Preview on a public stand-in or on generated rows of the same size, or, if you are their "
            "steward, say so above."
        )
    else:
        found = _previewed(asked)
        _pictures(asked, found)
        where_from(asked, found.state, found.release)
        if asked.dimensions == 2:
            angle_link(asked, found.dataset, found.release)
        promised(asked, found.dataset, CIRCLE, np.abs(found.answers - found.truth))
        audit_this(asked.entry, asked.values, asked.neighbours)
        title, trials = "Code", found.release.trials
        show_code(title, key="halfspaces_code_open", write=lambda: code(asked, trials=trials))
    paper(asked)


def trials_for(asked: DirectionsAsked, n: int) -> int:
    """Releases previewed: fewer where one takes long or fills much memory."""
    mechanism, problem = asked.mechanism, asked.problem(n)
    work = mechanism.measured(problem) * (n if mechanism.is_projected(problem) else 1)
    return int(np.clip(min(MAX_WORK // work, MAX_HELD // mechanism.measured(problem)), FEWEST, TRIALS))


def _previewed(asked: DirectionsAsked) -> Previewed:
    """Everything that does not depend on the chosen direction; computed once for each setting."""
    source, mechanism, seed = asked.source, asked.mechanism, asked.seed
    dataset = asked.dataset()
    problem = asked.problem(dataset.n)
    trials = trials_for(asked, dataset.n)
    state = remembered(f"sphere|{source.key}", lambda: mechanism.prepare(dataset, problem))
    net = {name: value for name, value in asked.values.items() if name != "epsilon"}
    with_progress(
        f"sides|{source.key}|{net!r}|{seed}|{trials}",
        lambda: counting(mechanism, state, seed=seed, trials=trials),
        label="Counting rows on the sides.",
    )
    key = f"{source.key}|{asked.values!r}|{seed}|{trials}"
    release = remembered(f"halfspaces|{key}", lambda: released(mechanism, state, seed=seed, trials=trials))
    towards = asked.towards(CIRCLE)
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
        truth=remembered(f"sides of a circle|{plane}", lambda: asked.queries.truth(dataset.records, towards)),
        answers=remembered(f"answers|{key}|{asked.tilt}", lambda: release.answer(towards)),
        expected=expected,
    )


def _pictures(asked: DirectionsAsked, found: Previewed) -> None:
    """The direction's numbers, the rows, the circle."""
    dataset, n, direction = found.dataset, found.dataset.n, asked.direction
    seen = sides(dataset, direction, margin=asked.margin)
    answer = float(found.release.answer(direction[None])[0, 0])
    st.header(f"{percent(seen.share)} point to its side; released: {percent(answer)}")
    counted = minus(f"{answer * n:,.0f}")
    st.markdown(
        f"**{in_words(asked)}**. True {rows(seen.share, n)} :gray-badge[true]; the first release says {counted} "
        ":blue-badge[simulated].",
        help="The margin of this direction, the nearest any row comes to its line, is "
        f"**{significant(seen.nearest)}**; you ask for γ = {asked.margin:g}.",
    )
    flat = asked.dimensions == 2
    net = asked.mechanism.net(asked.problem(n))
    left, right = st.columns(2)
    with left:
        st.subheader("The rows")
        picture = rows_in_the_plane(
            places=dataset.records @ asked.plane.T,
            sides=seen,
            angle=asked.degrees,
            margin=asked.margin,
            measured=np.degrees(np.arctan2(net[:, 1], net[:, 0])) if flat and net.shape[1] == 2 else np.empty(0),
            axes=asked.reading.axes,
            flat=flat,
        )
        draw_with_table(
            picture, key="halfspaces_rows", badge=asked.badge(), title="rows in the picture",
            download=not asked.private, on_pick=_clicked, on_move=_turn,
        )  # fmt: skip
    with right:
        st.subheader("All directions of the circle")
        picture = great_circle(
            degrees=CIRCLE,
            truth=found.truth,
            answers=found.answers,
            expected=found.expected,
            angle=float(asked.degrees),
            here=(seen.share, answer),
            n=n,
        )
        draw_with_table(
            picture, key="halfspaces_circle", badge=asked.badge(), title="shares around the circle",
            download=not asked.private, on_pick=_picked,
        )  # fmt: skip
    if asked.dimensions == 3:
        st.subheader("The rows on the sphere")
        picture = rows_on_the_sphere(
            records=dataset.records,
            inside=seen.inside,
            direction=direction,
            plane=asked.plane,
            space=asked.reading.space,
        )
        asked.draw(picture, key="halfspaces_sphere", title="rows on the sphere")


def _turn(x: float, y: float) -> None:
    """The arrow was let go: the direction is where it points."""
    set_controls({"angle": degrees_of(x, y)})


def _clicked(place: tuple[float, float]) -> None:
    """A click beside the arrow turns it there."""
    _turn(*place)


def _picked(place: tuple[float, float]) -> None:
    """A click on the circle's chart turns the direction there."""
    set_controls({"angle": round(place[0]) % 360})


def in_words(asked: DirectionsAsked) -> str:
    """The direction: a place on the globe for cities, else its angle between the two axes."""
    if asked.reading is VECTORS["cities"].reading:
        x, y, z = asked.direction
        latitude, longitude = np.degrees(np.arcsin(np.clip(z, -1, 1))), np.degrees(np.arctan2(y, x))
        north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
        return f"the hemisphere around {abs(latitude):.0f}° {north} {abs(longitude):.0f}° {east}"
    return f"{asked.degrees}° from “{asked.reading.axes[0]}” (0°), over “{asked.reading.axes[1]}” (90°)"
