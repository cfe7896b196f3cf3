"""Draw a small database with chance in proportion to e^(-rate · error), by layers, without listing any.

Cut whole extents into steps of h: error = h (a + b) + (what is left), a and b being the extent's two numbers over h,
rounded down. (With one number there is only a.) A staircase is a sum of layers, since by the geometric series
e^(-r a) = (1 - e^-r) · (e^(-r a) + e^(-r (a+1)) + ...), r = rate · h. So:

1. draw a layer s, t with chance in proportion to e^(-r (s+t)) N(s, t); N counts the databases with a <= s, b <= t;
2. draw one of those N(s, t) databases evenly;
3. keep it with chance e^(-rate · what is left), about one in two for each number, else start again.

There are too many layers to count each. Since N grows with s and t, a box of layers is at most as populous as if each
of its layers had the N of the last: a layer drawn from a box is kept with chance N(s, t)/N(last). Boxes are halved
where most is lost. What is counted depends on the rate only through h, a power of two, and is remembered: another
rate counts only what it needs besides.

The weights are McSherry and Talwar's (2007) exponential mechanism, the counts dynamic programming over paths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpcore.core import Booleans, Floats, Integers
from dpcore.mechanisms.net.kernel import Kernel
from dpcore.randomness.distinct import distinct_rows

MAX_STORED = 1 << 24
"""Doubles of the sums that databases are drawn from: 128 MB."""
MAX_FRONT = 1 << 16
"""Doubles that advance together in a count: what fits in the cache."""
MAX_REMEMBERED = 1 << 18
"""Counts remembered."""
TOGETHER = 64
"""Boxes that are counted in the time of one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """Layers from start (excluded) to start + width (included), the last of all standing for those beyond it.

    Attributes:
        step: h, extents to a layer.
        start: (boxes, sides).
        width: a power of two, (boxes,).
        logs: logarithm of N(last layer of the box), (boxes,).
        shares: of the draws that each box gets, (boxes,).
        losses: share of the draws that come from each box and are not kept for N, at most, (boxes,).
    """

    step: int
    start: Integers
    width: Integers
    logs: Floats
    shares: Floats
    losses: Floats

    @property
    def stop(self) -> Integers:
        """Last layer of each box, (boxes, sides)."""
        return self.start + self.width[:, None]


class Layers:
    """Draws databases of a kernel.

    Args:
        kernel: counts databases within limits.
        longest: steps h are at most longest/rate.
        lost: share of draws that boxes may cost.
    """

    def __init__(self, kernel: Kernel, *, longest: float = 1.0, lost: float = 0.5) -> None:
        self.kernel, self._longest, self._lost = kernel, longest, lost
        self.widest = kernel.widest()
        self._counts: dict[tuple[int, ...], float] = {}
        self._prepared: tuple[float, Boxes] | None = None

    def limits(self, layers: Integers, step: int) -> Integers:
        """Return the largest extents of layers (k, sides)."""
        return np.minimum((layers + 1) * step - 1, self.widest)

    def boxes(self, rate: float) -> Boxes:
        """Return the boxes of all layers that lose at most their share of draws."""
        for _ in self.prepare(rate):
            pass
        assert self._prepared is not None
        return self._prepared[1]

    def prepare(self, rate: float) -> Iterator[None]:
        """Find the boxes of a rate, pausing after each count."""
        if self._prepared is not None and self._prepared[0] == rate:
            return
        step = 1 << max(0, math.floor(math.log2(self._longest / rate)))
        start = np.full((1, self.kernel.sides), -1)
        width = np.array([1 << int((self.widest // step).max()).bit_length()])
        while True:
            boxes = self._weighed(start, width, rate=rate, step=step)
            if boxes.losses.sum() <= self._lost:
                break
            worst = np.argsort(-boxes.losses, kind="stable")
            enough = 1 + int(np.searchsorted(np.cumsum(boxes.losses[worst]), 0.9 * boxes.losses.sum()))
            chosen = np.zeros(len(width), dtype=np.bool_)
            chosen[worst[:enough]] = True
            start, width = self._halved(boxes, chosen & (width > 1))
            yield
        self._prepared = (rate, boxes)

    def _weighed(self, start: Integers, width: Integers, *, rate: float, step: int) -> Boxes:
        """Return these boxes with their shares of the draws and their losses."""
        stop, last, r = start + width[:, None], self.widest // step, rate * step
        logs, below = (self._count(self.limits(layers, step)) for layers in (stop, start))
        span = np.where(stop >= last, np.inf, width[:, None])
        weights = logs + (np.log(-np.expm1(-r * span)) - r * (start + 1)).sum(axis=1)
        shares = np.exp(weights - weights.max())
        shares /= shares.sum()
        losses = np.zeros(len(shares))
        wide = (width > 1) & (shares > 0)
        # At worst every layer of the box has no more databases than the layer before it.
        losses[wide] = -shares[wide] * np.expm1(below[wide] - logs[wide])
        return Boxes(step=step, start=start, width=width, logs=logs, shares=shares, losses=losses)

    def _halved(self, boxes: Boxes, chosen: Booleans) -> tuple[Integers, Integers]:
        """Boxes with the chosen ones halved on every side, again and again while that adds few to a count."""
        start, width, sides = boxes.start, boxes.width, self.kernel.sides
        corners = np.stack(np.meshgrid(*[np.arange(2)] * sides, indexing="ij"), axis=-1).reshape(-1, sides)
        for _ in range(max(1, int(math.log2(TOGETHER / chosen.sum()) / sides))):
            half = width[chosen] // 2
            parts = (start[chosen][:, None] + corners * half[:, None, None]).reshape(-1, sides)
            real = (parts < self.widest // boxes.step).all(axis=1)
            unsplit = np.count_nonzero(~chosen)
            start = np.concatenate([start[~chosen], parts[real]])
            width = np.concatenate([width[~chosen], np.repeat(half, len(corners))[real]])
            chosen = (np.arange(len(width)) >= unsplit) & (width > 1)
            if not chosen.any():
                break
        return start, width

    def _count(self, limits: Integers) -> Floats:
        """Return the log of the number of databases within limits (k, sides); -inf where one is negative."""
        wanted = [tuple(limit) for limit in limits.tolist()]
        if len(self._counts) > MAX_REMEMBERED:
            self._counts.clear()
        # Limits of like width share a window of values.
        new = sorted({limit for limit in wanted if min(limit) >= 0} - self._counts.keys(), key=sum)
        while new:
            batch = max(1, MAX_FRONT // self.kernel.values(np.array(new[: MAX_FRONT >> 3])))
            logs = self.kernel.sums(np.array(new[:batch]), keep=False).logs()
            self._counts.update(zip(new[:batch], logs.tolist(), strict=True))
            del new[:batch]
        return np.array([self._counts[limit] if min(limit) >= 0 else -math.inf for limit in wanted])

    def draw(self, generator: np.random.Generator, *, rate: float, trials: int) -> Integers:
        """Return the databases with chance in proportion to e^(-rate · error), as points in order: (trials, m)."""
        boxes = self.boxes(rate)
        databases = np.empty((trials, self.kernel.points), dtype=np.int64)
        done = 0
        while done < trials:
            tries = int(1.7**self.kernel.sides * (trials - done)) + 4
            accepted = self._attempt(generator, boxes, rate=rate, tries=tries)[: trials - done]
            databases[done : done + len(accepted)] = accepted
            done += len(accepted)
        return databases

    def _attempt(self, generator: np.random.Generator, boxes: Boxes, *, rate: float, tries: int) -> Integers:
        """Return the accepted databases of a number of tries, in their order."""
        last, r = self.widest // boxes.step, rate * boxes.step
        reached = np.cumsum(boxes.shares)
        box = np.searchsorted(reached, generator.random(tries) * reached[-1], side="right")
        span = np.where(boxes.stop[box] >= last, np.inf, boxes.width[box][:, None])
        # A geometric number below the box's width, by inversion.
        deep = np.minimum(np.floor(-np.log1p(generator.random(span.shape) * np.expm1(-r * span)) / r), span - 1)
        layers = np.minimum(boxes.start[box] + 1 + deep, last).astype(np.int64)
        luck = np.log1p(-generator.random((2, tries)))
        limits, which = distinct_rows(self.limits(layers, boxes.step))
        points = np.zeros((tries, self.kernel.points), dtype=np.int64)
        accepted = np.zeros(tries, dtype=np.bool_)
        at = 0
        while at < len(limits):
            batch = max(1, MAX_STORED // (self.kernel.cells * self.kernel.values(limits[at:])))
            sums = self.kernel.sums(limits[at : at + batch], keep=True)
            mine = np.flatnonzero((which >= at) & (which < at + batch))
            mine = mine[luck[0, mine] < sums.logs()[which[mine] - at] - boxes.logs[box[mine]]]
            if len(mine):
                points[mine] = sums.draw(which[mine] - at, lambda totals: generator.random(len(totals)) * totals)
                left = (self.kernel.extent(points[mine]) % boxes.step).sum(axis=1)
                accepted[mine] = luck[1, mine] < -rate * left
            at += batch
        return points[accepted]
