"""Subsample and aggregate for the sign of a difference between two groups.

Two questions: which of two labels is more common, and which of two groups (the labels of one column) has the larger
median of a number (another column). A median has no useful sensitivity, and the sign of a difference of two of them has
none at all: one row may turn it. So it is asked of many small subsamples, and answered if these agree.

Why it is private: as subsample and aggregate is for any question with few answers; see there. A subsample in which both
medians lie in one cell, or which has no row of one of the groups, answers that neither is larger.

Notation: as there; the medians are lower medians of the rows that fit, told apart by the cells of the grid.

References:
    Nissim, Raskhodnikova and Smith (2007); Notes on stability-based mechanisms, section 2, Theorems 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpcore.core import Domain, DomainType, Entry, ParameterError, param
from dpcore.data.product import is_groups
from dpcore.mechanisms.subsamples.aggregate import REFERENCES, TINY, Question, SubsampleAggregate
from dpcore.mechanisms.subsamples.votes import LargerMiddle, Middle
from dpcore.queries.ranges import Cells


def check_groups(first: int, second: int, *, labels: int) -> None:
    """Raise ParameterError unless two different labels are named."""
    if first == second or max(first, second) >= labels:
        raise ParameterError(f"Two different groups are needed, numbered from 0 to {labels - 1}.")


@dataclass(frozen=True, kw_only=True)
class LargerGroup(SubsampleAggregate):
    """Which of two labels is more common? The sign of a difference; the first on a tie."""

    first: int = param(0, 0, 65_535, label="First group", help="Number of its label, counted from 0.")
    second: int = param(1, 0, 65_535, label="Second group", help="Number of its label, counted from 0.")

    @override
    def question(self, domain: Domain) -> Question:
        """Two answers; all other cells are ignored."""
        check_groups(self.first, self.second, labels=domain.size)
        groups = np.full(domain.size, 2)
        groups[[self.first, self.second]] = 0, 1
        return Question(
            vote=Middle(answers=2),
            groups=groups,
            counted=2,
            values=np.array([self.first, self.second]),
            names=(domain.describe(self.first), domain.describe(self.second)),
        )


@dataclass(frozen=True, kw_only=True)
class LargerMedian(SubsampleAggregate):
    """Which of two groups has the larger median? The sign of a difference, or that both lie in one cell."""

    first: int = param(0, 0, 65_535, label="First group", help="Number of its label, counted from 0.")
    second: int = param(1, 0, 65_535, label="Second group", help="Number of its label, counted from 0.")

    @override
    def question(self, domain: Domain) -> Question:
        """Three answers; each group is released as its first cell, neither as the last cell of all."""
        assert is_groups(domain)
        check_groups(self.first, self.second, labels=domain.shape[0])
        cells = domain.shape[1]
        groups = np.full(domain.size, 2 * cells)
        for place, label in enumerate((self.first, self.second)):
            groups[label * cells : (label + 1) * cells] = place * cells + np.arange(cells)
        first, second = (domain.columns[0].describe(each) for each in (self.first, self.second))
        return Question(
            vote=LargerMiddle(cells=cells),
            groups=groups,
            counted=2 * cells,
            values=np.array([self.first * cells, self.second * cells, domain.ordered]),
            names=(f"{first}: larger median", f"{second}: larger median", "both in one cell"),
        )


ENTRIES = (
    Entry(
        key="subsample_larger",
        mechanism=LargerGroup,
        title="Larger of two groups, by subsamples",
        story="Computes which of two groups is larger in many small random subsamples, and answers if they agree.",
        domains=(DomainType.LABELS,),
        queries=(Cells,),
        references=REFERENCES,
        tiny=TINY,
    ),
    Entry(
        key="subsample-groups",
        mechanism=LargerMedian,
        title="Larger median of two groups, by subsamples",
        story="Computes which of two groups has the larger median in many small random subsamples, and answers "
        "if they agree.",
        domains=(DomainType.GROUPS,),
        queries=(Cells,),
        references=REFERENCES,
        tiny=TINY | {"rows": 2},
        tiny_size=5,
    ),
)
