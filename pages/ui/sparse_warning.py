"""The paper's own warning: the person alone in a cell, shown on real pets."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from dpcore.core import Dataset, Floats, Integers, Problem
from dpcore.figures.sparse_risk import alone
from dpcore.mechanisms import entry
from dpcore.queries import Cells
from dpcore.randomness import Preview
from dpcore.samples import load_sample
from dpcore.sources import Bundled
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.session import remembered

PETS = Bundled(sample_key="pets", column_name="zip_code")
TRIALS = 500


@cache  # of a public sample
def pet_names() -> tuple[int, int]:
    """How many different names pets have, and how many of these one pet alone has."""
    counts = np.bincount(load_sample("pets").codes("animal_name"))
    return int((counts > 0).sum()), int((counts == 1).sum())


def lone_pet(histogram: Integers) -> tuple[int, Integers]:
    """The first cell with one row, and the histogram if that row were in the fullest cell."""
    cell = int(np.flatnonzero(histogram == 1)[0])
    elsewhere = histogram.copy()
    elsewhere[[cell, int(histogram.argmax())]] += (-1, 1)
    return cell, elsewhere


def shown_chances(dataset: Dataset, *, epsilon: float, gamma: float, condition: str, seed: int) -> Floats:
    """Share of releases with a count above 0 in the lone pet's cell: (2 mechanisms, there or elsewhere)."""
    problem = Problem(domain=dataset.domain, queries=Cells(domain=dataset.domain), n=dataset.n)
    cell, elsewhere = lone_pet(dataset.histogram)
    moved = Dataset(dataset.domain, np.repeat(np.arange(len(elsewhere)), elsewhere), dataset.provenance)
    machines = (
        entry("projected_histogram").make(epsilon=epsilon),
        entry("sparse_histogram").make(epsilon=epsilon, gamma=gamma, condition=condition),
    )
    return np.array(
        [
            [
                float(
                    (machine.run(machine.prepare(data, problem), Preview(seed), TRIALS).outcomes()[:, cell] > 0).mean()
                )
                for data in (dataset, moved)
            ]
            for machine in machines
        ]
    )


def warning(*, epsilon: float, gamma: float, condition: str, seed: int) -> None:
    """Tell it, then show it."""
    st.header("The warning: someone alone in a cell")
    names, unique = pet_names()
    dataset = remembered(f"dataset|{PETS.key}", PETS.dataset)
    cell, _ = lone_pet(dataset.histogram)
    place = dataset.domain.describe(cell)
    left, right = st.columns(2)
    with left:
        st.markdown(
            "The paper says it: whoever **knows all rows but one**, and finds that one alone in its cell, learns "
            "it for certain. Random privacy promises nothing for such data; it only says that data drawn at random are "
            "rarely such. Yours may be."
        )
        st.markdown(
            f"Real data often are. Of the {names:,} names of Seattle's {dataset.n:,} licensed pets, **{unique:,}** "
            f"belong to one pet alone. And one single licence is in zip code **{place}**: its owner is the person the "
            "picture is about. :gray-badge[true]"
        )
    with right:
        shown = remembered(
            f"alone|{epsilon}|{gamma}|{condition}|{seed}",
            lambda: shown_chances(dataset, epsilon=epsilon, gamma=gamma, condition=condition, seed=seed),
        )
        badge = f"true: {PETS.provenance.kind} · simulated, preview sampler, seed {seed}"
        figure = alone(shown=shown, badge=badge, dark=is_dark())
        draw(figure, key="sparse_alone_chart")
        numbers(figure, title="someone alone", key="sparse_alone_numbers")
    st.caption(f"{TRIALS} releases each. Source: {PETS.sample.attribution}.")
