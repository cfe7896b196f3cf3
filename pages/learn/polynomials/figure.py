"""Pictures of polynomials: the distance from the step by degree, the polynomial, and the error against rows."""

from __future__ import annotations

import numpy as np

from dpcore.core import rounded_up
from dpcore.mechanisms.marginals.polynomials import Polynomial, target
from dplab.limits.few_counts import NOTHING, Degrees, PredictedErrors
from pages.charts.picture import Axis, Curve, Dots, Picture, Rule
from pages.charts.words import percent
from pages.learn.pictures import OTHERS, guess_rule, lesson_picture

PLACES = 120
MECHANISM, DIRECT = "mechanism:marginals-polynomial-gaussian", "mechanism:marginals-direct"


def biases(*, degrees: Degrees, bias: float, guess: int) -> Picture:
    """Return the largest distance from the step by degree, of the best polynomial and of the paper's.

    Args:
        degrees: both.
        bias: what is allowed.
        guess: the degree that the reader thinks is needed.
    """
    places = np.arange(1, degrees.width + 1)
    floor = 0.001
    needed, printed = degrees.needed(bias), degrees.needed(bias, printed=True)
    return lesson_picture(
        title="Distance from the step",
        x=Axis(
            title="degree t: attributes of a counted set",
            low=0.5,
            high=degrees.width + 0.5,
            ticks=tuple(map(float, places)),
        ),
        y=Axis(title="largest distance γ", log=True, low=floor, high=1, form=".1~p"),
        marks=[
            Dots(
                role=MECHANISM,
                name="best polynomial",
                x=places,
                y=np.maximum(degrees.least, 1.1 * floor),
                hover=[f"degree {t}: {percent(each)}" for t, each in zip(places, degrees.least.tolist(), strict=True)],
            ),
            Curve(role=OTHERS[0], name="the paper's (Chebyshev)", x=places, y=degrees.printed, dash="dash"),
            Rule(role="ink", y=bias, label=f"allowed: {percent(bias)}"),
            guess_rule(x=guess),
        ],
        sentence=f"To be within {percent(bias)} of “any of {degrees.width} attributes” degree {needed} is enough, "
        + (f"and by the paper's polynomial {printed}" if printed else "and the paper's polynomial never is")
        + f"; you guessed {guess}. Degree {degrees.width} is exact.",
    )


def step(*, polynomial: Polynomial) -> Picture:
    """Return the step from no to yes and the polynomial that approximates it."""
    width, places = polynomial.width, np.linspace(0, polynomial.width, PLACES)
    counts = np.arange(width + 1)
    return lesson_picture(
        title="The polynomial",
        x=Axis(
            title="how many of the query's attributes a row has",
            low=-0.3,
            high=width + 0.3,
            ticks=tuple(map(float, counts)),
        ),
        y=Axis(title="counted as"),
        marks=[
            Dots(
                role="true",
                name="true value: no (0) or yes (1)",
                x=counts,
                y=target(width=width, least=1),
                shape="square",
            ),
            Curve(role=MECHANISM, name=f"degree {polynomial.degree}", x=places, y=polynomial.at(places)),
            Dots(role=MECHANISM, name="value of a row", x=counts, y=np.array(polynomial.values), shape="circle"),
        ],
        sentence=f"The true value of a row is 0 if it has none of the {width} attributes and 1 otherwise. The "
        f"polynomial of degree {polynomial.degree} gives each row a value within "
        f"{rounded_up(polynomial.gamma)} of that.",
    )


def against_rows(*, errors: PredictedErrors, width: int, attributes: int) -> Picture:
    """Return the predicted worst error against n: of polynomials, and of noise in every answer."""
    gains = errors.gains()
    where = "at no tried number of rows do polynomials have the smallest error"
    if len(gains):
        where = f"from {gains[0]:,} to {gains[-1]:,} rows polynomials have the least error"
    if len(gains) and gains[-1] < errors.rows[-1]:
        where += "; beyond, noise in every answer has"
    floor = 1e-4
    return lesson_picture(
        title="Rows needed by each method",
        x=Axis(title="rows n", log=True, form="~s", low=float(errors.rows[0]), high=float(errors.rows[-1])),
        y=Axis(title="predicted worst error", log=True, low=floor, high=1, form="~p"),
        marks=[
            Curve(role=MECHANISM, name="polynomials", x=errors.rows, y=np.maximum(errors.polynomial, floor)),
            Curve(
                role=DIRECT,
                name="noise in every answer",
                x=errors.rows,
                y=np.maximum(errors.direct, floor),
                dash="dash",
            ),
            Rule(role="quiet", y=NOTHING, label="answer ½ to every query"),
        ],
        sentence=f"For queries about {width} of {attributes} attributes, {where}.",
    )
