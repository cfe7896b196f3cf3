"""Synthetic rows from released tables: the pairs of attributes that they preserve, and the rows as a file."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.core import Dataset, Integers, finish
from dpcore.core.safe_csv import write_frame
from dpcore.data.product import Product
from dpcore.mechanisms.tables.counting import Tables
from dpcore.mechanisms.tables.release import DirectRelease
from dpcore.mechanisms.tables.tree import Tree, answers_only, synthetic_rows, widest_tree
from dpcore.queries.marginals import Set
from dplab.tables import Closeness, closeness, pair_distances, true_pairs
from pages.charts.component import draw_while_open
from pages.charts.words import percent, percent_up
from pages.shell.state import SessionKey
from pages.shell.tasks.memory import remember, with_progress
from pages.tables.marginals.charts import Distances, sorted_dots
from pages.tables.marginals.compute import TableResult
from pages.tables.marginals.controls import MarginalsRequest
from pages.tables.marginals.usefulness import draw_usefulness

MAX_ROWS = 10_000
"""Rows of the picture; the file has as many as the data."""
MAX_AT_ONCE = 100_000
"""Rows of a file that is written when it is downloaded; a larger one is written before, with its progress."""
FILE = SessionKey("tables_rows_file", "")
"""Key of the release whose large file was asked for."""
OF_TREE, OTHERS = "Pairs measured in the tree", "Other pairs"


def draw_rows(result: TableResult) -> None:
    """Draw rows that follow a tree of the first preview's tables, where there are any."""
    request, dataset, release = result.request, result.dataset, result.selected.release
    st.subheader("Synthetic rows")
    domain, ways = request.queries.domain, request.queries.ways
    if isinstance(release, DirectRelease) and ways > 1:
        st.info(
            "Direct tables contradict each other if they overlap, so no rows have exactly these tables. No "
            "synthetic rows are made from them here. The tables of the residual planner agree."
        )
        return
    warning = answers_only(attributes=len(domain.names), ways=ways)
    if ways == 1:
        st.info(warning)
        return
    consistent = request.fit == "consistent"
    agreeing = result.selected.tables[0] if consistent else release.tables(trial=0, fit="consistent")
    tree = widest_tree(agreeing, attributes=len(domain.names), ways=ways)
    drawn = min(dataset.n, MAX_ROWS)
    rows = synthetic_rows(agreeing, tree, rows=drawn, seed=request.seed)
    close = closeness(rows, agreeing, tree, sizes=domain.sizes, ways=ways, n=dataset.n)
    st.markdown(
        f"The tables of {drawn:,} rows differ from the released tables by **{percent(close.mean)}** on "
        "average. :blue-badge[simulated]"
    )
    _pairs(request, dataset, rows, tree)
    with st.expander("How the rows are sampled"):
        st.info(warning)
        st.markdown(_how_close(domain, close))
        st.markdown(_order(domain, tree))

    content = partial(draw_usefulness, result, agreeing, tree)
    draw_while_open("What are these rows good for?", key="tables_useful_open", content=content)

    def write() -> Generator[float, None, str]:
        yield 0.0
        every = synthetic_rows(agreeing, tree, rows=dataset.n, seed=request.seed)
        return (yield from write_frame(labelled(domain, every)))

    def file() -> str:
        return finish(write())

    data: str | Callable[[], str] = file
    if dataset.n > MAX_AT_ONCE:
        if FILE.value != result.key:
            st.button(
                f"Write {dataset.n:,} simulated rows (CSV)", key="tables_rows_write", on_click=FILE.set,
                args=(result.key,),
            )  # fmt: skip
            return
        data = with_progress(f"rows-file|{result.key}", write, label="Writing rows.")
    st.download_button(
        f"Download {dataset.n:,} simulated rows (CSV)",
        data=data,
        file_name=f"simulated-rows-{request.entry.key}-preview-seed-{request.seed}-not-a-release.csv",
        mime="text/csv",
        on_click="ignore",
        help="Made from one previewed release of public data by post-processing. Seeded: not a private release.",
    )


def _order(domain: Product, tree: Tree) -> str:
    """Return each attribute with those it depends on, as a list."""
    return "\n".join(
        f"1. {domain.names[attribute]}" + (f", given {' and '.join(domain.names[a] for a in given)}" if given else "")
        for attribute, given in tree.steps
    )


def _how_close(domain: Product, close: Closeness) -> str:
    """Return the measured distances of the rows' tables from the released ones, in words."""
    others = "" if close.outside is None else f", the other {close.others:,} by {percent(close.outside)}"
    return (
        f"They differ from the released tables by **{percent(close.mean)}** on average (total variation: "
        f"share of rows in another cell). The largest difference is {percent_up(close.max_distance)} "
        f"({attributes_of(domain, close.furthest)}). For tables of the tree it is "
        f"{percent(close.inside)}{others}. :blue-badge[simulated]"
    )


def attributes_of(domain: Product, chosen: Set) -> str:
    """Return the attributes of a table in words."""
    return " × ".join(domain.names[a] for a in chosen)


def _pairs(request: MarginalsRequest, dataset: Dataset, rows: Integers, tree: Tree) -> None:
    """Draw the distances of the rows' pairs from the true pairs: first those of the tree, then the others."""
    domain = request.queries.domain
    truth: Tables = remember(f"pairs|{request.source.key}", lambda: true_pairs(dataset, domain.sizes))
    distances = pair_distances(rows, truth, tree, sizes=domain.sizes, n=dataset.n)
    series = [
        Distances(
            name=name, role=role, of=[attributes_of(domain, pair) for pair in away], far=np.array([list(away.values())])
        )
        for name, role, away in zip((OF_TREE, OTHERS), ("released", "other-4"), distances, strict=True)
    ]
    picture = sorted_dots(series, noun="pairs", n=dataset.n)
    request.draw(picture, key="tables_rows", badge=f"{request.badge()}, {len(rows):,} rows", title="pairs")


def labelled(domain: Product, rows: Integers) -> pd.DataFrame:
    """Return rows (n, d) of cells with their labels."""
    labels = [np.array([column.describe(cell) for cell in range(column.size)]) for column in domain.columns]
    return pd.DataFrame({name: labels[place][rows[:, place]] for place, name in enumerate(domain.names)})
