"""Preview: seeded, reproducible, fast, on many trials at once. Not private: the seed undoes the noise."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from dpcore.core import Floats, Integers, ParameterError
from dpcore.randomness.sampler import Draw, DrawnT, Sampler, check_scale, check_whole

BLOCK = 1 << 15
"""Draws made at once: a block of doubles that stays in the processor's cache."""
SIGN = np.uint64(1 << 63)
WIDE = 4096.0
"""Deviations of Gaussian noise up to which the chances are worth a table."""
FLAT = 2.0**20
"""Deviations beyond which a rounded normal has the discrete law to eleven digits; chances as doubles have fewer."""


def _acceptance(far: Integers, *, sigma: float) -> Floats:
    """Chance that a rounded normal this far from 0 is kept, elementwise, so that the kept ones are discrete Gaussian.

    e^(-z^2/(2 sigma^2)) over the normal's mass within a half of z. That mass is an average of the same curve, times
    cosh(z t/sigma^2) over |t| <= 1/2 with weights that do not depend on z: the chance is largest, and 1, at z = 0.
    """
    from scipy.special import ndtr

    z = far.astype(np.float64)
    mass = ndtr(-(z - 0.5) / sigma) - ndtr(-(z + 0.5) / sigma)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(mass > 0, np.exp(-0.5 * (z / sigma) ** 2) / mass, 0.0)
    chance: Floats = ratio * (ndtr(0.5 / sigma) - ndtr(-0.5 / sigma))
    return chance


@lru_cache(maxsize=64)
def _laplace_offset(scale: float) -> float:
    """c = scale * ln(2/(1 + p)), at most 1, kept: a mechanism asks for the same noise thousands of times."""
    return float(scale * np.log(2 / (1 + np.exp(-1 / scale))))


class Preview(Sampler):
    """NumPy's SFC64 from a seed; the laws are those of the secure sampler.

    Attributes:
        bits, generator: the coins.
        kept: what a kind of draw keeps for the next one of its kind.
    """

    name: ClassVar[str] = "preview"

    def __init__(self, seed: int) -> None:
        if not 0 <= seed < 2**63:
            raise ParameterError("A seed is a whole number from 0 to 2^63 - 1.")
        self.seed = seed
        self.bits = np.random.SFC64(seed)
        self.generator = np.random.Generator(self.bits)
        self.memo: dict[type[Draw[Any]], Any] = {}

    @override
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        return draw.previewed(self, trials)

    def laplace(self, values: Integers, *, scale: float, trials: int) -> Integers:
        """Values (1 or T, k) plus discrete Laplace noise, from one exponential and one sign bit a draw: (T, k).

        |Z| = floor(scale * E + c) has Pr[|Z| >= k] = 2 p^k/(1 + p), the two-sided geometric (_laplace_offset).
        """
        check_whole(values)
        check_scale(scale)
        offset = _laplace_offset(scale)
        out = np.empty((trials, values.shape[1]), dtype=np.int64)
        flat = out.reshape(-1)
        buffer = np.empty(min(BLOCK, flat.size))
        for start in range(0, flat.size, BLOCK):
            noise = buffer[: min(BLOCK, flat.size - start)]
            self.generator.standard_exponential(out=noise)
            noise *= scale
            noise += offset
            signs = self.bits.random_raw(noise.size)
            signs &= SIGN
            doubles = noise.view(np.uint64)
            doubles ^= signs
            flat[start : start + noise.size] = noise  # cut off towards 0
        out += values
        return out

    def gaussian(self, shape: tuple[int, int], *, sigma: float) -> Integers:
        """Draw discrete Gaussian noise: a rounded normal, thinned to the discrete law unless that is flat (FLAT)."""
        reach = int(np.ceil(9 * sigma)) + 2  # beyond it none is kept
        table = np.append(_acceptance(np.arange(reach + 1), sigma=sigma), 0.0) if sigma <= WIDE else None

        def proposed(size: int) -> tuple[Integers, Integers]:
            """Return rounded normals, and the places of the rejected ones."""
            normal = self.generator.standard_normal(size)
            normal *= sigma
            drawn = np.rint(normal, out=normal).astype(np.int64)
            if sigma > FLAT:
                return drawn, np.empty(0, dtype=np.intp)
            far = np.abs(drawn)
            chance = _acceptance(far, sigma=sigma) * (far <= reach) if table is None else table.take(far, mode="clip")
            return drawn, np.flatnonzero(self.generator.random(size) >= chance)

        noise, todo = proposed(math.prod(shape))
        while todo.size:
            noise[todo], again = proposed(todo.size)
            todo = todo[again]
        return noise.reshape(shape)
