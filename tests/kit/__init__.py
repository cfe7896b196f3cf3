"""What tests share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def ran(work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of it, in a thread of its own: that of the tests may run the loop of a browser's tests already."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()
