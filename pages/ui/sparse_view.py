"""The Sparse histograms page: the paper's figures or any data, losses, what the loss grows with, and the warning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpcore.core import Integers, exactly
from dpcore.figures.figure import significant
from dpcore.figures.sparse import PRIVATE, RANDOM, losses, panel
from dpcore.figures.sparse_risk import MOST_CELLS, growth
from dpcore.mechanisms import entry
from dpcore.mechanisms.sparse_histogram import LossFigure, grid_example, line_example, lone_row_chance, loss_figure
from dpcore.randomness import Preview
from pages.ui.charts import draw, hide_toolbars, is_dark, numbers
from pages.ui.controls import check_choice, choice, control
from pages.ui.picker import pick_source
from pages.ui.session import is_steward, remembered
from pages.ui.sparse_plan import plan
from pages.ui.sparse_warning import warning

SIMULATIONS = 100
GROWTH_SIMULATIONS = 40
FIGURES = {
    "figure-1": "Figure 1 of the paper: 25 cells",
    "figure-2": "Figure 2 of the paper: 400 cells",
    "data": "Other data",
}
GRID_ROWS = (500, 1000, 3000, 8000, 30_000)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A histogram to release (None if it may not be seen), and what to call it."""

    key: str
    histogram: Integers | None
    grid: bool = False
    provenance: str = "generated"
    private: bool = False


def sparse() -> None:
    """Read the controls, then show what they do."""
    st.markdown(
        "A private histogram must blur empty cells too; with many of them, the few full ones drown. **Random "
        "differential privacy** asks less: rows are independent draws from one population, and for a share **γ** of "
        "the draws nothing is promised. Then cells that hold nobody may stay empty."
    )
    picture = _picture()
    machine = entry("sparse_histogram")
    parameters = machine.controls()
    left, right = st.columns(2)
    with left:
        epsilon = float(control(machine, "epsilon", parameters["epsilon"]))
        st.caption("← more private · more accurate →")
    with right:
        gamma = float(control(machine, "gamma", parameters["gamma"]))
        condition = str(control(machine, "condition", parameters["condition"]))
    with st.popover("More settings"):
        seed = int(st.number_input("Preview seed", 0, 999_999, 1, key="seed", bind="query-params"))
    if picture.histogram is None:
        st.info(
            "These data are private, and losses against them would reveal them, so nothing is computed here. Take the "
            "paper's figures, a public stand-in or generated data, or, if you are their steward, say so above."
        )
    else:
        if picture.private:
            hide_toolbars()
        _condition(picture.histogram, gamma=gamma, condition=condition)
        found = _histograms(picture, picture.histogram, epsilon=epsilon, gamma=gamma, condition=condition, seed=seed)
        plan(picture.histogram, found=found, key=picture.key, epsilon=epsilon, gamma=gamma, condition=condition)
    warning(epsilon=epsilon, gamma=gamma, condition=condition, seed=seed)


def _picture() -> Picture:
    """One of the paper's two figures, or the data of the picker."""
    chosen = choice("What to release", FIGURES, key="sparse")
    if chosen == "figure-1":
        return Picture(key=chosen, histogram=line_example())
    if chosen == "figure-2":
        check_choice("grid-rows", [str(rows) for rows in GRID_ROWS], label="number of rows")
        rows = int(
            st.select_slider(
                "Rows n", GRID_ROWS, value=3000, key="grid-rows", bind="query-params",
                help="The paper does not say how many rows its second figure has.",
            )
        )  # fmt: skip
        return Picture(key=f"{chosen}|{rows}", histogram=grid_example(rows), grid=True)
    source = pick_source()
    provenance = str(source.provenance.kind)
    if source.provenance.is_private:
        if not is_steward():
            return Picture(key=source.key, histogram=None)
        provenance += " · not protected: made by the data's steward"
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    return Picture(
        key=source.key, histogram=dataset.histogram, provenance=provenance, private=source.provenance.is_private
    )


def rows_needed(*, cells: int, gamma: float, condition: str) -> int:
    """The fewest rows at which empty cells may stay empty."""
    low, high = 0, 1
    while lone_row_chance(cells=cells, n=high, condition=condition) > gamma:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        met = lone_row_chance(cells=cells, n=middle, condition=condition) <= gamma
        low, high = (low, middle) if met else (middle, high)
    return high


def _condition(histogram: Integers, *, gamma: float, condition: str) -> None:
    """Whether empty cells may stay empty, by the paper's condition and by the sharper one: public."""
    cells, n = len(histogram), int(histogram.sum())
    lines = []
    for each, name in (
        ("paper", "The paper's condition, 2k/n for k cells and n rows"),
        ("sharper", "Sharper, the worst population"),
    ):
        bound = lone_row_chance(cells=cells, n=n, condition=each)
        needed = rows_needed(cells=cells, gamma=gamma, condition=each)
        verdict = ("✓ met" if bound <= gamma else "✗ not met") + (", chosen" if each == condition else "")
        lines.append(
            f"- {name}: **{verdict}**. One of two given rows is alone in its cell with chance at most "
            f"{significant(min(bound, 1.0))}; γ = {exactly(gamma)} is allowed. It takes {needed:,} rows."
        )
    st.header("May empty cells stay empty?")
    st.markdown("\n".join(lines))
    st.caption(
        f"{cells:,} cells, {n:,} rows: both public, so this may be known before anything is drawn. Where the condition "
        "fails, every cell gets noise and the promise is the usual one."
    )


def _histograms(
    picture: Picture, histogram: Integers, *, epsilon: float, gamma: float, condition: str, seed: int
) -> LossFigure:
    """True, private, random-private; their losses; and what these grow with."""
    found: LossFigure = remembered(
        f"sparse|{picture.key}|{epsilon}|{gamma}|{condition}|{seed}",
        lambda: loss_figure(
            histogram, epsilon=epsilon, gamma=gamma, condition=condition, sampler=Preview(seed),
            simulations=SIMULATIONS,
        ),
    )  # fmt: skip
    dark, n = is_dark(), int(histogram.sum())
    st.header("The three histograms")
    top = int(max(histogram.max(), found.private[0].max(), found.random[0].max()))
    truth = f"true: {picture.provenance}"
    drawn = f"{truth} · simulated, preview sampler, seed {seed}"
    for place, (name, counts, badge) in zip(
        st.columns(3),
        (("true", histogram, truth), (PRIVATE, found.private[0], drawn), (RANDOM, found.random[0], drawn)),
        strict=True,
    ):
        with place:
            st.subheader(name[0].upper() + name[1:])
            figure = panel(counts=counts, name=name, top=top, grid=picture.grid, badge=badge, dark=dark)
            draw(figure, key=f"sparse_{name.split()[0]}_chart")
            numbers(figure, title=name, key=f"sparse_{name.split()[0]}_numbers")
    projected = st.toggle(
        "After the projection (free: post-processing)", value=True, key="sparse-projected", bind="query-params",
        help="Both are projected to the nearest histogram of n rows. That alone empties most cells again; how "
        "much it helps depends on how ties are settled, which the paper leaves open.",
    )  # fmt: skip
    left, right = st.columns(2)
    with left:
        st.subheader(f"Loss of {SIMULATIONS} simulations")
        figure = losses(found=found, projected=projected, badge=drawn, dark=dark)
        draw(figure, key="sparse_loss_chart")
        numbers(figure, title="losses", key="sparse_loss_numbers")
    with right:
        st.subheader("What the loss grows with")
        cells = len(histogram)
        figure = growth(
            cells=cells, full=int((histogram > 0).sum()), n=n, epsilon=epsilon, gamma=gamma, condition=condition,
            badge=(drawn + ", even cells") if projected else f"{truth} · exact means, nothing drawn",
            noise=_noise(cells, epsilon=epsilon, seed=seed) if projected else None, dark=dark,
        )  # fmt: skip
        draw(figure, key="sparse_growth_chart")
        numbers(figure, title="loss against cells", key="sparse_growth_numbers")
    guarantee = f"ε = {exactly(epsilon)}" + (f", γ = {exactly(gamma)}" if found.spared else "")
    st.markdown(
        f"Privacy: {guarantee} (replace one row) for the random-private histogram, ε = {exactly(epsilon)} for the "
        "private one, for each single release. :orange-badge[theory]"
    )
    return found


def _noise(cells: int, *, epsilon: float, seed: int) -> Integers:
    """Simulated noise for histograms of every size up to the largest shown."""
    nothing = np.zeros((1, max(MOST_CELLS, cells)), dtype=np.int64)
    return Preview(seed).noisy_counts(nothing, epsilon=epsilon, sensitivity=2, trials=GROWTH_SIMULATIONS)
