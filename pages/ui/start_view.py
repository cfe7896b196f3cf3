"""The Start page: true and released histograms of generated data, the worst error, one slider, and the doors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.figures.data import histogram
from dpcore.figures.figure import percent, rows
from dpcore.figures.worst import worst_error
from dpcore.limits.applicable import lower_bound
from dpcore.mechanisms import entry
from dpcore.recipe import Recipe
from dpcore.sources import Generated
from pages.ui.charts import draw, is_dark
from pages.ui.controls import number
from pages.ui.session import remembered, with_progress

SHAPE, ROWS, BITS = "bimodal", 10_000, 10
DOORS = {
    "limits.py": ("Limits", "Learn what no method can do, and watch attacks succeed."),
    "explore.py": ("Explore", "The same picture with your question, your mechanism, every setting."),
    "data.py": ("Data", "Bring your own rows, or pick real ones that are public."),
    "release.py": ("Release", "Publish once, correctly, with its paper trail."),
}
"""Pages worth a door, in this order; those that the router does not know have none."""
STEPS = (
    (
        "1. Two histograms",
        "The grey one is the truth about 10,000 made-up people. The blue line may be published: "
        "noise in every bar hides what any one of them said.",
    ),
    (
        "2. One slider",
        "ε is what privacy is paid in. Move it left: everybody is better hidden, and the blue line strays from the "
        "grey. At ε = 1, what one person said changes the chance of any outcome by at most a factor of 2.7.",
    ),
    (
        "3. How wrong, and how sure",
        "On the right, a thousand releases, each by its worst answer to “how many lie between a and b?” A theorem "
        "promises where they end before anything is drawn.",
    ),
)


def picture() -> None:
    """The headline, the slider, the data and their worst error: what Explore first shows, too."""
    st.title("See what privacy costs, before anyone pays it")
    headline = st.container()
    machine = entry("identity")
    epsilon = number(machine.controls()["epsilon"], key="epsilon", default=1.0)
    st.caption("← more private · more accurate →")
    source = Generated(shape=SHAPE, n=ROWS, bits=BITS, seed=1)
    recipe = Recipe(source=source, queries="intervals", entry_key=machine.key, values=(("epsilon", epsilon),))
    # The keys are Explore's, so that its door opens on numbers that are there already.
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    state = recipe.mechanism().prepare(dataset, recipe.problem(dataset))
    report = with_progress(
        f"report|{source.key}|{recipe!r}", lambda: recipe.report(dataset, state), label="Drawing releases."
    )
    typical = float(np.median(report.answered))
    headline.markdown(
        f"At **ε = {epsilon:g}**, the worst answer to “how many lie between a and b?” is off by about "
        f"**{percent(typical)}**: {rows(typical, ROWS)}. :blue-badge[simulated]"
    )
    badge = f"true: {source.provenance.kind} · released: simulated, {report.sampler} sampler, seed {recipe.seed}"
    dark = is_dark()
    left, right = st.columns(2)
    with left:
        st.header("True and released data")
        data = histogram(problem=report.problem, truth=dataset.histogram, frames=report.frames, badge=badge, dark=dark)
        draw(data, key="start_data_chart")
    with right:
        st.header("Worst error: promised and observed")
        lower = lower_bound(report.problem, report.guarantee, beta=recipe.beta)
        draw(worst_error(report=report, bound_lower=lower, badge=badge, dark=dark), key="start_worst_chart")


def doors() -> None:
    """A card for each page that exists."""
    # Streamlit forgets a value that came with the link and was not touched, unless the next link has it too.
    link = {"epsilon": f"{st.session_state['epsilon']:.10g}"}
    there = [name for name in DOORS if name in _pages()]
    for place, name in zip(st.columns(len(there)), there, strict=True):
        title, story = DOORS[name]
        with place.container(border=True):
            st.page_link(name, label=f"**{title}**", query_params=link if name == "explore.py" else None)
            st.caption(story)


def _pages() -> set[str]:
    """File names of the pages that the router offers."""
    context = get_script_run_ctx()
    return {Path(page["script_path"]).name for page in context.pages_manager.get_pages().values()} if context else set()


def tour() -> None:
    """Three steps for whoever wants words."""
    with st.expander("A thirty-second tour"):
        for place, (title, text) in zip(st.columns(len(STEPS)), STEPS, strict=True):
            place.markdown(f"**{title}**")
            place.markdown(text)
