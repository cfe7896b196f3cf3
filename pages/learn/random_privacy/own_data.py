"""The Random privacy page: the paper's figures or any data, losses, what the loss grows with, and the warning."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from dpcore.core import Guarantee, Integers, Neighbours, exactly, rounded_up
from dpcore.mechanisms import entry
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import (
    LossFigure,
    grid_example,
    growth,
    line_example,
    rows_needed,
    simulate,
    simulated_noise,
)
from pages.charts.component import draw_with_table
from pages.charts.picture import Picture
from pages.charts.words import significant
from pages.data.picker import pick_source
from pages.learn.random_privacy.charts import PRIVATE, RANDOM, growth_curves, losses, panel
from pages.learn.random_privacy.composition import plan
from pages.learn.random_privacy.warning import warning
from pages.shell.controls import Value, audit_this, choice, control, seed, stops
from pages.shell.present import on_stage, presenting
from pages.shell.session import in_link, remembered
from pages.shell.status import may_show
from pages.shell.theorem import all_digits, lead

SIMULATIONS = 100
FIGURES = {
    "figure-1": "Figure 1 of the paper: 25 cells",
    "figure-2": "Figure 2 of the paper: 400 cells",
    "data": "Other data",
}
GRID_ROWS = (500, 1000, 3000, 8000, 30_000)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A histogram to release (None if it may not be seen), and what to call it."""

    key: str
    histogram: Integers | None
    grid: bool = False
    provenance: str = "generated"
    private: bool = False

    def show(self, picture: Picture, *, name: str, title: str, badge: str) -> None:
        """A picture of it and its numbers; kept as a file only where anybody may have the data."""
        draw_with_table(picture, key=f"sparse_{name}", badge=badge, title=title, download=not self.private)


def own_data() -> None:
    """Read the controls, then show what they do."""
    lead(
        "With δ = 0 a private histogram must blur empty cells too. **Random differential privacy** may leave them "
        "empty.",
        "With many empty cells the few full ones may drown in noise, though projecting to n rows takes much of it away "
        "again. Random differential privacy asks less: rows are independent draws from one population, and for a share "
        "**γ** of the draws nothing is promised. Then cells that hold nobody may stay empty.",
    )
    chosen = _choose()
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
        drawn = seed()
    if chosen.histogram is None:
        st.info(
            "These data are private, and losses against them would reveal them, so nothing is computed here. Take the "
            "paper's figures, a public stand-in or generated data, or, if you are their steward, say so above."
        )
    else:
        _condition(chosen.histogram, gamma=gamma, condition=condition)
        found = _histograms(chosen, chosen.histogram, epsilon=epsilon, gamma=gamma, condition=condition, seed=drawn)
        plan(chosen.histogram, found=found, key=chosen.key, epsilon=epsilon, gamma=gamma, condition=condition)
    told: dict[str, Value] = {"epsilon": epsilon, "gamma": gamma, "condition": condition}
    audit_this(machine, told, Neighbours.REPLACE_ONE)
    warning(epsilon=epsilon, gamma=gamma, condition=condition, seed=drawn)


def _choose() -> Chosen:
    """One of the paper's two figures, or the data of the picker."""
    figure = choice("What to release", FIGURES, key="sparse")
    if figure == "figure-1":
        return Chosen(key=figure, histogram=line_example())
    if figure == "figure-2":
        told = "The paper does not say how many rows its second figure has. At γ = 0.1 its condition needs 8,000."
        rows = int(stops("Rows n", GRID_ROWS, 8000, key="grid-rows", help_text=told))
        return Chosen(key=f"{figure}|{rows}", histogram=grid_example(rows), grid=True)
    source = pick_source()
    provenance = str(source.provenance.kind)
    if not may_show(source):
        return Chosen(key=source.key, histogram=None)
    private = source.provenance.is_private
    if private:
        provenance += " · not protected: made by the data's steward"
    dataset = remembered(f"dataset|{source.key}", source.dataset)
    return Chosen(key=source.key, histogram=dataset.histogram, provenance=provenance, private=private)


def _condition(histogram: Integers, *, gamma: float, condition: str) -> None:
    """Whether empty cells may stay empty, by the paper's condition and by the sharper one: public."""
    cells, n = len(histogram), int(histogram.sum())
    lines, met = [], False
    for each, name in (
        ("paper", "The paper's condition, 2k/n for k cells and n rows"),
        ("sharper", "Sharper, the worst population"),
    ):
        bound = lone_row_chance(cells=cells, n=n, condition=each)
        needed = rows_needed(cells=cells, gamma=gamma, condition=each)
        met = met or (each == condition and bound <= gamma)
        verdict = ("✓ met" if bound <= gamma else "✗ not met") + (", chosen" if each == condition else "")
        lines.append(
            f"- {name}: **{verdict}**. One of two given rows is alone in its cell with chance at most "
            f"{significant(min(bound, 1.0))}; γ = {exactly(gamma)} is allowed. It takes {needed:,} rows."
        )
    st.header(f"Empty cells may {'stay empty' if met else 'not stay empty'}")
    why = st.expander("Why?")
    with on_stage("theorem") if presenting() else why:
        st.latex(r"\Pr[\text{alone in a cell}]\le\frac{2k}{n}\le\gamma")
    with why:
        st.markdown("\n".join(lines))
        st.markdown(
            f"{cells:,} cells, {n:,} rows: both public, so this may be known before anything is drawn. Where the "
            "condition fails, every cell gets noise and the promise is the usual one."
        )


def _histograms(
    chosen: Chosen, histogram: Integers, *, epsilon: float, gamma: float, condition: str, seed: int
) -> LossFigure:
    """True, private, random-private; their losses; and what these grow with."""
    found: LossFigure = remembered(
        f"sparse|{chosen.key}|{epsilon}|{gamma}|{condition}|{seed}",
        lambda: simulate(histogram, epsilon=epsilon, gamma=gamma, condition=condition, seed=seed, times=SIMULATIONS),
    )
    st.header("The three histograms")
    panels = (("true", histogram), (PRIVATE, found.private[0]), (RANDOM, found.random[0]))
    top = int(max(counts.max() for _, counts in panels))
    truth = f"true: {chosen.provenance}"
    drawn = f"{truth} · simulated, preview sampler, seed {seed}"
    for place, (name, counts) in zip(st.columns(3), panels, strict=True):
        with place:
            st.subheader(name[0].upper() + name[1:])
            picture = panel(counts=counts, name=name, top=top, grid=chosen.grid)
            chosen.show(picture, name=name.split()[0], title=name, badge=truth if name == "true" else drawn)
    projected = st.toggle(
        "After the projection",
        value=True,
        key=in_link("sparse-projected"),
        bind="query-params",
        help="Free: post-processing. Both are projected to the nearest histogram of n rows. That alone "
        "empties most cells again; how much it helps depends on how ties are settled, which the paper leaves open.",
    )
    left, right = st.columns(2)
    with left:
        st.subheader(f"Loss of {SIMULATIONS} simulations")
        chosen.show(losses(found=found, projected=projected), name="loss", title="losses", badge=drawn)
    with right:
        st.subheader("What the loss grows with")
        cells = len(histogram)
        grown = growth(
            cells=cells,
            full=int((histogram > 0).sum()),
            n=int(histogram.sum()),
            epsilon=epsilon,
            gamma=gamma,
            condition=condition,
            noise=simulated_noise(cells, epsilon=epsilon, seed=seed) if projected else None,
        )
        badge = f"{drawn}, even cells" if projected else f"{truth} · exact means, nothing drawn"
        chosen.show(growth_curves(grown), name="growth", title="loss against cells", badge=badge)
    private = Guarantee(epsilon=epsilon, neighbours=Neighbours.REPLACE_ONE)
    guarantee = replace(private, gamma=gamma if found.spared else 0.0)
    st.markdown(
        f"Privacy: {guarantee.sentence()} for random privacy, ε = {rounded_up(private.epsilon)} for the private one. "
        ":orange-badge[theory]",
        help=all_digits(guarantee),
    )
    return found
