"""Table 1 of Thaler, Ullman and Vadhan, run on the page's rows: direct, polynomial, MWEM, DualQuery, projection."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dplab.printed.table_one import narrowed, run_methods, usable_attributes
from pages.charts.worst import method_errors
from pages.shell.controls import whole
from pages.shell.links import in_link
from pages.shell.tasks.memory import with_progress
from pages.tables.shares.compute import ShareResult
from pages.tables.shares.controls import in_words


def all_methods(result: ShareResult) -> None:
    """Draw the errors of every method, once the reader asks for them."""
    request, mechanism, queries = result.request, result.answers.mechanism, result.answers.queries
    usable = usable_attributes(queries)
    st.header("All methods")
    st.markdown(
        "MWEM, DualQuery and projected answers release **synthetic rows**. They hold a number for every row there may "
        f"be, here 2ᵈ of them, so this comparison is about the first attributes alone, at most {usable}."
    )
    attributes = whole("Attributes compared", 2, max(3, usable), min(8, usable), key="compared-attributes")
    if not st.toggle("Run all methods", key=in_link("run-methods"), bind="query-params"):
        return
    compared, problem = narrowed(queries, min(attributes, usable)), result.answers.problem
    rows = np.asarray(request.dataset().records[:, : compared.domain.attributes], dtype=np.bool_)
    runs = with_progress(
        f"methods|{request.source.key}|{compared.width}|{compared.least}|{compared.signed}|{attributes}|{problem.n}|"
        f"{problem.neighbours}|{mechanism.epsilon}|{mechanism.delta}|{request.seed}",
        lambda: run_methods(
            rows,
            compared,
            n=problem.n,
            neighbours=problem.neighbours,
            epsilon=mechanism.epsilon,
            delta=mechanism.delta,
            seed=request.seed,
        ),
        label="Running every method.",
    )
    about = f"{compared.count:,} queries about {in_words(compared)}"
    request.draw(method_errors(runs, about=about, n=problem.n), key="all_methods", title="all methods")
    st.caption(
        "All with the same ε. Noise in answers is Gaussian, with the page's δ; MWEM and DualQuery use no δ. Their "
        "settings are those with the smallest guaranteed error."
    )
