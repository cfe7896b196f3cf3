"""The class of weighted sums: a random one, or the user's own matrix, which stays in the session."""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
import streamlit as st

from dpcore.core import DataError, Dataset, Domain, Parameter, Problem
from dpcore.core.sizes import MAX_WEIGHTS
from dpcore.limits.attacks.class_text import read_class
from dpcore.queries.linear import GENERATED, LinearQueries, generated
from dplab.recipe import Recipe
from dplab.small_databases import TRIALS, errors_by_size
from pages.charts.component import draw_with_table
from pages.play.figures.sizes import sizes_picture
from pages.play.figures.weights import weights_picture
from pages.shell.controls import check_link, choice
from pages.shell.links import in_link
from pages.shell.server.host_origin import is_public_demo
from pages.shell.tasks.memory import remember
from pages.shell.tasks.shared import share_with_progress

OWN = "matrix"
MAX_BYTES = 1 << 23
COUNT = Parameter(label="number of queries", low=2, high=200, integer=True)


def ask_weights(domain: Domain) -> LinearQueries | None:
    """Draw the controls of the class and return it; None with a message if its matrix is missing or invalid."""
    options = {key: name.capitalize() for key, (name, _) in GENERATED.items()} | {OWN: "My own matrix"}
    kind = choice(
        "Weights", options, key="weights", default="bumps",
        help_text="Every cell has a weight from 0 to 1, and a query adds up the weights of its rows.",
    )  # fmt: skip
    if kind == OWN:
        return _own(domain)
    check_link("weight_queries", parameter=COUNT)
    max_count = min(int(COUNT.high), MAX_WEIGHTS // domain.ordered)
    count = st.slider(
        "Number of queries", int(COUNT.low), int(COUNT.high), 50, key=in_link("weight_queries"), bind="query-params"
    )
    return generated(kind, queries=min(int(count), max_count), domain=domain, seed=1)


def draw_weights(queries: LinearQueries, *, download: bool) -> None:
    """Draw the weights; the axis is the domain, whose bounds may have been read from private rows."""
    st.header("Weights of the queries")
    picture = remember(
        f"weights_picture|{queries.name}|{queries.code}|{queries.domain!r}", lambda: weights_picture(queries)
    )
    badge, title = f"weights: {queries.name}", "weights of the queries"
    draw_with_table(picture, key="weights", badge=badge, title=title, download=download)


def draw_sizes(recipe: Recipe, dataset: Dataset, problem: Problem) -> None:
    """Draw the error by the size of a small database, on request: it takes seconds."""
    if not st.toggle("Error by the size of the small database", key=in_link("sizes"), bind="query-params"):
        return
    epsilon = float(dict(recipe.values).get("epsilon", 1.0))
    key = f"sizes|{recipe.source.key}|{problem!r}|{epsilon}|{recipe.seed}"
    work = partial(errors_by_size, dataset, problem, epsilon=epsilon, seed=recipe.seed)
    errors = share_with_progress(recipe, key, work, label="Measuring small databases.")
    badge = f"{TRIALS} releases each, simulated, preview sampler, seed {recipe.seed}"
    picture = sizes_picture(errors, epsilon=epsilon)
    download = not dataset.provenance.is_private
    draw_with_table(picture, key="sizes", badge=badge, title="error by size", download=download)


def _own(domain: Domain) -> LinearQueries | None:
    """Draw the uploader of a matrix and return its class; None without a valid one."""
    size = f"one column for each of {domain.ordered:,} cells"
    file = st.file_uploader(
        f"Matrix of weights from 0 to 1: one line per query, {size}",
        type=["csv", "txt"],
        key="weights_file",
        help="Numbers separated by commas, without names. Weights are queries, not data: they are not private.",
        max_upload_size=MAX_BYTES >> 20,
        disabled=is_public_demo(),
    )
    if file is None:
        st.info(f"Upload a matrix with {size}. A coarser grid has fewer cells.")
        return None
    content = file.getvalue()
    digest = hashlib.sha256(content).hexdigest()[:8]

    def build() -> LinearQueries | str:
        try:
            matrix = read_class(content, max_questions=MAX_WEIGHTS, max_points=domain.ordered, max_bytes=MAX_BYTES)
            between = next((sign for sign in ",;" if sign.encode() in content), None)  # else tabs or blanks
            read = f"np.loadtxt({file.name!r}, delimiter={between!r}, ndmin=2, encoding='utf-8-sig')"
            code = f"LinearQueries.of({read}, domain=dataset.domain)"
            return LinearQueries.of(np.asarray(matrix), domain=domain, name=f"my matrix {digest}", code=code)
        except DataError as problem:
            return str(problem)

    weights = remember(f"weights|{digest}|{domain!r}", build)
    if isinstance(weights, str):
        st.error(weights)
        return None
    return weights
