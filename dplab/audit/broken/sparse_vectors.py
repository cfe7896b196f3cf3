"""BROKEN ON PURPOSE: four published variants of the sparse vector technique that are not epsilon-DP as claimed.

Each compares m queries of sensitivity 1 with a threshold of 0, and returns for each query 1 (above), 0 (below) or -1
(after it stopped). Lyu, Su and Li (2017), Understanding the sparse vector
technique, Algorithms 3 to 6, say why each is wrong. Noise here is on whole numbers.

``answers`` (m,) are the queries' values; the other arguments are as in counts.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpcore.core import Booleans, Integers
from dpcore.randomness import Preview

EPSILON = 1.0
Answers = NDArray[np.int8]


def _noise(preview: Preview, *, scale: float, runs: int, each: int = 1) -> Integers:
    return preview.laplace(np.zeros((1, each), dtype=np.int64), scale=scale, trials=runs)


def stopped(above: Booleans, positives: int) -> Answers:
    """Return the comparisons (T, m) up to the last positive one that is allowed, and -1 after it."""
    before: Integers = np.cumsum(above, axis=1) - above
    return np.where(before < positives, above, -1).astype(np.int8)


def third(answers: Integers, preview: Preview, runs: int) -> Integers:
    """Run Algorithm 3 (Roth's lecture notes of 2011), one positive answer: it publishes the noisy value it compared.

    Returns the index of the positive answer (m if there is none) and its noisy value (0 if there is none).
    """
    threshold = _noise(preview, scale=2 / EPSILON, runs=runs)
    noisy = answers + _noise(preview, scale=2 / EPSILON, runs=runs, each=len(answers))
    above = noisy >= threshold
    some, place = above.any(axis=1), above.argmax(axis=1)
    value = np.where(some, noisy[np.arange(runs), place], 0)
    return np.stack([np.where(some, place, len(answers)), value], axis=1)


def fourth(answers: Integers, preview: Preview, runs: int, *, positives: int = 25) -> Answers:
    """Run Algorithm 4 (Lee and Clifton 2014): comparison noise does not grow with the number of positive answers."""
    threshold = _noise(preview, scale=4 / EPSILON, runs=runs)
    noisy = answers + _noise(preview, scale=4 / (3 * EPSILON), runs=runs, each=len(answers))
    return stopped(noisy >= threshold, positives)


def fifth(answers: Integers, preview: Preview, runs: int) -> Answers:
    """Run Algorithm 5 (Stoddard, Chen and Machanavajjhala 2014): comparisons have no noise, and it never stops."""
    threshold = _noise(preview, scale=2 / EPSILON, runs=runs)
    comparisons: Answers = (answers >= threshold).astype(np.int8)
    return comparisons


def sixth(answers: Integers, preview: Preview, runs: int) -> Answers:
    """Run Algorithm 6 (Chen, Xiao, Zhang and Xu 2015): any number of positive answers, with noise for one."""
    threshold = _noise(preview, scale=2 / EPSILON, runs=runs)
    noisy = answers + _noise(preview, scale=2 / EPSILON, runs=runs, each=len(answers))
    comparisons: Answers = (noisy >= threshold).astype(np.int8)
    return comparisons
