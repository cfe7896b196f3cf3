"""Parameters, declared once: a check, a control, a link key, a help text and a symbol."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.core.basics import ParameterError


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """Label, range and link text of a mechanism's field; made by param()."""

    label: str
    symbol: str = ""
    low: float = -math.inf
    high: float = math.inf
    log: bool = False
    integer: bool = False
    boolean: bool = False
    choices: tuple[str, ...] = ()
    stops: tuple[float, ...] = ()
    help: str = ""

    def check(self, *, name: str, value: Any) -> None:
        """Raise ParameterError unless value is of the declared kind and range."""
        shown = self.label or name
        if self.boolean:
            if not isinstance(value, bool):
                raise ParameterError(f"{shown} must be on or off.")
            return
        if self.choices:
            if value not in self.choices:
                raise ParameterError(f"{shown} must be one of {', '.join(self.choices)}.")
            return
        number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        if not number or value != value or abs(value) == math.inf:
            raise ParameterError(f"{shown} must be a finite number between {self.low:g} and {self.high:g}.")
        if self.integer and value != int(value):
            raise ParameterError(f"{shown} must be a whole number, got {value!r}.")
        if not self.low <= value <= self.high:
            raise ParameterError(f"{shown} must lie between {self.low:g} and {self.high:g}, got {value!r}.")


def param(default: Any, low: float = -math.inf, high: float = math.inf, *, label: str, **shown: Any) -> Any:
    """Declare a mechanism's parameter once: its check, its control, its link key, its help and its notation row.

    Args:
        default: value a new user meets; its type decides between number, whole number, switch and choice.
        low: smallest allowed value.
        high: largest allowed value.
        label: the word for it ("Privacy budget").
        shown: symbol (the paper's letter), log (logarithmic control), choices, stops (human values), help.
    """
    kind = Parameter(
        label=label,
        low=low,
        high=high,
        boolean=isinstance(default, bool),
        integer=isinstance(default, int) and not isinstance(default, bool),
        **shown,
    )
    return field(default=default, metadata={"parameter": kind})


EPSILON_STOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def epsilon_param(default: float = 1.0) -> Any:
    """Return the parameter ε of every mechanism."""
    return param(
        default, 0.001, 20.0, label="Privacy budget", symbol="ε", log=True, stops=EPSILON_STOPS,
        help="A smaller ε is more private, a larger ε more accurate. Under differential privacy one row changes "
             "the probability of an outcome by at most a factor e^ε, plus δ. If the guarantee is another, this "
             "page says so. Roth (2010) and Hall, Rinaldo and Wasserman (2013) write α.",
    )  # fmt: skip


def delta_param(default: float = 1e-6) -> Any:
    """Return the parameter δ of approximate differential privacy."""
    return param(
        default,
        1e-15,
        0.1,
        label="Privacy failure probability",
        symbol="δ",
        log=True,
        stops=(1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
        help="Added to the bound: a probability p becomes at most e^ε·p + δ if one row changes. Keep δ far below 1/n.",
    )


def alpha_param(default: float = 0.1) -> Any:
    """Return the parameter α, the target error of a mechanism."""
    return param(
        default,
        0.005,
        1.0,
        label="Allowed error",
        symbol="α",
        log=True,
        stops=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
        help="The largest error over the query class that the release should have, as a share of n.",
    )
