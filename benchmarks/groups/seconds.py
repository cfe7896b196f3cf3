"""Times of group statistics: a thousand previews of 32 groups beside plain noise, and one secure release."""

from __future__ import annotations

import numpy as np

from benchmarks.groups.tables import HOURS
from benchmarks.timing import interleaved, ratio
from dpcore import Preview, Secure
from dpcore.mechanisms.grouped.counters import GroupCounters
from dpcore.mechanisms.grouped.release import GroupRelease
from dpcore.randomness import NoisyCounts

TRIALS, REPEATS = 1000, 51
PREVIEW_GOAL, SECURE_GOAL = 1.5, 2.0


def main() -> list[tuple[str, bool]]:
    """Print times and ratios; return the goals, and which of them hold."""
    queries, mechanism, preview, secure = HOURS.statistics(), GroupCounters(epsilon=1.0), Preview(1), Secure()
    state = mechanism.prepare(*HOURS.rows(queries))
    numbers, random = state.counters.size, np.random.default_rng(1)
    histogram = NoisyCounts(np.zeros((1, numbers), dtype=np.int64), epsilon=1.0, sensitivity=1)

    def with_statistics() -> None:
        release = mechanism.run(state, preview, TRIALS)
        assert isinstance(release, GroupRelease)
        release.statistics()

    taken = interleaved(
        {
            "plain": lambda: random.laplace(size=(TRIALS, numbers)),
            "previews": lambda: mechanism.run(state, preview, TRIALS),
            "with statistics": with_statistics,
            "histogram": lambda: secure.draw(histogram, 1),
            "release": lambda: mechanism.run(state, secure, 1),
        },
        repeats=REPEATS,
    )
    previews, whole = (ratio(taken[name], taken["plain"]) for name in ("previews", "with statistics"))
    release = ratio(taken["release"], taken["histogram"])
    print(f"{TRIALS:,} previews of {queries.count} groups: {taken['previews'].text()}")
    print(f"  as many NumPy Laplace draws: {taken['plain'].text()}; ratio {previews:.2f} (goal {PREVIEW_GOAL})")
    print(f"  with rows, means and sums: {taken['with statistics'].text()}; ratio {whole:.2f}")
    print(f"one secure release of {queries.count} groups: {taken['release'].text()}")
    print(f"  of a histogram of {numbers} cells: {taken['histogram'].text()}; ratio {release:.2f} (goal {SECURE_GOAL})")
    return [
        (f"previews take at most {PREVIEW_GOAL} times plain draws", previews <= PREVIEW_GOAL),
        (f"a secure release takes at most {SECURE_GOAL} times a histogram's", release <= SECURE_GOAL),
    ]
