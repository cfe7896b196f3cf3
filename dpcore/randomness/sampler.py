"""Where coins come from: a draw says what it protects and what that costs, a sampler makes it.

A draw receives the value it protects, its epsilon and its sensitivity, never a scale alone. So the same run() can be
previewed, released, accounted for, or enumerated. Sensitivity is the L1 distance a neighbour can move the *whole*
vector of one draw; one draw costs its epsilon once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from dpcore.core import ParameterError

if TYPE_CHECKING:
    from dpcore.randomness.enumeration import Enumerate
    from dpcore.randomness.preview import Preview
    from dpcore.randomness.secure import Secure

Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Charge:
    """What one draw spent: an epsilon and a delta, or a Gaussian's sigma, shift and how many numbers it drew."""

    draw: str
    epsilon: float = 0.0
    delta: float = 0.0
    sigma: float = 0.0
    shift: tuple[int, ...] = ()
    numbers: int = 1


class Draw(ABC, Generic[Drawn]):
    """A request for coins: a frozen dataclass that checks its fields and knows what it costs.

    A kind of draw says how a preview, a release and an enumeration make it; what it leaves out is ``composed`` of
    other draws. Its repr shows no field: they are private.
    """

    @property
    def charge(self) -> Charge | None:
        """What it spends; None for coins that are free."""
        return None

    def composed(self, sampler: Sampler, trials: int) -> Drawn:
        """Made of other draws."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a {sampler.name} sampler draws it.")

    def previewed(self, preview: Preview, trials: int) -> Drawn:
        """Fast, on many trials at once."""
        return self.composed(preview, trials)

    def released(self, secure: Secure, trials: int) -> Drawn:
        """Exactly, on whole numbers, from the operating system's entropy."""
        return self.composed(secure, trials)

    def enumerated(self, paths: Enumerate, trials: int) -> Drawn:
        """By its exact law."""
        return self.composed(paths, trials)


@dataclass(frozen=True, eq=False, repr=False)
class PureDraw(Draw[Drawn]):
    """A draw that spends a pure epsilon at a sensitivity, both finite and above 0."""

    epsilon: float = field(kw_only=True)
    sensitivity: float = field(kw_only=True)

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf):
            raise ParameterError(f"A draw needs a finite epsilon above 0, got {self.epsilon!r}.")
        if not (0 < self.sensitivity < math.inf):
            raise ParameterError(f"A draw needs a finite sensitivity above 0, got {self.sensitivity!r}.")

    @property
    def charge(self) -> Charge:
        """Its epsilon, once."""
        return Charge(type(self).__name__, epsilon=self.epsilon)

    @property
    def scale(self) -> float:
        """Of discrete Laplace noise."""
        return self.sensitivity / self.epsilon

    @property
    def rate(self) -> float:
        """Weights of candidates are e^(rate * score)."""
        return self.epsilon / (2 * self.sensitivity)


class Sampler(ABC):
    """A source of coins. ``name`` is printed beside every number drawn; only a ``secure`` one may feed a release."""

    name: ClassVar[str]
    secure: ClassVar[bool] = False

    def draw(self, draw: Draw[Drawn], trials: int) -> Drawn:
        """What was drawn, for T trials on the first axis of its arrays.

        The values that a draw protects have a first axis of 1 (the same data for all trials) or T.
        """
        if trials < 1:
            raise ParameterError(f"At least one trial is needed, got {trials}.")
        return self.make(draw, trials)

    @abstractmethod
    def make(self, draw: Draw[Drawn], trials: int) -> Drawn:
        """The draw, by this sampler's way of making it."""
