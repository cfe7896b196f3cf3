"""The base classes of draws, with their sensitivity and cost, and of the samplers that make them.

A draw receives the value it protects, its epsilon and its sensitivity, never a scale alone. So the same run() can be
previewed, released, accounted for, or enumerated. Sensitivity is the L1 distance a neighbour can move the *whole*
vector of one draw; one draw costs its epsilon once.

A draw takes whole numbers, and noise fits 64 bits beside them: a count is at most 2^61 in size, a sensitivity at most
2^53 and a scale at most 2^54. Noise 64 scales from 0 then has size 2^60, and its sum with a count is below 2^62.
NumPy's exponential variates end at 45 scales and its normal ones at 14; OpenDP adds whole numbers of any length and
clamps the sum to 64 bits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from typing_extensions import override

from dpcore.core import ParameterError
from dpcore.core.sizes import MAX_COUNT, MAX_SCALE, MAX_SENSITIVITY

if TYPE_CHECKING:
    from dpcore.randomness.enumeration import Enumerate
    from dpcore.randomness.preview import Preview
    from dpcore.randomness.secure import Secure

DrawnT = TypeVar("DrawnT")


def check_whole(values: Any, *, low: int = -MAX_COUNT, high: int = MAX_COUNT) -> None:
    """Raise ParameterError unless the values are an integer array within [low, high]; no value is named.

    Fractions, NaN, infinities and truth values are never rounded or cast.
    """
    kind = getattr(values, "dtype", None)
    if not isinstance(values, np.ndarray) or not np.issubdtype(kind, np.integer):
        raise ParameterError(f"The input must be an array of integers; this one has type {kind}.")
    if values.size and not (int(values.min()) >= low and int(values.max()) <= high):
        raise ParameterError(f"The input must be integers from {low} to {high}: a value is outside.")


def check_number(name: str, value: Any, *, low: int = 1, high: int = MAX_COUNT) -> None:
    """Raise ParameterError unless a public number is a whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ParameterError(f"The {name} must be an integer from {low} to {high}, got {value!r}.")


def check_scale(scale: float) -> None:
    """Raise ParameterError unless noise of this scale fits 64 bits."""
    if not 0 <= scale <= MAX_SCALE:
        raise ParameterError(f"Noise has a scale of at most 2^54, got {scale!r}: take a larger epsilon.")


@dataclass(frozen=True)
class Charge:
    """Cost of one draw: an epsilon and a delta, or a Gaussian's sigma and squared shift.

    ``numbers`` is how many numbers it drew.
    """

    draw: str
    epsilon: float = 0.0
    delta: float = 0.0
    sigma: float = 0.0
    squared_shift: int = 0
    numbers: int = 1


class Draw(ABC, Generic[DrawnT]):
    """A request for coins: a frozen dataclass that checks its fields and knows what it costs.

    A kind of draw says how a preview, a release and an enumeration make it; what it leaves out is ``composed`` of
    other draws. Its repr shows no field: they are private.
    """

    @property
    def charge(self) -> Charge | None:
        """Cost of the draw; None for coins that are free."""
        return None

    def composed(self, sampler: Sampler, trials: int) -> DrawnT:
        """Return the draw as a composition of other draws."""
        raise TypeError(f"The {sampler.name} sampler has no implementation for {type(self).__name__}.")

    def previewed(self, preview: Preview, trials: int) -> DrawnT:
        """Return the draw for previews: fast, on many trials at once."""
        return self.composed(preview, trials)

    def released(self, secure: Secure, trials: int) -> DrawnT:
        """Return the draw for releases: exactly, on whole numbers, from the operating system's entropy."""
        return self.composed(secure, trials)

    def enumerated(self, paths: Enumerate, trials: int) -> DrawnT:
        """Return the draw by its exact law, path by path."""
        return self.composed(paths, trials)


@dataclass(frozen=True, eq=False, repr=False)
class PureDraw(Draw[DrawnT]):
    """A draw that spends a pure epsilon at a sensitivity, both finite and above 0; its noise fits 64 bits."""

    epsilon: float = field(kw_only=True)
    sensitivity: float = field(kw_only=True)

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf):
            raise ParameterError(f"The noise needs a finite epsilon above 0, got {self.epsilon!r}.")
        if not (0 < self.sensitivity <= MAX_SENSITIVITY):
            raise ParameterError(f"The noise needs a sensitivity above 0 and at most 2^53, got {self.sensitivity!r}.")
        check_scale(self.scale)

    @override
    @property
    def charge(self) -> Charge:
        return Charge(type(self).__name__, epsilon=self.epsilon)

    @property
    def scale(self) -> float:
        """Scale of the discrete Laplace noise."""
        return self.sensitivity / self.epsilon

    @property
    def rate(self) -> float:
        """Weights of candidates are e^(rate * score)."""
        return self.epsilon / (2 * self.sensitivity)


class Sampler(ABC):
    """A source of coins. ``name`` is printed beside every number drawn; only a ``secure`` one may feed a release."""

    name: ClassVar[str]
    secure: ClassVar[bool] = False

    def draw(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        """Draw for T trials, on the first axis of the arrays.

        The values that a draw protects have a first axis of 1 (the same data for all trials) or T.
        """
        check_number("number of trials", trials)
        return self.make(draw, trials)

    @abstractmethod
    def make(self, draw: Draw[DrawnT], trials: int) -> DrawnT:
        """Return the draw, by this sampler's way of making it."""
