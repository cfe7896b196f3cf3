"""The mean without bounds: the part of its theorem that is a number, the asymptotic part, and its previews."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import streamlit as st
from typing_extensions import override

from dpcore.core import Floats, exactly, rounded_up
from dpcore.data.columns import Number
from dpcore.mechanisms import entry
from dpcore.mechanisms.robust.unbounded_mean import UnboundedMean, exception_chance, max_exceptions, scale_change, slack
from dplab.robust import TRIALS, mean_errors
from dplab.sweep import EPSILON_GRID as EPSILONS
from dprelease.requests.coverage import bounds
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Rule
from pages.data.upload import plural as plural
from pages.one_number.controls import OneNumberRequest
from pages.one_number.outcome import Outcome
from pages.shell.tasks.memory import remember

MEANS = {"unbounded_mean": "without bounds", "clipped_mean": "clipped to the declared bounds"}


class MeanOutcome(Outcome[UnboundedMean]):
    """Errors of the mean without bounds, and of the mean that is cut off at the declared bounds.

    Attributes:
        domain: the numbers; rows without one are left out.
        mean: the true mean.
        errors: 95% errors of the two means, (2,).
        over_epsilon: the same at each ε of the grid, (E, 2).
    """

    @override
    def __init__(self, request: OneNumberRequest, mechanism: UnboundedMean) -> None:
        super().__init__(request, mechanism)
        self.domain = self.leave_out_missing()
        self.over_epsilon: Floats = remember(
            f"mean_errors|{request.source.key}|{mechanism!r}|{request.seed}",
            lambda: np.array([self._errors_at(epsilon)[1] for epsilon in EPSILONS]),
        )
        self.mean, self.errors = self._errors_at(mechanism.epsilon)

    def _errors_at(self, epsilon: float) -> tuple[float, Floats]:
        """Return the true mean, and the 95% errors of both means at an ε."""
        means = [dataclasses.replace(self.mechanism, epsilon=epsilon), entry("clipped_mean").make(epsilon=epsilon)]
        return mean_errors(means, self.dataset, self.problem, seed=self.request.seed)

    @override
    def draw_headline(self) -> None:
        unit = self.domain.unit
        unbounded, clipped = (rounded_up(float(each)) for each in self.errors)
        st.header(f"95 in 100 answers have an error of at most {unbounded} {unit}")
        st.markdown(f"For the clipped mean: at most **{clipped} {unit}**. :blue-badge[simulated]")

    @override
    def draw_answer(self) -> None:
        request, n, unit = self.request, self.dataset.n, self.domain.unit
        exceptions = max_exceptions(n=n, gamma=self.mechanism.gamma)
        left, right = st.columns([3, 2])
        right.warning("For previews only.")
        with right.container(border=True):
            st.subheader("Proved, with explicit constants")
            st.markdown(
                f"With probability 1 − γ₂ over random data, all but {exceptions:,} of {n // 2:,} pairs of "
                "people differ by no more than the noise covers. **γ₂ = "
                f"{rounded_up(exception_chance(n=n, exceptions=exceptions))}**. :orange-badge[theory]"
            )
        with right.container(border=True):
            st.subheader("Proved only asymptotically")
            st.markdown(
                "That neighbouring data sets have nearly the same noise scale (**γ₁**), and what the "
                "change of scale reveals (**η**). No finite number is known. :gray-badge[not protected]"
            )
            with st.expander("Conditions (10) and (11)"):
                self._conditions(exceptions)
        with left:
            picture = over_epsilon(self.over_epsilon, domain=self.domain, epsilon=self.mechanism.epsilon)
            request.draw(picture, key="robust_mean", title="error over ε")
            st.caption(
                f"True mean {self.mean:.4g} {unit} of {plural(n, 'row')} that have a number. "
                f"{self._rows_left_out()}Numbers are clipped to {' and '.join(bounds(self.domain))}.",
                help=f"{TRIALS:,} previews each, ε = {exactly(self.mechanism.epsilon)}, seed {request.seed}. "
                "Answers are rounded to a cell. A few extreme people do not increase the noise, if their "
                "share is below about γ₂.",
            )

    def _conditions(self, exceptions: int) -> None:
        """Draw the paper's two conditions, and η at the change of the noise scale on these rows."""
        st.latex(r"P\bigl(s_n(X)\le e^{\beta}s_n(X')\bigr)\ge 1-\gamma_1")
        st.latex(r"P\bigl(\tfrac1n h\le\min\{s_n(X),s_n(X')\}\bigr)\ge 1-\gamma_2")
        state = self.mechanism.prepare(self.dataset, self.problem)
        change = scale_change(state.differences, exceptions=exceptions)
        here = "nothing bounds β" if math.isinf(change) else f"β = {rounded_up(change)}"
        eta = slack(epsilon=self.mechanism.epsilon, change=change)
        st.markdown(
            "s is the noise scale, h the distance of two people. By the Bahadur–Kiefer representation of quantiles, "
            "(10) holds for large n with β of order 1/√n. Equation (9) then gives **η = e^(−α/2β)**, α = ε/2. "
            f"On these rows, replacing one changes s by a factor of at most e^β: {here}, so η = "
            f"{rounded_up(min(1.0, eta))}. For other rows β may be larger. :gray-badge[true]"
        )

    def _rows_left_out(self) -> str:
        rows = self.request.dataset().n - self.dataset.n
        return f"{plural(rows, 'row')} without one {'is' if rows == 1 else 'are'} left out. " if rows else ""


def over_epsilon(errors: Floats, *, domain: Number, epsilon: float) -> Picture:
    """Return the picture of either mean's errors (E, 2) over ε, in the unit of the data."""
    smallest = domain.width / 2  # answers are rounded to a cell
    marks: list[Mark] = [Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}", width=1.5)]
    for (key, name), off in zip(MEANS.items(), errors.T, strict=True):
        drawn, role = np.maximum(off, smallest), f"mechanism:{key}"
        hover = [f"{name} at ε = {at:g}: {error:.3g} {domain.unit}" for at, error in zip(EPSILONS, off, strict=True)]
        marks += [
            Curve(role=role, name=name, legend=False, x=EPSILONS, y=drawn, hover=()),
            Dots(role=role, name=name, x=EPSILONS, y=drawn, size=9, hover=hover),
        ]
    place = int(np.argmin(np.abs(np.log(np.array(EPSILONS) / epsilon))))
    first, second = (rounded_up(float(each)) for each in errors[place])
    return Picture(
        title="Error of the mean over ε",
        x=Axis(title="← more private · ε · more accurate →", log=True, form="~g", ticks=(0.01, 0.1, 1, 10)),
        y=Axis(title=f"95% error ({domain.unit})" if domain.unit else "95% error", log=True),
        marks=marks,
        sentence=f"Near ε = {EPSILONS[place]:g}, the error of 95 in 100 previews is at most {first} {domain.unit} "
        f"without bounds and {second} {domain.unit} clipped.",
        caption="Errors below half a cell are shown as half a cell." * bool((errors < smallest).any()),
        table={"ε": list(EPSILONS), **{name: off.tolist() for name, off in zip(MEANS.values(), errors.T, strict=True)}},
        height=240,
    )
