"""The papers' tables: printed and corrected numbers of each system at the user's settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpcore.core import Neighbours, exactly
from dpcore.data.product import Product
from dpcore.data.sources import generated_attributes
from dpcore.queries.at_least import AtLeast
from dplab.printed.lines import MethodLine, PrintedLine, PrintedTable
from dplab.printed.polynomials import polynomial_table
from dplab.printed.population import CLASSES, MAX_BITS, open_table, population_errors, population_table
from dplab.printed.random import random_table
from dplab.printed.rectangles import rectangle_table
from dplab.printed.simulated import halfspaces as run_halfspaces
from dplab.printed.simulated import intervals as run_intervals
from dplab.printed.simulated import sanitizer as run_sanitizer
from dplab.printed.stability import stability_table
from dplab.printed.synthetic import halfspace_table, interval_table, net_table
from dplab.printed.table_one import MAX_ON_CELLS, narrowed, run_methods, usable_attributes
from dplab.printed.weights import weights_table
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.charts.words import lower_first, significant
from pages.charts.worst import method_errors
from pages.learn.kit import SIMULATED, THEORY, epsilon
from pages.learn.paper_tables import simulated
from pages.shell.controls import choice, stops, whole
from pages.shell.links import in_link
from pages.shell.presentation import set_extra_height
from pages.shell.tasks.memory import remember, remember_call, with_progress

BETA, DELTA = 0.05, 1e-6
ALPHAS, ROWS = (0.01, 0.02, 0.05, 0.1, 0.2), (1000, 10_000, 100_000, 1_000_000)
SEED = 1
"""Seed of the simulations."""
HEAD = "| quantity | printed | correct | why |\n|---|---:|---:|---|"
SURVEY = "| method and its rows, by order | rows | time | correct for | synthetic rows |\n|---|---:|---:|---|---|"
WITHOUT_THEOREM = 60
"""Pixels of a presentation that the theorem leaves to the chart, as there is none."""
TOO_LONG = 7
"""Digits from which a number is written as a power of ten."""


@dataclass(frozen=True, kw_only=True)
class SystemTable:
    """A system's table at the user's settings.

    Attributes:
        table: its numbers.
        run: runs the printed algorithm and returns its picture; None if it cannot be run.
        survey: runs the methods of the survey and returns their picture.
        simulated: whether the picture is simulated; else it is theory.
    """

    table: PrintedTable
    run: Callable[[], Picture] | None = None
    survey: Callable[[], Picture] | None = None
    simulated: bool = True


def _alpha() -> float:
    return stops("Allowed error α", ALPHAS, 0.1, key="printed-alpha")


def _rows(default: int = 10_000) -> int:
    return int(stops("Rows n", ROWS, default, key="printed-rows"))


def _polynomials(loss: float) -> SystemTable:
    attributes = whole("Attributes d", 4, 64, 64, key="printed-attributes")
    width = whole("Attributes of a query k", 2, 12, 8, key="printed-width")
    alpha, attributes, n = _alpha(), max(attributes, width), _rows()
    settings: dict[str, Any] = {"attributes": attributes, "width": width, "alpha": alpha, "epsilon": loss}
    table = polynomial_table(n=n, beta=BETA, **settings)

    def survey() -> Picture:
        few = min(attributes, MAX_ON_CELLS)
        source = generated_attributes(n=n, attributes=few)
        queries = AtLeast(domain=source.on(Product), width=min(width, few), least=1)
        queries = narrowed(queries, usable_attributes(queries))
        runs = with_progress(
            f"survey|{few}|{width}|{n}|{loss}",
            lambda: run_methods(
                source.dataset().records[:, : queries.domain.attributes],
                queries,
                n=n,
                neighbours=Neighbours.REPLACE_ONE,
                epsilon=loss,
                delta=DELTA,
                seed=SEED,
            ),
            label="Running the methods of Table 1.",
        )
        about = f"{queries.count:,} queries about any of {queries.width} of {queries.domain.attributes} attributes"
        return method_errors(runs, about=about, n=n)

    def run() -> Picture:
        return simulated.sanitizer(run_sanitizer(seed=SEED, **settings), alpha=alpha)

    return SystemTable(table=table, run=run, survey=survey)


def _nets(loss: float) -> SystemTable:
    bits = whole("Bits of the line", 2, 12, 10, key="printed-bits")
    return SystemTable(table=net_table(bits=bits, alpha=_alpha(), epsilon=loss, beta=BETA))


def _population(loss: float) -> SystemTable:
    titles = {key: build(1).title for key, build in CLASSES.items()}
    name = choice("Query class", titles, key="printed-class")
    bits, alpha = whole("Bits of the universe", 2, MAX_BITS, 10, key="printed-bits"), _alpha()
    settings: dict[str, Any] = {"bits": bits, "alpha": alpha, "epsilon": loss, "beta": BETA}
    return SystemTable(
        table=population_table(name, **settings), simulated=False,
        run=lambda: simulated.population(population_errors(name, **settings), alpha=alpha),
    )  # fmt: skip


def _open(loss: float) -> SystemTable:
    attributes = whole("Attributes d", 4, MAX_BITS, 10, key="printed-few-attributes")
    width = whole("Attributes of a query k", 2, 12, 8, key="printed-width")
    return SystemTable(table=open_table(attributes=attributes, width=width, alpha=_alpha(), epsilon=loss, beta=BETA))


def _intervals(loss: float) -> SystemTable:
    bits = whole("Bits of the line", 2, 12, 10, key="printed-bits")
    alpha = _alpha()
    settings: dict[str, Any] = {"bits": bits, "alpha": alpha, "epsilon": loss, "beta": BETA}
    table = interval_table(**settings)
    return SystemTable(table=table, run=lambda: simulated.intervals(run_intervals(seed=SEED, **settings), alpha=alpha))


def _rectangles(loss: float) -> SystemTable:
    levels, n = whole("Levels of cuts L", 3, 4, 3, key="printed-levels"), _rows()
    table = remember_call(rectangle_table, levels=levels, n=n, epsilon=loss, beta=BETA, seed=SEED)
    return SystemTable(table=table)


def _halfspaces(loss: float) -> SystemTable:
    dimensions = whole("Dimensions d", 2, 64, 10, key="printed-dimensions")
    margin = stops("Margin γ", (0.05, 0.1, 0.2, 0.5), 0.5, key="printed-margin")
    alpha = _alpha()
    settings: dict[str, Any] = {
        "dimensions": dimensions,
        "margin": margin,
        "alpha": alpha,
        "epsilon": loss,
        "beta": BETA,
    }
    return SystemTable(
        table=halfspace_table(**settings),
        run=lambda: simulated.halfspaces(run_halfspaces(seed=SEED, **settings), alpha=alpha),
    )


def _weights(loss: float) -> SystemTable:
    points = int(stops("People d", (8, 16, 32, 64, 128, 256), 64, key="printed-points"))
    scale = stops("Scale γ", (0.01, 0.1, 0.2, 0.5), 0.1, key="printed-scale")
    return SystemTable(
        table=weights_table(points=points, scale=scale, alpha=_alpha(), n=_rows(), epsilon=loss, beta=BETA)
    )


def _stability(loss: float) -> SystemTable:
    parts = whole("Subsample size: n divided by", 8, 256, 64, step=8, key="printed-parts")
    n = _rows()
    delta = stops("δ", (1e-9, 1e-6, 1e-4, 1e-2), 1e-6, key="printed-delta")
    return SystemTable(table=stability_table(n=n, rows=max(1, n // parts), epsilon=min(loss, 1.0), delta=delta))


def _random(loss: float) -> SystemTable:
    cells = int(stops("Bars k", (2, 8, 25, 64, 256, 1024), 25, key="printed-cells"))
    n = int(stops("Rows n", (100, 500, 1000, 5000, 20_000, 100_000), 500, key="printed-histogram-rows"))
    return SystemTable(table=random_table(cells=cells, n=n, epsilon=loss))


SYSTEMS: dict[str, tuple[str, Callable[[float], SystemTable], str]] = {
    "polynomials": ("Marginals by polynomials", _polynomials, "tables/page.py"),
    "nets": ("Nets", _nets, "play/page.py"),
    "population": ("Sample to population", _population, "learn/page.py"),
    "open": ("Conjunctions and parities", _open, "tables/page.py"),
    "intervals": ("Intervals", _intervals, "play/page.py"),
    "rectangles": ("Rectangles and boxes", _rectangles, "play/page.py"),
    "halfspaces": ("Halfspaces", _halfspaces, "learn/page.py"),
    "weights": ("Queries with weights", _weights, "learn/page.py"),
    "stability": ("Stable answers", _stability, "one_number/page.py"),
    "random": ("Random privacy", _random, "learn/page.py"),
}
"""Title, table function and page of each system."""


def show_paper_tables() -> None:
    """Draw the system's controls, its table, and the link to its page with these settings."""
    left, right = st.columns([1, 3])
    with left:
        chosen = choice("Topic", {key: title for key, (title, _, _) in SYSTEMS.items()}, key="printed-system")
        loss = epsilon("printed", default=1.0)
        _, build_table, page = SYSTEMS[chosen]
        system = build_table(loss)
        table = system.table
    with right:
        st.markdown(f"**{table.title}**: as the paper prints it, and the correct version. {THEORY}")
        with st.container(key="printed_table"):
            st.markdown("\n".join([HEAD, *map(table_row, table.lines)]))
            # Inside the scrolling container, so that the keyboard reaches it.
            st.page_link(page, label="Use these settings", query_params=table.link)
        st.caption(f"{table.reference.removesuffix('.')}. β = {BETA:g}.")
        if table.survey:
            with st.expander("The paper's Table 1, at these settings"):
                st.markdown("\n".join([SURVEY, *map(survey_row, table.survey)]))
                st.caption(
                    "The paper prints orders of magnitude: constants are 1 here. Exponents missing in our "
                    "copy are from memory. The last two lines are computed here, with all constants."
                )
        if system.survey and st.toggle("Run Table 1", key=in_link("printed-survey"), bind="query-params"):
            picture = system.survey()
            st.markdown(f"**{picture.title}** {SIMULATED}")
            st.caption(
                f"Three methods hold a number for each of 2ᵈ rows there may be: at most {MAX_ON_CELLS} attributes. "
                f"ε = {loss:g}; δ = {exactly(DELTA)} for Gaussian noise."
            )
            badge = f"generated rows, simulated, preview sampler, seed {SEED}"
            draw_with_table(picture, key="printed_survey", badge=badge, title="Table 1, run", download=True)
        if system.run:
            picture = remember(f"printed|{table!r}", system.run)
            set_extra_height(WITHOUT_THEOREM)
            st.markdown(f"**{picture.title}** {SIMULATED if system.simulated else THEORY}")
            badge = f"simulated, preview sampler, seed {SEED}, beside theory" if system.simulated else "exact theory"
            draw_with_table(picture, key="printed_run", badge=badge, title=lower_first(picture.title), download=True)


def table_row(each: PrintedLine) -> str:
    """Return a number as a row of the table."""
    words = [text.replace("|", "\\|") for text in (each.what, each.why)]
    numbers = (
        number_of(each.printed, power=each.power, instead=each.printed_words),
        number_of(each.holds, power=each.power, instead=each.holds_words),
    )
    return f"| {words[0]} | {numbers[0]} | {numbers[1]} | {words[1]} |"


def survey_row(each: MethodLine) -> str:
    """Return a method of a survey as a row of its table."""
    sizes = " | ".join(power_words(value) for value in (each.rows, each.time))
    order = f": ${each.order}$" if each.order else ""
    return f"| {each.what}{order} | {sizes} | {each.right} | {'yes' if each.synthetic else 'no'} |"


def number_of(value: float | None, *, power: bool, instead: str) -> str:
    """Return a number, a large one as a power of ten; ``instead`` if there is none."""
    if value is None:
        return instead
    if power:
        return power_words(value)
    return f"{value:,.0f}" if value >= 1000 else significant(value)


def power_words(power: float) -> str:
    """Return a number from its decimal logarithm."""
    return f"{10**power:,.0f}" if power < TOO_LONG else f"$10^{{{power:,.1f}}}$"
