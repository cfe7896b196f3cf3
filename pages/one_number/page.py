"""One number: exact answers or none; watch refusal, and reason about it."""

from __future__ import annotations

from pages.one_number.workbench import ONE_NUMBER

ONE_NUMBER.run()
