"""An error that is wanted, as people type it."""

from __future__ import annotations

import re

NUMBER = re.compile(r"\s*([0-9]*[.,]?[0-9]+)\s*(%|rows?|)\s*")


def read_target(text: str, *, n: int) -> float | None:
    """What was typed as a fraction of n, above 0 and below 1; None where it is no such thing.

    >>> read_target("1%", n=1000), read_target("0.2", n=1000), read_target("50 rows", n=1000), read_target("2", n=1000)
    (0.01, 0.2, 0.05, None)
    """
    found = NUMBER.fullmatch(text)
    if not found:
        return None
    number = float(found[1].replace(",", "."))
    share = number / 100 if found[2] == "%" else number / n if found[2] else number
    return share if 0 < share < 1 else None
