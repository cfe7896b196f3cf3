"""The Plan page: choose statistics of a table and their budget, without access to its rows."""

from __future__ import annotations

from pages.plan.view import show_plan
from pages.shell.workbench import gated

with gated():
    show_plan()
