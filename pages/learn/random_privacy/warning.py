"""The paper's own warning: the person alone in a cell, shown on real pets."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial

import numpy as np
import streamlit as st

from dpcore.core import Floats
from dpcore.data.bundled import bundled
from dpcore.data.samples import load_sample
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import lone_row, shown_chances
from pages.charts.component import draw_with_table
from pages.learn.random_privacy.charts import lone_pet
from pages.learn.random_privacy.controls import RandomPrivacySettings
from pages.shell.status import badge
from pages.shell.tasks.memory import remember

PETS = bundled("pets", "zip_code")
TRIALS = 500


@cache  # of a public sample
def pet_names() -> tuple[int, int]:
    """Return the number of different names of pets, and the number of names that only one pet has."""
    counts = np.bincount(load_sample("pets").codes("animal_name"))
    return int((counts > 0).sum()), int((counts == 1).sum())


def alone_chances(*, epsilon: float, gamma: float, condition: str, seed: int) -> Floats:
    """Return the shares of releases with a count above 0 in the lone pet's cell: (2 mechanisms, there or elsewhere)."""
    dataset = remember(f"dataset|{PETS.key}", PETS.dataset)
    work = partial(shown_chances, dataset, epsilon=epsilon, gamma=gamma, condition=condition, seed=seed, trials=TRIALS)
    return remember(f"alone|{epsilon}|{gamma}|{condition}|{seed}", work)


def lone_place() -> str:
    """Return the zip code in which exactly one pet is licensed."""
    dataset = remember(f"dataset|{PETS.key}", PETS.dataset)
    return dataset.domain.describe(lone_row(dataset.histogram)[0])


def warning(settings: RandomPrivacySettings) -> None:
    """Draw the paper's warning: in words, and as a chart."""
    st.header("Warning: alone in a cell")
    names, unique = pet_names()
    dataset = remember(f"dataset|{PETS.key}", PETS.dataset)
    place = lone_place()
    left, right = st.columns(2)
    with left:
        st.markdown(
            f"One of Seattle's {dataset.n:,} licensed pets is alone in zip code **{place}**: a count there reveals its "
            "owner. :gray-badge[true]"
        )
        more = st.expander("The paper's warning")
        more.markdown(
            "The paper warns: if the last row is alone in its cell, an attacker who **knows all rows but "
            "one** learns it with certainty. Random privacy guarantees nothing for such data. It only says "
            "that randomly sampled data are rarely such. Yours may be."
        )
        more.markdown(
            f"Real data often are. Of the {names:,} names of Seattle's {dataset.n:,} licensed pets, "
            f"**{unique:,}** belong to only one pet. The picture is about the owner of the only licence in "
            f"zip code {place}. :gray-badge[true]"
        )
    with right:
        shares = alone_chances(**asdict(settings))
        spared = (
            lone_row_chance(cells=len(dataset.histogram), n=dataset.n, condition=settings.condition) <= settings.gamma
        )
        badge_text = badge(PETS, seed=settings.seed)
        # A public sample: the chart may be downloaded.
        draw_with_table(
            lone_pet(shares, spared=spared), key="sparse_alone", badge=badge_text, title="someone alone", download=True
        )
    st.caption(f"{TRIALS} releases each.", help=f"Source: {PETS.provenance.source}.")
