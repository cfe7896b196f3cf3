"""Synthetic rows from released tables: which pairs of attributes they keep, and the rows as a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.core import Dataset, Floats, Integers
from dpcore.core.safe_csv import frame_csv
from dpcore.data.product import Product
from dpcore.mechanisms.tables.counting import Tables
from dpcore.mechanisms.tables.release import DirectRelease, TablesRelease
from dpcore.mechanisms.tables.tree import Tree, answers_only, synthetic_rows, widest_tree
from dpcore.queries.marginals import Set
from dplab.tables import Closeness, closeness, pair_distances, true_pairs
from pages.charts.words import percent
from pages.shell.session import remembered
from pages.tables.marginals.charts import Distances, sorted_dots
from pages.tables.marginals.controls import TablesAsked

MAX_DRAWN = 10_000
"""Rows the picture is made of; the file has as many as the data."""
KEPT, LOST = "Pairs the rows keep", "Pairs that come through others"


def rows_section(*, asked: TablesAsked, dataset: Dataset, release: TablesRelease, tables: dict[Set, Floats]) -> None:
    """Rows that follow a tree of the first preview's tables, where there are any.

    Args:
        asked: the controls.
        dataset: the bundled rows.
        release: previews of the chosen method.
        tables: the first preview's, as they are shown.
    """
    st.subheader("Synthetic rows")
    domain, ways = asked.queries.domain, asked.queries.ways
    if isinstance(release, DirectRelease) and ways > 1:
        st.info(
            "Direct tables contradict each other where they overlap, so no rows have exactly these tables, and none "
            "are drawn from them here: answers only. The residual planner's tables agree."
        )
        return
    warned = answers_only(attributes=len(domain.names), ways=ways)
    if ways == 1:
        st.info(warned)
        return
    agreeing = tables if asked.fit == "consistent" else release.tables(trial=0, fit="consistent")
    tree = widest_tree(agreeing, attributes=len(domain.names), ways=ways)
    drawn = min(dataset.n, MAX_DRAWN)
    rows = synthetic_rows(agreeing, tree, rows=drawn, seed=asked.seed)
    close = closeness(rows, agreeing, tree, sizes=domain.sizes, ways=ways, n=dataset.n)
    st.markdown(
        f"{drawn:,} rows miss the released tables by **{percent(close.mean)}** on average. :blue-badge[simulated]"
    )
    _pairs(asked, dataset, rows, tree)
    with st.expander("How rows are drawn"):
        st.info(warned)
        st.markdown(_how_close(domain, close))
        st.markdown(_order(domain, tree))

    def file() -> str:
        return rows_csv(domain, synthetic_rows(agreeing, tree, rows=dataset.n, seed=asked.seed))

    st.download_button(
        f"Download {dataset.n:,} simulated rows (CSV)",
        data=file,
        file_name=f"simulated-rows-{asked.entry.key}-preview-seed-{asked.seed}-not-a-release.csv",
        mime="text/csv",
        on_click="ignore",
        help="Made from one previewed release of public data by post-processing. Seeded: not a private release.",
    )


def _order(domain: Product, tree: Tree) -> str:
    """Each attribute with those it hangs on, as a list."""
    return "\n".join(
        f"1. {domain.names[attribute]}" + (f", given {' and '.join(domain.names[a] for a in given)}" if given else "")
        for attribute, given in tree.steps
    )


def _how_close(domain: Product, close: Closeness) -> str:
    """How far the rows' tables are from the released ones, as measured."""
    others = "" if close.outside is None else f", the other {close.others:,} by {percent(close.outside)}"
    return (
        f"They miss the released tables by **{percent(close.mean)}** on average (total variation: the share of rows in "
        f"another cell), at most by {percent(close.most)} ({called(domain, close.furthest)}). Tables of the tree are "
        f"missed by {percent(close.inside)}{others}. :blue-badge[simulated]"
    )


def called(domain: Product, chosen: Set) -> str:
    """A table by its attributes."""
    return " × ".join(domain.names[a] for a in chosen)


def _pairs(asked: TablesAsked, dataset: Dataset, rows: Integers, tree: Tree) -> None:
    """How far the rows' pairs of attributes are from the true ones, those of the tree apart from the others."""
    domain = asked.queries.domain
    truth: Tables = remembered(f"pairs|{asked.source.key}", lambda: true_pairs(dataset, domain.sizes))
    found = pair_distances(rows, truth, tree, sizes=domain.sizes, n=dataset.n)
    series = [
        Distances(
            name=name,
            role=role,
            of=[called(domain, pair) for pair in away],
            far=np.array([list(away.values())]),
        )
        for name, role, away in zip((KEPT, LOST), ("released", "other-4"), found, strict=True)
    ]
    picture = sorted_dots(series, noun="pairs", n=dataset.n)
    asked.draw(picture, key="tables_rows", badge=f"{asked.badge()}, {len(rows):,} rows", title="pairs")


def rows_csv(domain: Product, rows: Integers) -> str:
    """Rows (n, d) of cells with their labels, as a file."""
    labels = [np.array([column.describe(cell) for cell in range(column.size)]) for column in domain.columns]
    columns = {name: labels[place][rows[:, place]] for place, name in enumerate(domain.names)}
    return frame_csv(pd.DataFrame(columns))
