"""Private agnostic learner: one rule of a class, the likelier the fewer rows it errs on.

The exponential mechanism over a class of rules (Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith 2011).
Rows need not follow any rule of the class: the learner is agnostic.

Why it is private: a rule's score is minus the number of rows on which it errs. One row, added, removed or replaced,
moves each score by at most 1, so a choice with weights e^(-epsilon · errors/2) is epsilon-DP. The class is public: it
is written without a look at the rows.

Accuracy: a rule with t errors more than the best has chance at most e^(-epsilon t/2) times that of the best. Over all
|H| rules, the chosen one has at most (2/epsilon) · ln(|H|/beta) errors more than the best, except with chance beta.

About the population: by Hoeffding's inequality all |H| error rates of n independent rows lie within
√(ln(2|H|/beta)/(2n)) of the population's, and both ends of a comparison with the best rule may be off by that much.

Notation: epsilon = ε; |H| = number of rules; beta = β.

References:
    Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011), Theorem 3.3; McSherry and Talwar (2007), Theorem 6;
    Blum, Ligett and Roth (2013), section 1.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import (
    Bound,
    BoundKind,
    Dataset,
    DomainType,
    Entry,
    ErrorUnit,
    Floats,
    Integers,
    ParameterError,
    Problem,
    PureMechanism,
    Release,
    State,
    epsilon_param,
    finish,
    rows_up,
)
from dpcore.queries.hypotheses import Hypotheses
from dpcore.randomness import Choice, Sampler
from dpcore.randomness.laws import exponential_law

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerState(State):
    """Rows on which each rule errs, (|H|,)."""

    errors: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class RuleRelease(Release):
    """The number of the chosen rule, (T,)."""

    published: ClassVar[tuple[str, ...]] = ("chosen",)
    chosen: Integers

    @override
    def frame(self) -> pd.DataFrame:
        """One row per trial: trial, the rule in words, its number in the class."""
        import pandas as pd

        words = [self.problem.queries.describe(index) for index in self.chosen.tolist()]
        return pd.DataFrame({"trial": np.arange(self.trials), "rule": words, "number": self.chosen})


@dataclass(frozen=True, kw_only=True)
class PrivateLearner(PureMechanism):
    """A private choice among all rules of a class, by the rows on which they err."""

    releases: ClassVar[str] = "answers"

    epsilon: float = epsilon_param()

    @override
    def accuracy(self, problem: Problem, beta: float) -> Bound:
        """Errors above those of the best rule of the class, whatever the rows."""
        count = problem.queries.count
        rows = 2 / self.epsilon * math.log(count / beta)
        return Bound(
            value=rows / problem.n,
            unit=ErrorUnit.EXCESS,
            kind=BoundKind.GUARANTEE,
            statement=f"The best of {count:,} rules errs on some rows. With confidence {1 - beta:g} the released rule "
            f"errs on at most {rows_up(rows)} more.",
            formula=r"\mathrm{err}(\hat h)\le\min_{h\in H}\mathrm{err}(h)+\frac{2}{\varepsilon n}\ln\frac{|H|}{\beta}",
            reference="Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011), Theorem 3.3",
            beta=beta,
            assumptions=problem.unchecked_n,
            rows_needed=math.floor(rows) + 1,
        )

    @override
    def prepare(self, dataset: Dataset, problem: Problem) -> LearnerState:
        queries = problem.queries
        if not isinstance(queries, Hypotheses):
            raise ParameterError("This mechanism chooses a rule of a class of rules.")
        return LearnerState(problem=problem, errors=finish(queries.errors(dataset.records)))

    def law(self, errors: Integers) -> Floats:
        """Return the chance of each rule, (|H|,), by the exponential mechanism."""
        scores, open_to = -errors[None, :], np.ones((1, len(errors)), dtype=np.bool_)
        law: Floats = exponential_law(scores, open_to, rate=self.epsilon / 2, rule="exponential")[0]
        return law

    @override
    def run(self, state: LearnerState, sampler: Sampler, trials: int = 1) -> RuleRelease:
        draw = Choice(-state.errors[None, :], epsilon=self.epsilon, sensitivity=1)
        return self.release(RuleRelease, state, sampler, trials, chosen=sampler.draw(draw, trials))

    @override
    def possible(self, release: Release) -> bool:
        """One rule of the class."""
        assert isinstance(release, RuleRelease)
        in_class = (release.chosen >= 0) & (release.chosen < release.problem.queries.count)
        return len(in_class) == 1 and bool(in_class.all())


ENTRIES = (
    Entry(
        key="learner",
        mechanism=PrivateLearner,
        title="Private learner",
        story="Chooses one rule of your class that predicts an attribute. The fewer rows a rule errs on, the more "
        "likely it is.",
        domains=(DomainType.YES_NO,),
        queries=(Hypotheses,),
        references=("Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011)", "McSherry and Talwar (2007)"),
        weights=r"\Pr[h]\propto\exp\Bigl(-\frac{\varepsilon n}{2}\,\mathrm{err}(h)\Bigr)",
    ),
)
