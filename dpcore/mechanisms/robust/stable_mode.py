"""Stable mode: the most common category, exactly, or no answer.

Propose, test, release (Dwork and Lei 2009) in general: propose an answer, test privately how many rows must change
before it would be another one, and release it if they are many. The stable median is one case, and this is another:
only the count of rows differs. It refuses less than subsamples do: rows are counted, not estimated by votes.

Why it is private: as the stable median is, for any statistic. One row changes the number of rows that must change by at
most 1, since they are counted on a shortest way to another answer.

Notation: epsilon = ε, delta = δ; c_w the count of the most common label w, the first one on a tie. Label v becomes the
most common once it has gained g = c_w - c_v rows on w, one more if it stands after w. A replaced row gains at most two,
an added or removed one gains one; so the stability is the smallest ceil(g/2), or the smallest g, over all v. Where no
row has a label, the answer is the reserved cell; so no more rows are counted than have one.

References:
    Dwork and Lei (2009), propose-test-release; Notes on stability-based mechanisms, section 1; Desfontaines, Voss,
    Gipson and Mandayam (2022), the optimal rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import DomainType, Entry, Integers, Neighbours, Problem
from dpcore.mechanisms.robust.stable_median import StableAnswer
from dpcore.queries.ranges import Cells


@dataclass(frozen=True, kw_only=True)
class StableMode(StableAnswer):
    """The most common label, or nothing. Rows without a label are ignored."""

    noun: ClassVar[str] = "most common category"

    @override
    def stability(self, histogram: Integers, problem: Problem) -> tuple[int, int]:
        counts = histogram[: problem.domain.ordered]
        labelled, most = int(counts.sum()), int(np.argmax(counts))
        if not labelled:
            return problem.domain.ordered, 1
        gaps = np.delete(counts[most] - counts + (np.arange(len(counts)) > most), most)
        step = 2 if problem.neighbours is Neighbours.REPLACE_ONE else 1
        return most, int((-(-gaps // step)).min(initial=labelled))

    @override
    def rows_needed(self, stable: int, neighbours: Neighbours) -> int:
        """All rows with the first label."""
        return max(stable, 2 * stable - 2 if neighbours is Neighbours.REPLACE_ONE else 0)

    @override
    def reach(self, problem: Problem) -> float:
        """All rows with either label; the later of two needs as many rows as it is stable."""
        return (problem.n + 1) // 2 if problem.neighbours is Neighbours.REPLACE_ONE else math.inf


ENTRIES = (
    Entry(
        key="stable-mode",
        mechanism=StableMode,
        title="Most common category, or no answer",
        story="The exact most common category, or no answer. The more rows must change before it does, the more likely "
        "the answer.",
        domains=(DomainType.LABELS,),
        queries=(Cells,),
        references=("Dwork and Lei (2009)", "Desfontaines, Voss, Gipson and Mandayam (2022)"),
        tiny={"epsilon": 1.0, "delta": 0.1},
        tiny_rows=6,
    ),
)
