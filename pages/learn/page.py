"""The Learn page: lessons on lower bounds and attacks, with an overview."""

from __future__ import annotations

from pages.learn.view import learn
from pages.shell.workbench import gated

with gated():
    learn()
