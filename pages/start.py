"""Start: a finished, safe picture, one slider, and the doors to the rest."""

from __future__ import annotations

from pages.ui.session import require_gate
from pages.ui.start_view import doors, picture, tour

require_gate()
picture()
doors()
tour()
