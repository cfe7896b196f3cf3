"""Settings of random privacy: the histogram to release, ε, γ, the condition and the seed."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpcore.core import Integers
from dpcore.mechanisms import entry
from dplab.sparse import Growth, LossFigure, grid_example, growth, line_example, simulate, simulated_noise
from pages.data.picker import pick_source
from pages.shell.controls import Value, choice, control, seed, stops
from pages.shell.private.data_in_use import escaped, link_to_data
from pages.shell.status import may_show
from pages.shell.tasks.memory import remember

SIMULATIONS = 100
FIGURES = {
    "figure-1": "Figure 1 of the paper: 25 cells",
    "figure-2": "Figure 2 of the paper: 400 cells",
    "data": "Other data",
}
GRID_ROWS = (500, 1000, 3000, 8000, 30_000)
STEWARD = " · not protected: made by the data owner"


@dataclass(frozen=True, kw_only=True)
class RandomPrivacySettings:
    """Parameters of a random-private release, and the seed of its previews.

    Attributes:
        epsilon: privacy budget.
        gamma: share of the data sets without promise.
        condition: by which empty cells may stay empty.
        seed: of previews.
    """

    epsilon: float
    gamma: float
    condition: str
    seed: int

    @property
    def values(self) -> dict[str, Value]:
        """Parameters by their names in the catalogue."""
        return {"epsilon": self.epsilon, "gamma": self.gamma, "condition": self.condition}

    def simulate(self, key: str, histogram: Integers) -> LossFigure:
        """Return simulated releases of a histogram (k,), remembered under the histogram's key."""
        return remember(
            f"random-privacy|{key}|{self!r}",
            lambda: simulate(
                histogram, epsilon=self.epsilon, gamma=self.gamma, condition=self.condition, seed=self.seed,
                times=SIMULATIONS,
            ),
        )  # fmt: skip

    def growth(self, histogram: Integers, *, projected: bool = True) -> Growth:
        """Return the mean losses of histograms as large and as full as this one (k,), for more and more cells."""
        cells = len(histogram)
        noise = simulated_noise(cells, epsilon=self.epsilon, seed=self.seed) if projected else None
        return growth(
            cells=cells, full=int((histogram > 0).sum()), n=int(histogram.sum()), epsilon=self.epsilon,
            gamma=self.gamma, condition=self.condition, noise=noise,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class HistogramChoice:
    """The histogram to release.

    Attributes:
        key: of what is remembered of it.
        histogram: counts (k,); None if they may not be seen.
        grid: True where the cells are a square map in row order.
        provenance: what the rows are, in words.
        private: True where the rows are private.
    """

    key: str
    histogram: Integers | None
    grid: bool = False
    provenance: str = "generated"
    private: bool = False


def choose_histogram() -> HistogramChoice:
    """Return one of the paper's two figures, or the histogram of the data in use."""
    figure = choice("What to release", FIGURES, key="sparse")
    if figure != "data":
        link_to_data(f"Public · {escaped(FIGURES[figure])}")
    if figure == "figure-1":
        return HistogramChoice(key=figure, histogram=line_example())
    if figure == "figure-2":
        help_text = "The paper does not say how many rows its second figure has. At γ = 0.1 its condition needs 8,000."
        rows = int(stops("Rows n", GRID_ROWS, 8000, key="grid-rows", help_text=help_text))
        return HistogramChoice(key=f"{figure}|{rows}", histogram=grid_example(rows), grid=True)
    source = pick_source()
    if not may_show(source):
        return HistogramChoice(key=source.key, histogram=None)
    private = source.provenance.is_private
    dataset = remember(f"dataset|{source.key}", source.dataset)
    return HistogramChoice(
        key=source.key, histogram=dataset.histogram, private=private,
        provenance=f"{source.provenance.kind}{STEWARD if private else ''}",
    )  # fmt: skip


def choose_settings() -> RandomPrivacySettings:
    """Return the settings, from the link and the controls."""
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
        return RandomPrivacySettings(epsilon=epsilon, gamma=gamma, condition=condition, seed=seed())
