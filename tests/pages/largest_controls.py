"""One page with all controls at their largest, in a process with little memory: run as a module by a test.

    python -m tests.pages.largest_controls PAGE MEGABYTES SECONDS NAME=VALUE …

It prints, as JSON, the controls that were set, what the page raised, the largest memory the process took, and whether
it was ended because it used more seconds of the processor: those do not depend on what else the machine does.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROUNDS = 6
"""Runs of a page at most: controls that appear when others are at their largest are set in the next."""
WAIT = 1e6
"""Seconds that a run waits for one piece of work: until it is done, or the time of the processor is used up."""
KEPT = ("seed", "epsilon", "delta")
"""Controls that stay as the link says: little privacy loss makes wide noise, and a seed is no size."""
MEBIBYTE = 1 << 20


@dataclass(kw_only=True)
class PageWalk:
    """What is known of a walk while it goes on.

    Attributes:
        moved: controls, each with the value that it was given.
        runs: of the page that ended, since the first control was moved.
        raised: messages of the last of them.
        errors: sentences that it showed.
    """

    moved: list[str] = field(default_factory=list)
    runs: int = 0
    raised: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def hear(self, app: Any) -> None:
        """Keep what a page says once a run has ended."""
        self.raised = [f"{each.message}" for each in app.exception]
        self.errors = [each.value for each in app.error][:3]

    def report(self, *, ended: bool) -> dict[str, Any]:
        """All of it, memory and time."""
        return {**vars(self), "ended": ended, "peak": peak(), "seconds": round(time.process_time(), 1)}


def peak() -> int:
    """The most memory that the process has held, in MiB.

    From the process's own status where there is one: what getrusage tells starts at the size of the process that
    started it, and that one has run other tests.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) // 1024


def limit_memory(megabytes: int) -> None:
    """Have every allocation beyond so many MiB fail."""
    limit = megabytes * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def numbers(app: Any) -> dict[str, tuple[Any, Any]]:
    """Controls that hold one number and may be moved, by their key, each with its largest value."""
    found = dict[str, tuple[Any, Any]]()
    for widget in (*app.slider, *app.number_input, *app.select_slider):
        most = (
            widget.options[-1].replace(",", "").removesuffix("%")
            if widget.type == "select_slider"
            else getattr(widget, "max", None)
        )
        if widget.disabled or most is None or widget.key is None or isinstance(widget.value, tuple | list):
            continue
        if not widget.key.endswith(("_slider", *KEPT)):
            found[widget.key] = widget, most
    return found


def enlarged(app: Any) -> list[str]:
    """Put every control that holds a number at its largest, and turn switches on; names of those that moved."""
    moved = []
    for key, (widget, most) in numbers(app).items():
        if widget.value != most:
            widget.set_value(most)
            moved.append(f"{key}={most}")
    for widget in app.toggle:
        if not widget.disabled and not widget.value and widget.key and not widget.key.startswith("chip"):
            widget.set_value(True)
            moved.append(f"{widget.key}=true")
    return moved


def main(page: str, megabytes: int, seconds: int, link: dict[str, str]) -> dict[str, Any]:
    """Open the page by the link, enlarge it as long as there is something to enlarge."""
    from pages.shell.tasks import jobs
    from tests.pages.opening import opened

    jobs.AT_ONCE = WAIT
    limit_memory(megabytes)
    walk = PageWalk()
    end_after(seconds, walk)
    app = opened(page, **link)
    walk.hear(app)
    for _ in range(ROUNDS):
        if app.exception:
            break
        more = enlarged(app)
        if not more:
            break
        walk.moved += more
        app.run()
        walk.runs += 1
        walk.hear(app)
    return walk.report(ended=False)


def end_after(seconds: int, walk: PageWalk) -> None:
    """Have this process end itself once it has used so many seconds of the processor, with its report."""

    def end(*_: object) -> None:
        print(json.dumps(walk.report(ended=True)), flush=True)
        os._exit(0)

    signal.signal(signal.SIGXCPU, end)
    # Past the second limit, the system ends a process that does not hear the first.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, 2 * seconds))
    # What only waits uses no processor: this says where each thread stands, and ends.
    faulthandler.dump_traceback_later(4 * seconds, exit=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    page, megabytes, seconds, *link = sys.argv[1:]
    print(json.dumps(main(page, int(megabytes), int(seconds), dict(each.split("=", 1) for each in link))))
    sys.stdout.flush()
    os._exit(0)
