"""Tables: shares of any, all or some attributes, all tables of k, decision lists, and boxes of numbers."""

from __future__ import annotations

from typing import Any

from pages.shell.controls import segments
from pages.shell.theorem import how_it_works
from pages.shell.workbench import Workbench, page_frame
from pages.tables.boxes import BOXES
from pages.tables.learner import LEARNER
from pages.tables.lists import DECISION_LISTS
from pages.tables.marginals.workbench import MARGINALS
from pages.tables.shares.workbench import SHARES

WORKBENCHES: dict[str, Workbench[Any, Any]] = {
    "Any, all or at least r of k attributes": SHARES,
    "All tables of k attributes": MARGINALS,
    "Decision lists": DECISION_LISTS,
    "Boxes": BOXES,
    "A private rule": LEARNER,
}
FIRST = next(iter(WORKBENCHES))

with page_frame("Tables") as (side, head):
    with head:
        name = segments(
            "Release", list(WORKBENCHES), key="view", default=FIRST, label_visibility="collapsed", wrap=True
        )
        workbench = WORKBENCHES.get(str(name), SHARES)
        how_it_works(*workbench.lead)
    workbench.show(side)
