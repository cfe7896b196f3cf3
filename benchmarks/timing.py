"""Interleaved timing: A, B, A, B, … so that a drifting machine slows both alike; and the real app on a free port."""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser


HERE = Path(__file__).resolve().parent.parent
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """Seconds of repeated runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle run."""
        return statistics.median(self.seconds)

    def text(self, unit: str = "ms") -> str:
        """Median, minimum and maximum."""
        factor = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}[unit]
        low, high = min(self.seconds) * factor, max(self.seconds) * factor
        return f"{self.median * factor:.3g} {unit} ({low:.3g} to {high:.3g})"


def interleaved(runs: dict[str, Callable[[], object]], *, repeats: int) -> dict[str, Timing]:
    """Time each run once per round, for so many rounds after one warm-up round."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if repeat:
                seconds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(taken)) for name, taken in seconds.items()}


def ratio(slow: Timing, fast: Timing, *, work_slow: float = 1, work_fast: float = 1) -> float:
    """How many times faster ``fast`` does one unit of work: median over rounds of the paired ratio."""
    pairs = zip(slow.seconds, fast.seconds, strict=True)
    return statistics.median((a / work_slow) / (b / work_fast) for a, b in pairs)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def healthy(address: str) -> None:
    """Wait until a server answers.

    Raises:
        RuntimeError: if it does not within two minutes.
    """
    for _ in range(1200):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("The app did not become healthy within two minutes.")


def cpu_seconds(process: int) -> float:
    """That a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running_app(script: Path = HERE / "app.py") -> Iterator[tuple[str, int]]:
    """Start the app or another script, wait until it is healthy, give its address and process id, and end it."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.headless", "true"],
        cwd=HERE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ.copy(),
    )
    try:
        healthy(address := f"http://127.0.0.1:{port}")
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(timeout=10)
