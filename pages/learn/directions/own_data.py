"""Directions with all settings: rows, all directions of a circle, parts of the error, the guaranteed error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats
from dpcore.data.bundled import VECTORS
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease, SphereState
from dplab.halfspace_parts import CIRCLE, count_sides, expected_after_projection, preview_releases, sides
from pages.charts.component import draw_while_open, draw_with_table
from pages.charts.words import minus, percent, rows, significant
from pages.learn.directions.charts import great_circle
from pages.learn.directions.controls import DirectionsRequest, choose_settings
from pages.learn.directions.errors import angle_link, where_from
from pages.learn.directions.projection import fewer_dimensions
from pages.learn.directions.rows_charts import degrees_of, rows_in_the_plane, rows_on_the_sphere
from pages.learn.directions.theorem import code, paper, promised
from pages.shell.controls import audit_this
from pages.shell.request import show_code
from pages.shell.state import set_controls
from pages.shell.status import may_show
from pages.shell.tasks.memory import remember, with_progress
from pages.shell.theorem import lead

TRIALS, MIN_TRIALS = 200, 10
MAX_COUNTS = 1 << 19
"""Noisy counts of all previewed releases together."""
MAX_WORK = 10**9
"""Products of a row and a direction for all of them together: a few seconds."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectionsPreview:
    """A data set, releases of it, and their answers around the circle.

    Attributes:
        dataset: rows.
        state: prepared rows.
        release: T releases.
        truth: true shares around the circle, (Q,).
        answers: released shares, (T, Q).
        expected: mean shares after projection, (Q,); None where nothing is projected.
    """

    dataset: Dataset
    state: SphereState
    release: HalfspaceRelease
    truth: Floats
    answers: Floats
    expected: Floats | None


def own_data() -> None:
    """Read the controls, then draw the releases and their errors."""
    lead(
        "Rows are unit vectors. A query is a direction y: **how many rows point to its side?**",
        "One release answers every direction. It is not a table of rows: it answers these queries only.",
    )
    request = choose_settings()
    if request is None:
        return
    if not may_show(request.source):
        st.info(
            "These data are private. Their directions and the errors against them would reveal them, so nothing is "
            "computed here. Preview on a public stand-in or on generated rows of the same size, or, if you are the "
            "data owner, say so above."
        )
    else:
        previews = _compute_previews(request)
        _draw_pictures(request, previews)
        where_from(request, previews.state, previews.release)
        if request.dimensions == 2:
            angle_link(request, previews.dataset, previews.release)
        draw_while_open(
            "Johnson–Lindenstrauss projection", key="halfspaces_moved_open",
            content=partial(fewer_dimensions, request, previews.dataset.records),
        )  # fmt: skip
        promised(request, previews.dataset, CIRCLE, np.abs(previews.answers - previews.truth))
        audit_this(request.entry, request.values, request.neighbours)
        title, trials = "Code", previews.release.trials
        show_code(title, key="halfspaces_code_open", write=lambda: code(request, trials=trials))
    paper(request)


def trials_for(request: DirectionsRequest, n: int) -> int:
    """Return the number of previewed releases: fewer where one takes long or much memory."""
    mechanism, problem = request.mechanism, request.problem(n)
    work = mechanism.measured(problem) * (n if mechanism.is_projected(problem) else 1)
    return int(np.clip(min(MAX_WORK // work, MAX_COUNTS // mechanism.measured(problem)), MIN_TRIALS, TRIALS))


def _compute_previews(request: DirectionsRequest) -> DirectionsPreview:
    """Return all that does not depend on the chosen direction; computed once for each setting."""
    source, mechanism, seed = request.source, request.mechanism, request.seed
    dataset = request.dataset()
    problem = request.problem(dataset.n)
    trials = trials_for(request, dataset.n)
    state = remember(f"sphere|{source.key}", lambda: mechanism.prepare(dataset, problem))
    net = {name: value for name, value in request.values.items() if name != "epsilon"}
    work = partial(count_sides, mechanism, state, seed=seed, trials=trials)
    with_progress(f"sides|{source.key}|{net!r}|{seed}|{trials}", work, label="Counting rows on the sides.")
    key = f"{source.key}|{request.values!r}|{seed}|{trials}"
    release = remember(f"halfspaces|{key}", lambda: preview_releases(mechanism, state, seed=seed, trials=trials))
    towards = request.towards(CIRCLE)
    plane = f"{source.key}|{request.tilt}"
    expected = None
    if mechanism.is_projected(problem):
        project = partial(expected_after_projection, dataset.records, towards, dimensions=mechanism.projected)
        expected = remember(f"expected|{plane}|{mechanism.projected}", project)
    return DirectionsPreview(
        dataset=dataset,
        state=state,
        release=release,
        truth=remember(f"sides of a circle|{plane}", lambda: request.queries.truth(dataset.records, towards)),
        answers=remember(f"answers|{key}|{request.tilt}", lambda: release.answer(towards)),
        expected=expected,
    )


def _draw_pictures(request: DirectionsRequest, previews: DirectionsPreview) -> None:
    """Draw the numbers of the direction, the rows and the circle."""
    dataset, n, direction = previews.dataset, previews.dataset.n, request.direction
    on_sides = sides(dataset, direction, margin=request.margin)
    answer = float(previews.release.answer(direction[None])[0, 0])
    st.header(f"{percent(on_sides.share)} point to its side; released: {percent(answer)}")
    counted = minus(f"{answer * n:,.0f}")
    st.markdown(
        f"**{in_words(request)}**. True {rows(on_sides.share, n)} :gray-badge[true]; the first release says {counted} "
        ":blue-badge[simulated].",
        help=f"The margin of this direction is **{significant(on_sides.nearest)}**: the distance of the nearest "
        f"row to its line. You require γ = {request.margin:g}.",
    )
    flat = request.dimensions == 2
    net = request.mechanism.net(request.problem(n))
    left, right = st.columns(2)
    with left:
        st.subheader("The rows")
        picture = rows_in_the_plane(
            places=dataset.records @ request.plane.T,
            sides=on_sides,
            angle=request.degrees,
            margin=request.margin,
            measured=np.degrees(np.arctan2(net[:, 1], net[:, 0])) if flat and net.shape[1] == 2 else np.empty(0),
            axes=request.reading.axes,
            flat=flat,
        )
        draw_with_table(
            picture, key="halfspaces_rows", badge=request.badge(), title="rows",
            download=not request.private, on_pick=_turn, on_move=_turn,
        )  # fmt: skip
    with right:
        st.subheader("All directions of the circle")
        picture = great_circle(
            degrees=CIRCLE,
            truth=previews.truth,
            answers=previews.answers,
            expected=previews.expected,
            angle=float(request.degrees),
            here=(on_sides.share, answer),
            n=n,
        )
        draw_with_table(
            picture, key="halfspaces_circle", badge=request.badge(), title="shares",
            download=not request.private, on_pick=_picked,
        )  # fmt: skip
    if request.dimensions == 3:
        picture = rows_on_the_sphere(
            records=dataset.records,
            inside=on_sides.inside,
            direction=direction,
            plane=request.plane,
            space=request.reading.space,
        )
        request.draw(picture, key="halfspaces_sphere", title="rows on the sphere", heading="The rows on the sphere")


def _turn(place: Sequence[float]) -> None:
    """Set the direction to where the arrow points, or to a click beside it."""
    set_controls({"angle": degrees_of(float(place[0]), float(place[1]))})


def _picked(place: tuple[float, float]) -> None:
    """Turn the direction to a click on the circle's chart."""
    set_controls({"angle": round(place[0]) % 360})


def in_words(request: DirectionsRequest) -> str:
    """Return the direction in words: a place on the globe for cities, else its angle between the two axes."""
    if request.reading is VECTORS["cities"].reading:
        x, y, z = request.direction
        latitude, longitude = np.degrees(np.arcsin(np.clip(z, -1, 1))), np.degrees(np.arctan2(y, x))
        north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
        return f"the hemisphere around {abs(latitude):.0f}° {north} {abs(longitude):.0f}° {east}"
    return f"{request.degrees}° from “{request.reading.axes[0]}” (0°), over “{request.reading.axes[1]}” (90°)"
