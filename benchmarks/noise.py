"""Noise: the preview against raw exponential draws, and one secure release."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import interleaved, ratio
from dpcore import Preview, Secure
from dpcore.randomness import GaussianCounts, NoisyCounts

CELLS, TRIALS = 1024, 1000


def main() -> None:
    """Print the ratios."""
    counts = np.zeros((1, CELLS), dtype=np.int64)
    preview, secure = Preview(1), Secure()
    raw = np.random.Generator(np.random.SFC64(1))
    buffer = np.empty(CELLS * TRIALS)

    def two_exponentials() -> None:
        raw.standard_exponential(out=buffer)
        raw.standard_exponential(out=buffer)

    taken = interleaved(
        {
            "preview": lambda: preview.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=2), TRIALS),
            "two exponentials": two_exponentials,
            "gaussian": lambda: preview.draw(GaussianCounts(counts, sigma=7.0, shift=(1, 1)), TRIALS),
            "secure": lambda: secure.draw(NoisyCounts(counts, epsilon=1.0, sensitivity=2), 1),
        },
        repeats=9,
    )
    share = 1 / ratio(taken["two exponentials"], taken["preview"])
    print(f"preview, {CELLS * TRIALS:,} discrete Laplace draws: {taken['preview'].text()}")
    print(f"  two raw exponential draws each: {taken['two exponentials'].text()}; preview/raw = {share:.2f} (goal 1.3)")
    print(f"preview, as many discrete Gaussian draws: {taken['gaussian'].text()}")
    print(f"one secure release of {CELLS:,} cells: {taken['secure'].text()} (goal 50 ms)")


if __name__ == "__main__":
    main()
