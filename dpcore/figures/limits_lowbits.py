"""The low-bits attack: how often it guesses right, against naive noise and against the secure sampler."""

from __future__ import annotations

from dpcore.core import exactly
from dpcore.figures.figure import Figure, Records, framed, palette, percent
from dpcore.figures.limits_layers import GUESS, hatched
from dpcore.limits.low_bits import Verdict


def verdicts(*, naive: Verdict, secure: Verdict, epsilon: float, guess: float, badge: str, dark: bool) -> Figure:
    """Success with exact intervals, wrong once in a million times; beyond what ε allows nothing private can be."""
    colours = palette(dark=dark)
    samplers = {"naive floating point": naive, "secure sampler": secure}
    rows: Records = [
        {"noise": name, "success": told.success, "low": told.interval[0], "high": told.interval[1],
         "verdict": "broken" if told.broken else "within ε"}
        for name, told in samplers.items()
    ]  # fmt: skip
    x = {
        "field": "success", "type": "quantitative", "title": "share of guesses that are right",
        "axis": {"format": ".0%", "tickCount": 6}, "scale": {"domain": [0.4, 1], "nice": False},
    }  # fmt: skip
    y = {"field": "noise", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 150}}
    rules: Records = [{"success": guess, "label": "your guess"}]
    body = {
        "layer": [
            {
                "data": {"name": "beyond"},
                "mark": {"type": "rect", "color": hatched(colours.impossible)},
                "encoding": {"x": {**x, "field": "from"}, "x2": {"field": "to"}},
            },
            {
                "data": {"name": "guess"},
                "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [6, 4], "color": colours.others[GUESS]},
                "encoding": {"x": x},
            },
            {
                "data": {"name": "guess"},
                "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 12, "color": colours.others[GUESS]},
                "encoding": {"x": x, "y": {"value": 8}, "text": {"field": "label"}},
            },
            {
                "data": {"name": "samplers"},
                "mark": {"type": "rule", "strokeWidth": 4, "color": colours.released},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y},
            },
            {
                "data": {"name": "samplers"},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "color": colours.released},
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"name": "samplers"},
                "mark": {"type": "text", "dy": -14, "fontSize": 12, "fontWeight": "bold", "color": colours.ink},
                "encoding": {"x": x, "y": y, "text": {"field": "verdict"}},
            },
        ]
    }
    datasets: dict[str, Records] = {
        "samplers": rows, "guess": rules, "beyond": [{"from": naive.allowed, "to": 1.0}],
    }  # fmt: skip
    astride = [name for name, told in samplers.items() if not told.broken and told.interval[1] > told.allowed]
    unsettled = "".join(
        f" The bar of the {name} reaches into the hatching, but below the limit too: nothing is shown against it."
        for name in astride
    )
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=170, datasets=datasets),
        sentence=f"From one naive release the attacker tells the two counts apart in {percent(naive.success)} of "
        f"{naive.trials:,} tries (you guessed {percent(guess)}); ε = {exactly(epsilon)} allows "
        f"{percent(naive.allowed)}, hatched beyond. Against the secure sampler the same attack gets "
        f"{percent(secure.success)}.{unsettled}",
        table={
            "noise": list(samplers), "success": [told.success for told in samplers.values()],
            "from": [told.interval[0] for told in samplers.values()],
            "to": [told.interval[1] for told in samplers.values()],
            "allowed": [told.allowed for told in samplers.values()],
        },
    )  # fmt: skip
