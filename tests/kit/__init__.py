"""What tests share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dpcore.core import Blocks

Result = TypeVar("Result")


def in_blocks(work: Generator[float, None, Result]) -> tuple[Result, list[float]]:
    """What comes of it, and the share that was done after each block."""
    blocks = Blocks(work)
    shares = list(blocks)
    assert all(0 <= share <= 1 for share in shares)
    return blocks.result, shares


def ran(work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of it, in a thread of its own: that of the tests may run the loop of a browser's tests already."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


def searched(pattern: str, text: str) -> re.Match[str]:
    """The first place of a text that a pattern matches; there is one."""
    found = re.search(pattern, text)
    assert found is not None, (pattern, text)
    return found
