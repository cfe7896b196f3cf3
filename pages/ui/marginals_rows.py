"""Synthetic rows from released tables: which pairs of attributes they keep, and the rows as a file."""

from __future__ import annotations

import csv
import io
from itertools import combinations

import streamlit as st

from dpcore.attributes import Attributes, Set
from dpcore.core import Dataset, Floats, Integers
from dpcore.figures.tables import sorted_dots
from dpcore.residual.counting import Tables, count_tables, finished
from dpcore.residual.preview import distances
from dpcore.residual.release import DirectRelease, TablesRelease
from dpcore.residual.tree import Tree, answers_only, synthetic_rows, widest_tree
from pages.ui.charts import draw, is_dark, numbers
from pages.ui.marginals_tables_ask import Asked
from pages.ui.session import remembered

MOST_DRAWN = 10_000
"""Rows the picture is made of; the file has as many as the data."""
KEPT, LOST = "Pairs the rows keep", "Pairs that come through others"


def rows_section(*, asked: Asked, dataset: Dataset, release: TablesRelease, tables: dict[Set, Floats]) -> None:
    """Rows that follow a tree of the first preview's tables, where there are any.

    Args:
        asked: the controls.
        dataset: the bundled rows.
        release: previews of the chosen method.
        tables: the first preview's, as they are shown.
    """
    st.subheader("Synthetic rows")
    domain = asked.survey.domain
    if isinstance(release, DirectRelease):
        st.info(
            "Direct tables contradict each other where they overlap, so no rows follow them: answers only. The "
            "residual planner's tables agree."
        )
        return
    st.info(answers_only(attributes=len(domain.names), ways=asked.ways))
    if asked.ways == 1:
        return
    agreeing = tables if asked.fit == "consistent" else release.tables(trial=0, fit="consistent")
    tree = widest_tree(agreeing, attributes=len(domain.names), ways=asked.ways)
    _pairs(asked, dataset, agreeing, tree)
    st.expander("How rows are drawn: one attribute after another").markdown(_order(domain, tree))

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


def _order(domain: Attributes, tree: Tree) -> str:
    """Each attribute with those it hangs on, as a list."""
    return "\n".join(
        f"1. {domain.names[attribute]}" + (f", given {' and '.join(domain.names[a] for a in given)}" if given else "")
        for attribute, given in tree.steps
    )


def _pairs(asked: Asked, dataset: Dataset, tables: dict[Set, Floats], tree: Tree) -> None:
    """How far the rows' pairs of attributes are from the true ones, those of the tree apart from the others."""
    domain = asked.survey.domain
    truth: Tables = remembered(
        f"pairs|{asked.survey.key}", lambda: finished(count_tables(dataset.records, domain.sizes, ways=2))
    )
    drawn = min(dataset.n, MOST_DRAWN)
    rows = synthetic_rows(tables, tree, rows=drawn, seed=asked.seed)
    found = {
        pair: counts * (dataset.n / drawn)
        for pair, counts in finished(count_tables(rows, domain.sizes, ways=2)).items()
    }
    kept = {pair for table in tree.tables() for pair in combinations(table, 2)}
    sides: dict[str, list[Set]] = {
        KEPT: [pair for pair in truth if pair in kept],
        LOST: [pair for pair in truth if pair not in kept],
    }
    figure = sorted_dots(
        {side: distances(found, truth, sets=pairs, n=dataset.n)[None] for side, pairs in sides.items()},
        names={side: [" × ".join(domain.names[a] for a in pair) for pair in pairs] for side, pairs in sides.items()},
        noun="pairs", badge=f"{asked.badge}, {drawn:,} rows", dark=is_dark(),
    )  # fmt: skip
    draw(figure, key="tables_rows_chart")
    numbers(figure, title="pairs of attributes", key="tables_rows_numbers")


def rows_csv(domain: Attributes, rows: Integers) -> str:
    """Rows (n, d) of cells with their labels, as a file."""
    labels = [[column.describe(cell) for cell in range(column.size)] for column in domain.columns]
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(domain.names)
    out.writerows([column[cell] for column, cell in zip(labels, row, strict=True)] for row in rows.tolist())
    return text.getvalue()
