"""Marginals by polynomials: few small marginals with noise, from which every larger one is extrapolated.

"Any of these k attributes" depends only on how many of the k a row has. A polynomial of low degree in that number comes
close to the step from 0 to 1, and its average over rows needs only the shares of rows that have all of 1, 2, ... degree
attributes. Those are far fewer than the marginals of k attributes, so each gets far less noise; the price is a bias of
at most gamma. Which polynomial and which noise per level follows from the public numbers n, d, k and epsilon; where all
k-way marginals with noise of their own would be closer, they are released instead.

Why it is private: one row moves m_i counts of level i by 1 each (see ``dpcore/mechanisms/marginals/noise.py``). Laplace
noise of scale m_i/epsilon_i on each level costs epsilon_i, and the epsilon_i add up to epsilon. Gaussian noise is
calibrated on a proved delta of all levels together (``dpcore/privacy/gaussian_vectors.py``). What is read off the noisy
counts is post-processing.

Notation: epsilon = ε, delta = δ; the paper's k = width, its t = degree, gamma = γ the bias, d attributes.

References:
    Thaler, Ullman and Vadhan (2012), Faster Algorithms for Privately Releasing Marginals, Theorem 1.1.
    Canonne, Kamath and Steinke (2020), The Discrete Gaussian for Differential Privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    Guarantee,
    Problem,
    delta_param,
    epsilon_param,
    param,
    rounded_up,
)
from dpcore.mechanisms.marginals.plans import METHODS, Budget, MarginalsPlan, counts_at, levels_counted, plan_for
from dpcore.mechanisms.marginals.polynomials import BASES
from dpcore.mechanisms.marginals.release import MarginalRelease, MarginalState
from dpcore.mechanisms.marginals.tails import worst_noise
from dpcore.privacy.persons import GaussianMechanism
from dpcore.queries.at_least import AtLeast
from dpcore.queries.counting import counted, pack
from dpcore.randomness import Sampler


@dataclass(frozen=True, kw_only=True)
class PolynomialMarginals(GaussianMechanism):
    """Noisy counts of small sets of attributes, and a polynomial that answers larger queries from them."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()
    delta: float = delta_param()
    noise: str = param(
        "laplace",
        label="Noise",
        choices=("laplace", "gaussian"),
        help="Laplace noise uses ε only. Gaussian noise also uses δ, and is far smaller for many counts at once.",
    )
    method: str = param(
        "best",
        label="Method",
        choices=METHODS,
        help="“best” chooses the noise-aware polynomial or the marginals themselves, whichever has the smaller "
        "predicted error. “chebyshev” is the paper's polynomial. It has no error where none is set "
        "(any-of) or all are (all-of). “chebyshev-rescaled” reduces its bias from γ to γ/(1 + γ) at both "
        "ends. “minimax” has the smallest bias of its degree.",
    )
    degree: int = param(
        3,
        1,
        6,
        label="Highest degree",
        symbol="t",
        help="Sets of at most this many attributes are counted. The noise-aware polynomial may use fewer.",
    )
    basis: str = param(
        "best",
        label="Basis",
        choices=("best", *BASES),
        help="Count the rows that have all attributes of a set, or the rows that have none of them.",
    )

    @property
    def budget(self) -> Budget:
        """Budget of the noise."""
        return Budget(epsilon=self.epsilon, delta=self.delta if self.noise == "gaussian" else 0.0)

    def plan(self, problem: Problem) -> MarginalsPlan:
        """Return the public plan of the release."""
        return plan_for(problem, self.budget, method=self.method, degree=self.degree, basis=self.basis)

    @override
    def guarantee(self, problem: Problem) -> Guarantee:
        """epsilon-DP with Laplace noise, (epsilon, delta) with Gaussian noise, either relation."""
        return Guarantee(epsilon=self.epsilon, delta=self.budget.delta, neighbours=problem.neighbours)

    @override
    def unsuitable(self, problem: Problem) -> str:
        """Return that nothing would be drawn, where the plan is a constant; it depends on public numbers alone."""
        return "" if self.plan(problem).noise else CONSTANT

    @override
    def gaussians(self, problem: Problem) -> tuple[tuple[float, int, int], ...]:
        """One draw for each level; none with Laplace noise."""
        queries = problem.queries
        if self.noise == "laplace" or not isinstance(queries, AtLeast):
            return ()
        return tuple((each.scale, counts_at(queries, each.level), each.moved) for each in self.plan(problem).noise)

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Bias gamma, and the noise of all answers by Chernoff's bound and a union bound over the class."""
        plan = self.plan(problem)
        queries = problem.queries
        assert isinstance(queries, AtLeast)
        noise = worst_noise(plan, queries, laplace=not self.budget.delta, beta=beta) / problem.n
        return Bound(
            value=plan.gamma + noise,
            kind=BoundKind.GUARANTEE,
            statement=f"With confidence {1 - beta:g}, none of {queries.count:,} answers has an error above "
            f"{rounded_up(plan.gamma)} (bias) plus {rounded_up(noise)} (noise), by {plan.words}.",
            formula=r"\alpha\le\gamma+\frac1n\min_{\lambda>0}\frac1\lambda\Bigl(\sum_j\ln\mathbb{E}e^{\lambda w_jZ_j}"
            r"+\ln\frac{2|Q|}{\beta}\Bigr)"
            if not self.budget.delta
            else r"\alpha\le\gamma+\frac1n\sqrt{2\ln\tfrac{2|Q|}{\beta}\;\textstyle\sum_jw_j^2\sigma_j^2}",
            reference="Thaler, Ullman and Vadhan (2012); Chernoff's bound, union bound over the class",
            beta=beta,
            assumptions=problem.unchecked_n,
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> MarginalState:
        """Counts of all sets up to the size the method may need."""
        queries = problem.queries
        assert isinstance(queries, AtLeast)
        size = levels_counted(queries, method=self.method, degree=self.degree)
        return MarginalState(problem=problem, counts=counted(pack(dataset.records), size=size), rows=dataset.n)

    @override
    def run(self, state: MarginalState, sampler: Sampler, trials: int = 1) -> MarginalRelease:
        plan = self.plan(state.problem)
        levels = [
            sampler.draw(noise.draw(counts), trials)
            for noise, counts in zip(plan.noise, state.protected(plan), strict=True)
        ]
        return self.release(MarginalRelease, state, sampler, trials, plan=plan, levels=tuple(levels))


CONSTANT = (
    "At this n and ε every answer would be the same constant: the noise would be larger than the "
    "information. Nothing is sampled or charged. Choose a larger ε or n, or another method."
)
REFERENCES = ("Thaler, Ullman and Vadhan (2012), Theorem 1.1",)

ENTRIES = (
    Entry(
        key="marginals-polynomial",
        mechanism=PolynomialMarginals,
        presets={"noise": "laplace", "delta": 1e-6},
        title="Marginals by a polynomial",
        story="Releases small marginals with noise, and computes large marginals from them with a polynomial "
        "that approximates a step.",
        domains=(DomainType.YES_NO,),
        queries=(AtLeast,),
        references=REFERENCES,
    ),
    Entry(
        key="marginals-polynomial-gaussian",
        mechanism=PolynomialMarginals,
        presets={"noise": "gaussian"},
        title="Marginals by a polynomial, Gaussian noise",
        story="The same with Gaussian noise: smaller noise for many counts at once, but δ is above 0.",
        domains=(DomainType.YES_NO,),
        queries=(AtLeast,),
        references=(*REFERENCES, "Canonne, Kamath and Steinke (2020)"),
    ),
    Entry(
        key="marginals-direct",
        mechanism=PolynomialMarginals,
        presets={"method": "direct", "degree": 1, "basis": "ones"},
        title="Marginals themselves",
        story="Releases every k-way marginal with its own noise. There is no bias, but with very many marginals "
        "the noise is too large.",
        domains=(DomainType.YES_NO,),
        queries=(AtLeast,),
        references=("Dwork, McSherry, Nissim and Smith (2006)",),
    ),
)
