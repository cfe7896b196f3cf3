"""What the papers print: for each system a table of printed and corrected numbers, at the reader's settings."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpcore.experiments.printed.lines import PrintedLine, PrintedTable
from dpcore.experiments.printed.others import random_table, stability_table, weights_table
from dpcore.experiments.printed.polynomials import polynomial_table
from dpcore.experiments.printed.synthetic import halfspace_table, interval_table, net_table
from pages.charts.words import significant
from pages.learn.kit import THEORY, epsilon
from pages.shell.controls import choice, stops, whole

BETA = 0.05
ALPHAS, ROWS = (0.01, 0.02, 0.05, 0.1, 0.2), (100, 1000, 10_000, 100_000, 1_000_000)
HEAD = "| number | printed | holds | why |\n|---|---:|---:|---|"
TOO_LONG = 7
"""Numbers of more digits are written as a power of ten."""


def _alpha() -> float:
    return stops("Allowed error α", ALPHAS, 0.1, key="printed-alpha")


def _rows(default: int = 10_000) -> int:
    return int(stops("Rows n", ROWS, default, key="printed-rows"))


def _polynomials(loss: float) -> PrintedTable:
    attributes = whole("Attributes d", 2, 64, 64, key="printed-attributes")
    width = whole("Attributes of a query k", 2, 12, 8, key="printed-width")
    return polynomial_table(
        attributes=max(attributes, width), width=width, alpha=_alpha(), n=_rows(), epsilon=loss, beta=BETA
    )


def _nets(loss: float) -> PrintedTable:
    bits = whole("Bits of the line", 2, 12, 10, key="printed-bits")
    return net_table(bits=bits, alpha=_alpha(), epsilon=loss, beta=BETA)


def _intervals(loss: float) -> PrintedTable:
    bits = whole("Bits of the line", 2, 12, 10, key="printed-bits")
    return interval_table(bits=bits, alpha=_alpha(), epsilon=loss, beta=BETA)


def _halfspaces(loss: float) -> PrintedTable:
    dimensions = whole("Dimensions d", 2, 64, 10, key="printed-dimensions")
    margin = stops("Margin γ", (0.05, 0.1, 0.2, 0.5), 0.5, key="printed-margin")
    return halfspace_table(dimensions=dimensions, margin=margin, alpha=_alpha(), epsilon=loss, beta=BETA)


def _weights(loss: float) -> PrintedTable:
    points = int(stops("People d", (8, 16, 32, 64, 128, 256), 64, key="printed-points"))
    scale = stops("Scale γ", (0.01, 0.1, 0.2, 0.5), 0.1, key="printed-scale")
    return weights_table(points=points, scale=scale, epsilon=loss)


def _stability(loss: float) -> PrintedTable:
    parts = whole("Subsamples take one row of", 8, 256, 64, step=8, key="printed-parts")
    n = _rows()
    delta = stops("Slack δ", (1e-9, 1e-6, 1e-4, 1e-2), 1e-6, key="printed-delta")
    return stability_table(n=n, rows=max(1, n // parts), epsilon=min(loss, 1.0), delta=delta)


def _random(loss: float) -> PrintedTable:
    cells = int(stops("Bars k", (2, 5, 25, 100, 400, 1000), 25, key="printed-cells"))
    return random_table(cells=cells, n=_rows(1000), epsilon=loss)


SYSTEMS: dict[str, tuple[str, Callable[[float], PrintedTable], str]] = {
    "polynomials": ("Marginals by polynomials", _polynomials, "marginals/page.py"),
    "nets": ("Nets", _nets, "play/page.py"),
    "intervals": ("Intervals", _intervals, "play/page.py"),
    "halfspaces": ("Halfspaces", _halfspaces, "learn/directions/page.py"),
    "weights": ("Queries that weigh rows", _weights, "learn/page.py"),
    "stability": ("Stable answers", _stability, "robust/page.py"),
    "random": ("Random privacy", _random, "learn/sparse/page.py"),
}
"""Of each system: its title, its table with its controls, and the page that runs it."""


def printed() -> None:
    """The system, its settings, the table, and the way to the page with these settings."""
    left, right = st.columns([1, 3])
    with left:
        chosen = choice("System", {key: title for key, (title, _, _) in SYSTEMS.items()}, key="printed-system")
        loss = epsilon("printed", default=1.0)
        _, made, page = SYSTEMS[chosen]
        table = made(loss)
    with right:
        st.markdown(f"**{table.title}**: as the paper prints it, and what holds. {THEORY}")
        with st.container(key="printed_table"):
            st.markdown("\n".join([HEAD, *map(line, table.lines)]))
            # Within what scrolls, so that the keyboard gets there.
            st.page_link(page, label="Use these settings", query_params=table.link)
        st.caption(f"{table.reference}. β = {BETA:g}.")


def line(each: PrintedLine) -> str:
    """A number as a row of the table."""
    words = [text.replace("|", "\\|") for text in (each.what, each.why)]
    return f"| {words[0]} | {told(each.printed, each)} | {told(each.holds, each)} | {words[1]} |"


def told(value: float | None, each: PrintedLine) -> str:
    """A number, what is too large as a power of ten; where there is none, that only its order is known."""
    if value is None:
        return "order only"
    if each.power:
        return f"{10**value:,.0f}" if value < TOO_LONG else f"$10^{{{value:,.1f}}}$"
    return f"{value:,.0f}" if value >= 1000 else significant(value)
