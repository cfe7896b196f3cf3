"""Where the error of the chosen direction comes from, and, in the plane, releases of the angle beside it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpcore.core import Dataset
from dpcore.figures.figure import percent
from dpcore.figures.halfspaces_angles import errors_around
from dpcore.figures.halfspaces_parts import error_parts
from dpcore.halfspace_parts import angle_to_net, circle_of_errors, expected_after_projection, parts
from dpcore.halfspaces.structure import HalfspaceRelease, SphereState
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.halfspaces_controls import Asked
from pages.ui.session import remembered

FEWEST, MOST_WORK = 20, 1 << 21
"""Releases followed through each step, and products of a row and a direction this may take."""
NINETY = 1.645
"""Deviations on either side that hold 90 in 100 of a normal law; of a Laplace law, 1.628 do."""


def where_from(asked: Asked, state: SphereState, release: HalfspaceRelease) -> None:
    """The three parts, observed and predicted."""
    mechanism, problem, direction = asked.mechanism, asked.problem(len(state.records)), asked.direction
    # Enough releases for a picture, few enough for a slider.
    work = len(state.records) * mechanism.matrices(problem)
    most = max(FEWEST, MOST_WORK // work) if mechanism.is_projected(problem) else None
    found = parts(state, release, direction, most=most)
    errors = found.errors()
    spread = NINETY * mechanism.noise_deviation(problem)
    predicted = {"noise": (-spread, spread)}
    angle = angle_to_net(mechanism, problem, direction)
    k, d = len(mechanism.net(problem)), asked.source.domain.dimensions
    if mechanism.is_projected(problem):
        mean = expected_after_projection(state.records, direction[None], dimensions=mechanism.projected)[0]
        predicted["projection"] = (mean - found.truth, mean - found.truth)
        told = (
            f"- **Projection** from {d} to {mechanism.projected} dimensions: rows far from the line keep their side, "
            f"near ones toss a coin. Predicted in the mean: {_signed(mean - found.truth)}. That is for Gaussian "
            "matrices; random signs agree for dense rows and directions, not for sparse ones. More matrices even out "
            "the spread and never the mean."
        )
        net = f"- **Net**: the direction is answered for one up to {np.degrees(angle):.3g}° off, after projection."
    else:
        predicted["projection"] = (0.0, 0.0)
        height = state.records @ direction
        reach = np.sin(angle)
        lost = float(((height > 0) & (height <= reach)).mean())
        gained = float(((height <= 0) & (height >= -reach)).mean())
        predicted["net"] = (-lost, gained)
        told = f"- **Projection**: none, because rows have {d} dimensions and {mechanism.projected} are kept."
        near = f"between {_signed(-lost)} and {_signed(gained)}" if lost or gained else "there are none"
        net = (
            f"- **Net**: the direction is answered for one {np.degrees(angle):.3g}° off. Only rows nearer to the line "
            f"than {reach:.3g} can be miscounted: {near}."
        )
    noise = (
        f"- **Noise**: {mechanism.measured(problem):,} counts share ε = {asked.epsilon:g} "
        f"({mechanism.matrices(problem)} × {k} directions; their opposites are free). Standard deviation "
        f"of an answer: predicted {percent(mechanism.noise_deviation(problem))}, observed "
        f"{percent(float(errors['noise'].std()))}."
    )
    st.header("Where the error comes from")
    left, right = st.columns(2)
    with left:
        figure = error_parts(errors=errors, predicted=predicted, badge=asked.badge(), dark=is_dark())
        draw(figure, key="halfspaces_parts_chart")
        numbers(figure, title="parts of the error", key="halfspaces_parts_numbers")
    with right:
        st.markdown("\n".join([told, net, noise]))
        each = ", each with its own matrices" if mechanism.is_projected(problem) else ""
        st.markdown(f"Over {len(found.released):,} releases{each}. :blue-badge[simulated] :orange-badge[theory]")


def _signed(share: float) -> str:
    """A share of the rows with its sign."""
    return ("+" if share > 0 else "") + percent(share)


def angle_link(asked: Asked, dataset: Dataset, release: HalfspaceRelease) -> None:
    """In the plane a half-circle is an interval of angles, or what one leaves over: section 4's releases answer it."""
    st.header("In the plane, a halfspace is an interval of angles")
    title = asked.entry.title
    circle = remembered(
        f"angles|{asked.source.key}|{asked.values!r}|{asked.alpha}|{asked.seed}",
        lambda: circle_of_errors(
            dataset, release, title=title, epsilon=asked.epsilon, alpha=asked.alpha, seed=asked.seed
        ),
    )
    figure = errors_around(circle=circle, badge=asked.badge(), dark=is_dark())
    draw(figure, key="halfspaces_angles_chart")
    numbers(figure, title="errors around the circle", key="halfspaces_angles_numbers")
    projected = asked.mechanism.is_projected(release.problem)
    st.markdown(
        f"All three spend ε = {asked.epsilon:g}. A half-circle holds the rows whose angle lies within 90° of the "
        "direction's, so a release of the angles answers it (where it passes 360°, by what the rest leaves over). "
        "Releases of the angle put their points where the rows are, whatever the directions; a net spends the same on "
        "every direction. So intervals win where rows crowd into a few degrees, and the net where they spread out."
        + (" Projected to one dimension, hardly anything is left of a direction." if projected else "")
    )
