"""Error against privacy loss: what nobody can promise is named where it is, also when the page stands elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.figures.figure import Figure
from dpcore.figures.tradeoff import tradeoff
from dpcore.sweep import Sweep

LABEL = "impossible to promise"


def drawn(*, epsilon: float) -> Figure:
    one = np.full((1, 2, 3), 0.1)
    curve = Sweep(n=1000, keys=("a",), epsilons=np.array([0.1, 1.0]), worst=one, typical=one, promised=one[:, :, 0])
    return tradeoff(
        sweep=curve, titles={"a": "A"}, weaker={"a": ""}, chosen="a", epsilon=epsilon, alpha=None, badge="badge",
        dark=False, impossible=(np.array([0.05, 0.1, 1.0]), np.array([1e-9, 0.3, 0.08])),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("epsilon", "told"),
    [
        (0.9, "near ε = 1 less than 8%."),
        (20.0, "at ε = 1, where the curve ends, less than 8%."),
        (0.001, "at ε = 0.05, where the curve ends, less than 0.0000001%."),
    ],
)
def test_a_page_beyond_the_wall_is_told_where_the_wall_ends(epsilon: float, told: str) -> None:
    assert drawn(epsilon=epsilon).sentence.endswith(told)


def test_the_wall_is_named_where_it_is_first_seen() -> None:
    figure = drawn(epsilon=0.001)
    wall = figure.spec["datasets"]["impossible"]
    assert [row["label"] for row in wall] == ["", LABEL, ""]
    # The edge is cut at the floor, not laid along it.
    assert [row["error"] for row in wall] == [1e-9, 0.3, 0.08]
    words = [
        layer for layer in figure.spec["layer"]
        if layer.get("data") == {"name": "impossible"} and layer["mark"]["type"] == "text"
    ]  # fmt: skip
    # At a fixed place it would float beside its hatching as soon as the page's ε lies left of it.
    assert words and all(layer["encoding"]["x"]["field"] == "epsilon" for layer in words)
