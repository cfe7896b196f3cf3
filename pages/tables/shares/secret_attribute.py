"""The reconstruction attack on the page's own rows: a secret attribute, from marginals with the others."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from dpcore.core import Floats, exactly
from dpcore.limits.attacks.row_products import MAX_SIZE
from dplab.limits import secret_attribute
from dplab.limits.secret_attribute import ATTACKS, LOSSES, SecretRows, SecretShares
from pages.charts.picture import Axis, Curve, Dots, Mark, Picture, Rule
from pages.charts.words import percent, significant
from pages.shell.controls import choice, stops, whole
from pages.shell.tasks.memory import remember, with_progress
from pages.tables.shares.compute import ShareResult

PEOPLE = (20, 50, 100, 200, 500)
ROLES = ("released", "other-1")
"""Of both attacks."""


def secret_of_the_rows(result: ShareResult) -> None:
    """Draw the controls of the attack, and the share of a secret attribute that it finds by noise and by ε."""
    request, mechanism = result.request, result.answers.mechanism
    rows, names = request.dataset().records, request.queries.domain.names
    st.header("Can a secret attribute be reconstructed?")
    st.markdown(
        "The attacker knows all attributes of some rows **but one**. Published are noisy numbers of rows that have the "
        "secret attribute and a set of others: entries of marginals. [The same with random groups]"
        "(./learn?lesson=subset)"
    )
    left, middle, right = st.columns(3)
    with left:
        titles = {str(place): name for place, name in enumerate(names)}
        secret = int(choice("Secret attribute", titles, key="secret-attribute"))
    with middle:
        help_text = "The secret one and up to k − 1 others."
        size = whole("Attributes of a marginal k", 2, MAX_SIZE + 1, 3, key="secret-k", help_text=help_text) - 1
    with right:
        people = int(stops("Rows attacked n", PEOPLE, 100, key="secret-people"))
    key = f"{request.source.key}|{secret}|{size}|{people}|{request.seed}"
    sample = partial(secret_attribute.sample_rows, rows, secret=secret, size=size, people=people, seed=request.seed)
    attacked: SecretRows = remember(f"attacked|{key}", sample)
    epsilon, delta = mechanism.epsilon, mechanism.delta
    work = partial(secret_attribute.sweep, attacked, delta=delta, seed=request.seed)
    shares = with_progress(f"secret|{key}|{delta}", work, label="Attacking marginals.")
    pictures = (
        ("secret_epsilon", "share found by ε", over_epsilon(shares, attacked, epsilon=epsilon)),
        ("secret_noise", "share found by noise", over_noise(shares, attacked)),
    )
    for place, (chart, title, picture) in zip(st.columns(2), pictures, strict=True):
        with place:
            request.draw(picture, key=chart, title=title)
    groups, n = attacked.masks.shape
    st.caption(
        f"{groups:,} numbers about {n:,} rows; {attacked.distinct:,} of the rows differ in what is known of them, and "
        f"equal ones cannot be told apart. All numbers together are (ε, {exactly(delta)})-private by discrete Gaussian "
        f"noise. {_proof(shares)} For independent fair coins and constant k, a release of all marginals gives away "
        "nearly all bits if its average error is below order min(√n, d^((k−1)/2)) "
        "(Kasiviswanathan, Rudelson, Smith and Ullman 2010)."
    )


def _proof(shares: SecretShares) -> str:
    """Return what is proved of these rows."""
    if shares.proved[0] <= 0:
        return "These marginals do not determine all bits, so nothing is proved of them."
    return "The curve holds for these rows: least squares gets at most 4mE²/s² bits wrong."


def over_noise(shares: SecretShares, attacked: SecretRows) -> Picture:
    """Return the share of secret bits found against the error of the marginals over √n, with what is proved."""
    root = math.sqrt(len(attacked.secret))
    x = shares.errors / root
    marks: list[Mark] = [*_dots(x, shares.by_noise), _constant_guess(attacked)]
    if shares.proved[0] > 0:
        marks.insert(0, Curve(role="theory", name="proved: at least", x=shares.levels / root, y=shares.proved))
    exact, squares, known = (float(shares.by_noise[place].mean()) for place in ((0, 0), (0, -1), (1, -1)))
    return Picture(
        title="Share found by noise",
        x=Axis(title="root mean square error, in units of √n", low=-0.02 * x[-1], high=1.02 * x[-1]),
        y=_share_axis(),
        marks=marks,
        sentence=f"From exact marginals {ATTACKS[0]} finds {percent(exact)} of the bits. With an error of "
        f"{significant(float(x[-1]))} √n it finds {percent(squares)}, and with known noise {percent(known)}.",
        table=_table("error over √n", x.tolist(), shares.by_noise),
        height=340,
    )


def over_epsilon(shares: SecretShares, attacked: SecretRows, *, epsilon: float) -> Picture:
    """Return the share of secret bits found against ε of all marginals together."""
    losses = np.array(LOSSES)
    at = int(np.argmin(np.abs(np.log(losses / epsilon))))
    means = shares.by_epsilon[:, at].mean(axis=1)
    return Picture(
        title="Share found by ε",
        x=Axis(
            title="← more private · ε · more accurate →", log=True, low=min(losses[0], epsilon) * 0.8,
            high=losses[-1] * 1.25, ticks=(0.1, 1, 10, 100, 1000),
        ),
        y=_share_axis(),
        marks=[
            *_dots(losses, shares.by_epsilon),
            replace(_constant_guess(attacked), side="left"),
            Rule(role="ink", x=epsilon, label=f"ε = {exactly(epsilon)}"),
        ],
        sentence=f"At ε = {exactly(losses[at])} the noise has a standard deviation of "
        f"{significant(float(shares.sigmas[at]))} rows. With it the attacks find {percent(float(means[0]))} and "
        f"{percent(float(means[1]))} of the bits; a constant guess finds {percent(attacked.constant_share)}.",
        table=_table("ε", losses.tolist(), shares.by_epsilon)
        | {"standard deviation, rows": [float(f"{each:.3g}") for each in shares.sigmas.tolist()]},
        height=340,
    )  # fmt: skip


def _dots(x: Floats, by_attack: Floats) -> list[Mark]:
    """Return the mean shares of both attacks (2, K, R) at each x (K,), with bars over all runs."""
    return [
        Dots(role=role, name=name, x=x, y=runs.mean(axis=1), low=runs.min(axis=1), high=runs.max(axis=1))
        for role, name, runs in zip(ROLES, ATTACKS, by_attack, strict=True)
    ]


def _constant_guess(attacked: SecretRows) -> Rule:
    """Return the rule of the share that a constant guess finds."""
    blind = attacked.constant_share
    return Rule(role="quiet", y=blind, label=f"always the more common bit: {percent(blind)}")


def _share_axis() -> Axis:
    """Return the axis of the share of bits found."""
    return Axis(title="share of bits found", low=0, high=1.05, form=".0%", ticks=(0, 0.25, 0.5, 0.75, 1))


def _table(x: str, places: list[float], by_attack: Floats) -> dict[str, list[float]]:
    """Return the mean shares of both attacks at each place."""
    return {x: places} | {name: runs.mean(axis=1).tolist() for name, runs in zip(ATTACKS, by_attack, strict=True)}
