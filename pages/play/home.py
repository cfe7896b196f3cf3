"""The Start page: true and released histograms of generated data, the worst error, one slider, and the doors."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import streamlit as st

from dpcore.core import exactly
from dpcore.experiments.recipe import OPENING, OPENING_DATA
from dpcore.limits.bounds.applicable import lower_bound
from pages.charts.component import draw
from pages.charts.histogram import histogram, shown_releases
from pages.charts.words import percent, rows
from pages.charts.worst import worst_error
from pages.shell.controls import number
from pages.shell.session import remembered, with_progress
from pages.shell.status import badge

DOORS = {
    "learn/page.py": ("Limits and attacks", "Learn what no method can do, and watch attacks succeed."),
    "play/explore.py": ("Explore", "The same picture with your question, your mechanism, every setting."),
    "data/page.py": ("Data", "Bring your own rows, or pick real ones that are public."),
}
"""Pages worth a door, in this order."""
STEPS = (
    (
        "1. Two histograms",
        f"The grey one is the truth about {OPENING_DATA.origin.rows:,} made-up people. The blue line may be published: "
        "noise in every bar hides what any one of them said.",
    ),
    (
        "2. One slider",
        "ε is what privacy is paid in. Move it left: everybody is better hidden, and the blue line strays from the "
        f"grey. At ε = 1, what one person said changes the chance of any outcome by at most a factor of {math.e:.3g}.",
    ),
    (
        "3. How wrong, and how sure",
        f"On the right, {OPENING.trials:,} releases, each by its worst answer to “how many lie between a and b?” A "
        "theorem promises where they end before anything is drawn.",
    ),
)


def picture() -> None:
    """The headline, the slider, the data and their worst error: what Explore first shows, too."""
    st.title("See what privacy costs, before anyone pays it")
    headline = st.container()
    controls = OPENING.entry.controls()
    epsilon = number(controls["epsilon"], key="epsilon", default=float(dict(OPENING.values)["epsilon"]))
    st.caption("← more private · more accurate →")
    recipe, source = dataclasses.replace(OPENING, values=(("epsilon", epsilon),)), OPENING.source
    # The keys are Explore's, so that its door opens on numbers that are there already.
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    state = recipe.mechanism().prepare(dataset, recipe.problem(dataset))
    report = with_progress(
        f"report|{source.key}|{recipe!r}", lambda: recipe.report(dataset, state), label="Drawing releases."
    )
    typical = float(np.median(report.answered))
    headline.markdown(
        f"At **ε = {exactly(epsilon)}**, the worst answer to “how many lie between a and b?” is off by about "
        f"**{percent(typical)}**: {rows(typical, dataset.n)}. :blue-badge[simulated]"
    )
    told = badge(source, "released: ", seed=recipe.seed, sampler=report.sampler)
    left, right = st.columns(2)
    with left:
        st.header("True and released data")
        frames = shown_releases(report.frames, n=dataset.n, clean=False)
        data = histogram(domain=dataset.domain, n=dataset.n, truth=dataset.histogram, frames=frames)
        draw(data, key="start_data_chart", badge=told, download=True)
    with right:
        st.header("Worst error: promised and observed")
        lower = lower_bound(report.problem, report.guarantee, beta=recipe.beta)
        draw(worst_error(report=report, lower=lower), key="start_worst_chart", badge=told, download=True)


def doors() -> None:
    """A card for each page that newcomers want next."""
    # Streamlit forgets a value that came with the link and was not touched, unless the next link has it too.
    link = {"epsilon": f"{st.session_state['epsilon']:.10g}"}
    for place, (name, (title, story)) in zip(st.columns(len(DOORS)), DOORS.items(), strict=True):
        with place.container(border=True):
            st.page_link(name, label=f"**{title}**", query_params=link if name == "play/explore.py" else None)
            st.caption(story)


def tour() -> None:
    """Three steps for whoever wants words."""
    with st.expander("A thirty-second tour"):
        for place, (title, text) in zip(st.columns(len(STEPS)), STEPS, strict=True):
            place.markdown(f"**{title}**")
            place.markdown(text)
