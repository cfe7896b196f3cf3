"""The paper's own warning: the person alone in a cell, shown on real pets."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from dpcore.core import Floats
from dpcore.data.bundled import bundled
from dpcore.data.samples import load_sample
from dplab.sparse import lone_row, shown_chances
from pages.charts.component import draw_with_table
from pages.learn.random_privacy.charts import alone
from pages.shell.session import remembered
from pages.shell.status import badge

PETS = bundled("pets", "zip_code")
TRIALS = 500


@cache  # of a public sample
def pet_names() -> tuple[int, int]:
    """How many different names pets have, and how many of these one pet alone has."""
    counts = np.bincount(load_sample("pets").codes("animal_name"))
    return int((counts > 0).sum()), int((counts == 1).sum())


def alone_chances(*, epsilon: float, gamma: float, condition: str, seed: int) -> Floats:
    """How often releases show somebody in the lone pet's cell: (2 mechanisms, there or elsewhere)."""
    dataset = remembered(f"dataset|{PETS.key}", PETS.dataset)
    return remembered(
        f"alone|{epsilon}|{gamma}|{condition}|{seed}",
        lambda: shown_chances(dataset, epsilon=epsilon, gamma=gamma, condition=condition, seed=seed, trials=TRIALS),
    )


def lone_place() -> str:
    """The zip code in which one pet alone is licensed."""
    dataset = remembered(f"dataset|{PETS.key}", PETS.dataset)
    return dataset.domain.describe(lone_row(dataset.histogram)[0])


def warning(*, epsilon: float, gamma: float, condition: str, seed: int) -> None:
    """Tell it, then show it."""
    st.header("The warning: someone alone")
    names, unique = pet_names()
    dataset = remembered(f"dataset|{PETS.key}", PETS.dataset)
    place = lone_place()
    left, right = st.columns(2)
    with left:
        st.markdown(
            f"Of Seattle's {dataset.n:,} licensed pets one alone is in zip code **{place}**: a count there "
            "tells of its owner for certain. :gray-badge[true]"
        )
        more = st.expander("The paper's warning")
        more.markdown(
            "The paper says it: whoever **knows all rows but one**, and finds that one alone in its cell, learns "
            "it for certain. Random privacy promises nothing for such data; it only says that data drawn at random are "
            "rarely such. Yours may be."
        )
        more.markdown(
            f"Real data often are. Of the {names:,} names of Seattle's {dataset.n:,} licensed pets, **{unique:,}** "
            f"belong to one pet alone. The picture is about the owner of the one licence in zip code {place}. "
            ":gray-badge[true]"
        )
    with right:
        shown = alone_chances(epsilon=epsilon, gamma=gamma, condition=condition, seed=seed)
        told = badge(PETS, seed=seed)
        # A public sample: the picture may be kept.
        draw_with_table(alone(shown), key="sparse_alone", badge=told, title="someone alone", download=True)
    st.caption(f"{TRIALS} releases each.", help=f"Source: {PETS.provenance.source}.")
