"""What may leave the page: released things of public data, and the recipe; never data."""

from __future__ import annotations

import streamlit as st

from dpcore.core import DataRelease, State
from dpcore.core.safe_csv import rows_csv
from dpcore.randomness import Preview
from dplab.recipe import Recipe
from dplab.synthetic import synthetic_csv


def synthetic_table(recipe: Recipe, state: State, *, key: str) -> None:
    """The synthetic table where the data are generated, bundled or a public stand-in."""
    if recipe.source.provenance.is_private:
        st.caption(
            "No download: a table made here from private data would not be charged or sampled by the secure sampler."
        )
        return

    def table() -> str:
        release = recipe.mechanism().run(state, Preview(recipe.seed), trials=1)
        if not isinstance(release, DataRelease) or release.refused[0]:
            return rows_csv(recipe.source.value_columns, ())
        return synthetic_csv(release, columns=recipe.source.value_columns)

    st.download_button(
        "Download a synthetic table (CSV)",
        data=table,
        key=f"synthetic_{key}",
        file_name=f"synthetic-{recipe.entry_key}-preview-seed-{recipe.seed}.csv",
        mime="text/csv",
        on_click="ignore",
        help="One previewed release as rows, rounded to valid counts. Seeded: not a private release.",
    )
