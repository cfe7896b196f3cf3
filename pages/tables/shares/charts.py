"""Pictures of a polynomial near a step, the noise of each level, errors of many queries, and shares of lists."""

from __future__ import annotations

import math

import numpy as np

from dpcore.core import Floats, rounded_up
from dpcore.mechanisms.marginals.plans import MarginalsPlan
from dpcore.mechanisms.marginals.polynomials import Polynomial, target
from dpcore.mechanisms.marginals.preview import error_quantiles, level_shares
from dplab.marginals import MarginalAnswers
from dplab.marginals_lists import ListShares
from pages.charts.picture import Anchor, Axis, Band, Bars, Curve, Dots, Mark, Picture, Rule, Words
from pages.charts.words import percent, percent_up, rows, short_numbers, significant

STEPS = 120
"""Points of the curve between 0 and k."""
EXACT = 1e-9
"""A bias below this is rounding."""
SHARES = np.concatenate([np.linspace(0.01, 0.99, 50), [0.999]])
"""Shares of the queries at which curves are drawn."""
LEAST_POWER = -7
"""The smallest power of ten on the axis of errors; smaller errors are at its left end."""
MAX_TICKS = 6
SPENT, ADDED = "share of the privacy budget", "share of an answer's variance"
BY_POLYNOMIAL, BETWEEN = "polynomial, observed", "between bounds, observed"
DIRECTLY, PREDICTED = "direct, observed", "direct, predicted"
DIRECT = "mechanism:marginals-direct"


def step_curve(*, polynomial: Polynomial, key: str, used: bool) -> Picture:
    """Return the picture of the target and the polynomial on 0 .. k, with the band of the bias.

    Args:
        polynomial: the polynomial.
        key: the key of the mechanism, for its colour.
        used: whether the release uses it; otherwise the marginals themselves are released.
    """
    width, gamma = polynomial.width, polynomial.gamma
    wanted, values = target(width=width, least=polynomial.least), np.array(polynomial.values)
    counts, places = np.arange(width + 1), np.linspace(0, width, STEPS)
    worst = int(np.abs(values - wanted).argmax())
    near = (
        f"stays within γ = {rounded_up(gamma)} (orange) of the step from no to yes at {polynomial.least} "
        f"of {width}; largest distance at {worst}: {significant(float(values[worst]))} instead of "
        f"{wanted[worst]:g}"
        if gamma > EXACT
        else f"equals the step from no to yes at {polynomial.least} of {width}, without bias"
    )
    sentence = f"A polynomial of degree {polynomial.degree} in the number of attributes that a row has {near}."
    if not used:
        sentence += " It is not used here: the marginals themselves are released, each with its own noise."
    marks: list[Mark] = [
        Bars(
            role="theory",
            name="within γ of it",
            start=counts - 0.06,
            end=counts + 0.06,
            base=wanted - gamma,
            value=wanted + gamma,
            hover=[f"{s} set: {significant(w - gamma)} to {significant(w + gamma)}" for s, w in enumerate(wanted)],
        ),
        Curve(role=f"mechanism:{key}", x=places, y=polynomial.at(places), width=2),
        Dots(role="true", name="true value: no (0) or yes (1)", x=counts, y=wanted, shape="square"),
        Dots(role=f"mechanism:{key}", name="polynomial", x=counts, y=values, shape="circle"),
    ]
    return Picture(
        title="Polynomial against the step",
        x=Axis(title="how many of the query's attributes a row has", form="d", ticks=tuple(map(float, counts))),
        y=Axis(title="counted as"),
        marks=marks,
        sentence=sentence,
        table={
            "attributes set": counts.tolist(),
            "wanted": wanted.tolist(),
            "polynomial": short_numbers(values),
            "level": counts.tolist(),
            "coefficient": short_numbers(list(polynomial.coefficients)),
        },
    )


def level_bars(*, plan: MarginalsPlan, counts: list[int], key: str) -> Picture:
    """Return the picture of each level's share of the budget and of the variance of an answer.

    Args:
        plan: the released levels and their noise.
        counts: the number of counts in each level.
        key: the key of the mechanism, for its colour.
    """
    spent, added = level_shares(plan)
    names = [f"{noise.level} attribute{'s' if noise.level > 1 else ''}" for noise in plan.noise]
    noisy = [float(np.sqrt(noise.variance)) for noise in plan.noise]
    sentence = (
        "Nothing is released: every answer is a constant, because the noise would be larger than the information."
    )
    if names:
        largest = int(spent.argmax())
        each = "; ".join(
            f"{count:,} counts of {name}, each with noise of {significant(row)} rows"
            for count, name, row in zip(counts, names, noisy, strict=True)
        )
        sentence = f"Released are {each}. The level of {names[largest]} gets {100 * spent[largest]:.0f}% of the budget."
    middle = np.arange(len(names))
    return Picture(
        title="Noise budget of each level",
        x=Axis(title="sets of", labels=tuple(names)),
        y=Axis(title="share", low=0, high=1, form="~p"),
        marks=[
            Bars(
                role=role,
                name=name,
                start=middle + left,
                end=middle + left + 0.4,
                value=shares,
                opacity=0.85,
                hover=[
                    f"{level}\n{name}: {percent(share)}\ntheory" for level, share in zip(names, shares, strict=True)
                ],
            )
            for role, name, left, shares in (("theory", SPENT, -0.4, spent), (f"mechanism:{key}", ADDED, 0.0, added))
        ],
        sentence=sentence,
        table={
            "level": names,
            "counts": counts,
            "moved by one row": [noise.moved for noise in plan.noise],
            "noise, rows": short_numbers(noisy),
            SPENT: short_numbers(spent),
            ADDED: short_numbers(added),
        },
    )


def answer_errors(shown: MarginalAnswers, *, key: str) -> Picture:
    """Return the picture of shares of queries within an error: by the polynomial, between its bounds, directly.

    Args:
        shown: the answers and the truth.
        key: the key of the mechanism, for its colour.
    """
    errors = {
        BY_POLYNOMIAL: np.abs(shown.by_polynomial - shown.truth),
        BETWEEN: np.abs(shown.between - shown.truth),
        DIRECTLY: np.abs(shown.directly - shown.truth),
    }
    return error_curves(errors=errors, plan=shown.release.plan, direct=shown.direct, n=shown.problem.n, key=key)


def error_curves(*, errors: dict[str, Floats], plan: MarginalsPlan, direct: MarginalsPlan, n: int, key: str) -> Picture:
    """Return the picture of shares of queries within an error, on a logarithmic axis.

    Args:
        errors: absolute errors of each kind of answer, (Q,).
        plan: the plan of the polynomial.
        direct: the plan of direct release.
        n: the number of rows.
        key: the key of the polynomial's mechanism, for its colour.
    """
    curves = {name: np.quantile(each, SHARES) for name, each in errors.items()}
    curves[PREDICTED] = error_quantiles(direct, SHARES)
    values = np.concatenate([*curves.values(), [plan.predicted, 1.0]])
    first = max(LEAST_POWER, min(-1, math.floor(math.log10(values[values > 0].min()))))
    low, step = 10.0**first, math.ceil(-first / MAX_TICKS)
    styles = {
        BY_POLYNOMIAL: (f"mechanism:{key}", "solid"),
        BETWEEN: ("other-3", "longdash"),
        DIRECTLY: (DIRECT, "dash"),
        PREDICTED: ("theory", "dot"),
    }
    marks: list[Mark] = [
        Curve(role=role, name=name, x=np.maximum(curves[name], low), y=SHARES, dash=dash)
        for name, (role, dash) in styles.items()
        if name in curves
    ]
    if plan.predicted < 1:
        # The label stands where there is room: the predicted worst is right of most observed errors.
        aside = math.log10(plan.predicted) > first / 3
        label = f"polynomial,\nworst predicted {percent(plan.predicted)}"
        side: Anchor = "left" if aside else "right"
        rule = Rule(role="theory", name="worst of all as predicted", x=max(plan.predicted, low), label=label, side=side)
        marks.append(rule)
    how = {BY_POLYNOMIAL: "by the polynomial", BETWEEN: "midpoint of its bounds", DIRECTLY: "directly"}
    parts = [f"{percent_up(float(np.quantile(each, 0.95)))} {how[name]}" for name, each in errors.items()]
    return Picture(
        title="Errors over many queries",
        x=Axis(
            title="error, share of n (log)",
            log=True,
            low=low,
            high=1.5,  # room for the number at all rows
            form="~p",
            ticks=tuple(10.0**power for power in range(0, first - 1, -step)),
            rows=n,
            grid=True,
        ),
        y=Axis(title="share of queries with at most this error", low=0, high=1, form="~p"),
        marks=marks,
        sentence=(
            f"In this release, after clipping answers to 0–1, 95 in 100 of {len(errors[DIRECTLY]):,} "
            f"queries have an error of at most {', '.join(parts)}. Predicted for the polynomial: bias up "
            f"to {percent_up(plan.gamma)}, standard deviation of the noise {percent(plan.deviation)}, "
            f"worst error of all about {percent(min(plan.predicted, 1.0))}."
        ),
        table={"share of queries": short_numbers(SHARES)}
        | {f"error, {name}": short_numbers(curve) for name, curve in curves.items()},
        height=340,
    )


def shares_scatter(shares: ListShares, *, n: int, chosen: int, name: str) -> Picture:
    """Return the picture with a dot for each input, the diagonal, and the band of the bias.

    Args:
        shares: true and released shares.
        n: the number of lists.
        chosen: the place of the user's input among them.
        name: the input in words.
    """
    truth, released, gamma = shares.truth, shares.released, shares.gamma
    errors = np.abs(released - truth)
    line = np.linspace(0, 1, STEPS)
    return Picture(
        title="Released against true shares",
        x=Axis(title="true share", low=0, high=1, form="~p"),
        y=Axis(title="released share", low=0, high=1, form="~p", rows=n),
        marks=[
            Band(
                role="theory",
                name="bias",
                x=line,
                low=np.maximum(line - gamma, 0),
                high=np.minimum(line + gamma, 1),
                opacity=0.15,
            ),
            Curve(role="quiet", x=[0, 1], y=[0, 1], dash="dash", width=1),
            Dots(
                role="released",
                name="an input",
                x=truth,
                y=released,
                size=6,
                hover=[
                    f"true {percent(true)} ({rows(true, n)}), released {percent(answer)} ({rows(answer, n)})"
                    for true, answer in zip(truth.tolist(), released.tolist(), strict=True)
                ],
            ),
            Dots(role="ink", x=truth[[chosen]], y=released[[chosen]], shape="circle-open", size=15),
            Words(role="ink", text="this one", x=float(truth[chosen]), y=float(released[chosen]), shift=(0, 16)),
        ],
        sentence=(
            f"95 in 100 of {len(truth):,} inputs have an error of at most "
            f"{percent_up(float(np.quantile(errors, 0.95)))}; the largest is "
            f"{percent(float(errors.max()))}. The band is the bias of at most {percent_up(gamma)}. For "
            f"{name} the lists say yes in {percent(float(truth[chosen]))}, released "
            f"{percent(float(released[chosen]))}."
        ),
        table={"true share": short_numbers(truth), "released share": short_numbers(released)},
        height=320,
    )
