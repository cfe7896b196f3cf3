"""The Play page, with which the app opens: one data set, one query and one mechanism, and their error."""

from __future__ import annotations

from pages.play.view import show_play
from pages.shell.workbench import gated

with gated():
    show_play()
