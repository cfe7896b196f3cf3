"""One page with all controls at their largest, in a process with little memory: run as a module by a test.

    python -m tests.pages.largest PAGE MEGABYTES NAME=VALUE …

It prints, as JSON, the controls that were set, what the page raised, and the largest memory the process took.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any

ROUNDS = 6
"""Runs of a page at most: controls that appear when others are at their largest are set in the next."""
WAIT = 20.0
"""Seconds that a run waits for one piece of work; what takes longer goes on beside the next run."""
KEPT = ("seed", "epsilon", "delta")
"""Controls that stay as the link says: little privacy loss makes wide noise, and a seed is no size."""
MEBIBYTE = 1 << 20


def peak() -> int:
    """The most memory that the process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def limit_memory(megabytes: int) -> None:
    """Have every allocation beyond so many MiB fail."""
    limit = megabytes * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def enlarged(app: Any) -> list[str]:
    """Put every control that holds a number at its largest, and turn switches on; names of those that moved."""
    moved = []
    for widget in (*app.slider, *app.number_input):
        most = getattr(widget, "max", None)
        if widget.disabled or most is None or isinstance(widget.value, tuple | list) or widget.key is None:
            continue
        if widget.key.endswith(KEPT) or widget.value == most:
            continue
        widget.set_value(most)
        moved.append(f"{widget.key}={most}")
    for widget in app.select_slider:
        if widget.disabled or widget.key is None or isinstance(widget.value, tuple | list):
            continue
        last = widget.options[-1]
        if widget.value != last and not widget.key.endswith(("_slider", *KEPT)):
            widget.set_value(last)
            moved.append(f"{widget.key}={last}")
    for widget in app.toggle:
        if not widget.disabled and not widget.value and widget.key and not widget.key.startswith("chip"):
            widget.set_value(True)
            moved.append(f"{widget.key}=true")
    return moved


def main(page: str, megabytes: int, link: dict[str, str]) -> dict[str, Any]:
    """Open the page by the link, enlarge it as long as there is something to enlarge."""
    from pages.shell.server import jobs
    from tests.pages.opening import opened

    jobs.AT_ONCE = WAIT
    limit_memory(megabytes)
    start, moved = time.monotonic(), []
    app = opened(page, **link)
    for _ in range(ROUNDS):
        if app.exception:
            break
        more = enlarged(app)
        if not more:
            break
        moved += more
        app.run()
    raised = [f"{each.message}" for each in app.exception]
    return {
        "moved": moved,
        "raised": raised,
        "peak": peak(),
        "seconds": round(time.monotonic() - start, 1),
        "errors": [each.value for each in app.error][:3],
    }


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    page, megabytes, *link = sys.argv[1:]
    print(json.dumps(main(page, int(megabytes), dict(each.split("=", 1) for each in link))))
    sys.stdout.flush()
    os._exit(0)
