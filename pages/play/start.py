"""Start: a finished, safe picture, one slider, and the doors to the rest."""

from __future__ import annotations

from pages.play.home import doors, picture, tour
from pages.shell.session import require_gate

require_gate()
picture()
doors()
tour()
