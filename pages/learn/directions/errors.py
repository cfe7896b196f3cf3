"""Where the error of the chosen direction comes from, and, in the plane, releases of the angle beside it."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpcore.core import Dataset, rounded_up
from dpcore.mechanisms.halfspaces.structure import HalfspaceRelease, SphereState
from dplab.halfspace_parts import angle_to_net, circle_of_errors, parts, predicted
from pages.charts.words import percent
from pages.learn.directions.charts import error_parts, errors_around
from pages.learn.directions.controls import DirectionsRequest
from pages.shell.tasks.memory import remember

MIN_RELEASES, MAX_WORK = 20, 1 << 21
"""Releases followed through each step, and products of a row and a direction this may take."""


def where_from(request: DirectionsRequest, state: SphereState, release: HalfspaceRelease) -> None:
    """Draw the three parts of the error, observed and predicted."""
    mechanism, problem, direction = request.mechanism, request.problem(len(state.records)), request.direction
    # Enough releases for a picture, few enough for a slider.
    work = len(state.records) * mechanism.matrices(problem)
    max_releases = max(MIN_RELEASES, MAX_WORK // work) if mechanism.is_projected(problem) else None
    decomposition = parts(state, release, direction, max_trials=max_releases)
    errors = decomposition.errors()
    theory = predicted(mechanism, state, direction, truth=decomposition.truth)
    angle = angle_to_net(mechanism, problem, direction)
    degrees = rounded_up(float(np.degrees(angle)))
    k, d = len(mechanism.net(problem)), request.dimensions
    if mechanism.is_projected(problem):
        mean, _ = theory["projection"]
        projection = (
            f"- **Projection** from {d} to {mechanism.projected} dimensions: rows far from the line keep "
            f"their side; rows near it may change it. Predicted mean error: {_signed(mean)}, for Gaussian "
            "matrices. Random signs agree with it for dense rows and directions only. More matrices reduce "
            "the spread, not the mean."
        )
        net = f"- **Net**: the answer is that of a measured direction up to {degrees}° away, after projection."
    else:
        low, high = theory["net"]
        projection = f"- **Projection**: none, because all {mechanism.projected} dimensions are kept (rows have {d})."
        near = f"between {_signed(low)} and {_signed(high)}" if low or high else "there are none"
        net = (
            f"- **Net**: the answer is that of a measured direction up to {degrees}° away. Only rows "
            f"nearer to the line than {rounded_up(float(np.sin(angle)))} can be miscounted: {near}."
        )
    noise = (
        f"- **Noise**: {mechanism.measured(problem):,} counts share ε = {rounded_up(request.epsilon)} "
        f"({mechanism.matrices(problem)} × {k} directions; opposite directions cost nothing). Standard "
        f"deviation of an answer: predicted {percent(mechanism.noise_deviation(problem))}, observed "
        f"{percent(float(errors['noise'].std()))}."
    )
    st.header("Parts of the error")
    left, right = st.columns(2)
    with left:
        picture = error_parts(errors=errors, predicted=theory, n=problem.n)
        request.draw(picture, key="halfspaces_parts", title="parts of the error")
    with right, st.expander("Projection, net and noise"):
        st.markdown("\n".join([projection, net, noise]))
        each = ", each with its own matrices" if mechanism.is_projected(problem) else ""
        st.markdown(
            f"Over {len(decomposition.released):,} releases{each}. :blue-badge[simulated] :orange-badge[theory]"
        )


def _signed(share: float) -> str:
    """Return a share of the rows in words, with its sign."""
    return ("+" if share > 0 else "") + percent(share)


def angle_link(request: DirectionsRequest, dataset: Dataset, release: HalfspaceRelease) -> None:
    """Compare, in the plane, with releases of the angle: a half-circle is an interval of angles or its complement."""
    st.header("A halfspace as an interval of angles")
    work = partial(circle_of_errors, dataset, release, epsilon=request.epsilon, alpha=request.alpha, seed=request.seed)
    circle = remember(f"angles|{request.source.key}|{request.values!r}|{request.alpha}|{request.seed}", work)
    request.draw(errors_around(circle, n=dataset.n), key="halfspaces_angles", title="errors around the circle")
    projected = request.mechanism.is_projected(release.problem)
    st.expander("How to read this").markdown(
        f"All three use ε = {rounded_up(request.epsilon)}. A half-circle is an interval of angles, so a "
        "release of the angles answers it. Interval releases adapt to where the rows are. A net has the "
        "same noise for every direction. So intervals are better where rows lie within a few degrees, and "
        "the net where they are spread out."
        + (" Projected to one dimension, a direction keeps almost no information." if projected else "")
    )
