"""Two hospitals: the reader's own table is split in two, and a release of either half is compared with the other's."""

from __future__ import annotations

import streamlit as st

from dpcore.core import exactly, rounded_down
from dpcore.data.columns import is_labels
from dpcore.limits.bounds.distributional import differential_from
from dplab.limits.split_samples import MAX_CELLS, MAX_POINTS, split_losses
from pages.charts.component import draw_with_table
from pages.charts.words import percent, significant
from pages.data.picker import pick_source
from pages.learn.population import figure
from pages.shell.controls import seed, stops, whole
from pages.shell.status import badge, may_show
from pages.shell.tasks.memory import remember, with_progress
from pages.shell.theorem import lead

LOSSES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SPLITS, BETA = 100, 0.05
"""Random splits, and the share of them that may be told apart."""


def own_data() -> None:
    """Draw the controls, the losses between halves of the data in use, and what the definition promises."""
    lead(
        "Two **hospitals** treat random samples of one population. Does a release tell which of them it came from?",
        "The rows of your table are dealt to two halves at random, again and again. The net mechanism for "
        f"thresholds (of a category: single labels) runs on each half; more than {MAX_CELLS} cells are merged. "
        "All its outputs are listed, so the largest ratio of their chances is exact (Blum, Ligett and Roth 2013, "
        "section 7).",
    )
    left, right = st.columns(2)
    with left:
        source = pick_source()
    with right:
        loss = stops("Privacy budget ε", LOSSES, 0.1, key="hospital-epsilon")
        points = whole("Synthetic points m", 1, MAX_POINTS, MAX_POINTS, key="hospital-points")
        drawn = seed(help_text="Seed of the splits.")
    if not may_show(source):
        st.info(
            "These data are private, and how their halves differ would reveal them, so nothing is computed here. Take "
            "a public stand-in or generated data, or, if you are the data owner, say so above."
        )
        return
    dataset = remember(f"dataset|{source.key}", source.dataset)
    domain = dataset.domain
    result = with_progress(
        f"hospitals|{source.key}|{points}|{loss}|{drawn}",
        lambda: split_losses(
            dataset.records, cells=domain.size, ordered=not is_labels(domain), points=points, epsilon=loss,
            splits=SPLITS, seed=drawn,
        ),
        label="Splitting the table.",
    )  # fmt: skip
    kept = result.quantile(BETA)
    guess = float(result.guesses.mean())
    st.header(f"In 95 of 100 splits the loss is at most {significant(kept)}, {significant(kept / loss)} times ε")
    draw_with_table(
        figure.split_losses(result, epsilon=loss),
        key="population_split",
        badge=badge(source, "exact law of each split"),
        title="losses between halves",
        download=not source.provenance.is_private,
    )
    st.markdown(
        f"- In those splits no output is more than **e^{significant(kept)}** times likelier for one half.\n"
        f"- The best guess of the hospital is right in **{percent(guess)}** of releases; a coin in 50%.\n"
        f"- *Differential privacy* at ε = {exactly(loss)} bounds the loss for one changed row. Halves of "
        f"{result.rows:,} rows may differ in all rows: for them it allows {significant(result.rows * loss)}.\n"
        "- *(ε, β)-distributional privacy* (Definition 7.2) asks for a loss of at most ε in all but a share β of pairs "
        "of samples, for **every** population. Splits of one table can refute it and never prove it. With β below "
        "1/(n + 1)² = "
        f"{rounded_down(differential_from(n=result.rows))} it implies differential privacy (Theorem 7.3)."
    )
