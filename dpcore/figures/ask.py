"""A conversation as pictures: what was answered and what is true, question by question, and how wrong it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.core import Floats
from dpcore.figures.figure import Figure, Palette, Records, framed, palette, percent, rows, shortened
from dpcore.online.conversation import Transcript

FREE, PAID, REFUSED = "free", "paid", "refused"
KINDS = (FREE, PAID, REFUSED)


def _turns(transcript: Transcript, truth: Floats) -> Records:
    """One record a question of the first trial."""
    n = transcript.problem.n
    paid, declined = transcript.paid[0], transcript.declined[0]
    kinds = np.where(declined, REFUSED, np.where(paid, PAID, FREE)).tolist()
    answers = np.where(declined, np.nan, transcript.rows[0] / n)
    words = [transcript.problem.queries.describe(int(index)) for index in transcript.asked[0]]
    return [
        {"turn": turn, "question": word, "kind": kind, "guess": guess, "answer": answer, "truth": true, "error": error}
        for turn, (word, kind, guess, answer, true, error) in enumerate(
            zip(
                words,
                kinds,
                shortened(transcript.guesses[0] / n),
                shortened(answers),
                shortened(truth),
                shortened(answers - truth),
                strict=True,
            ),
            start=1,
        )
    ]


def _table(turns: Records) -> dict[str, list[Any]]:
    """Every question in words and numbers; shares of all rows."""
    names = {"turn": "question", "question": "asked", "kind": "kind", "guess": "guess", "answer": "answer",
             "truth": "true answer", "error": "error"}  # fmt: skip
    return {title: [turn[name] for turn in turns] for name, title in names.items()}


def _counted(transcript: Transcript) -> str:
    """How many of each kind."""
    free, paid, declined = (int(getattr(transcript, name).sum()) for name in ("free", "paid", "declined"))
    asked = transcript.asked.shape[1]
    text = f"{asked:,} question{'s' if asked > 1 else ''}: {free:,} free, {paid:,} paid"
    return text + (f", {declined:,} refused" if declined else "")


def _marks(colours: Palette) -> dict[str, Any]:
    """Colour and shape of free, paid and refused."""
    legend = {"columns": 3}
    hues = [colours.released, colours.others[1], colours.impossible]
    return {
        "color": {"field": "kind", "type": "nominal", "scale": {"domain": KINDS, "range": hues}, "legend": legend},
        "shape": {
            "field": "kind", "type": "nominal", "legend": legend,
            "scale": {"domain": KINDS, "range": ["circle", "diamond", "cross"]},
        },
    }  # fmt: skip


TOOLTIP: list[dict[str, Any]] = [
    {"field": "turn", "title": "question"},
    {"field": "question", "title": "asked"},
    {"field": "kind"},
    {"field": "guess", "format": ".2~%"},
    {"field": "answer", "format": ".2~%"},
    {"field": "truth", "title": "true answer", "format": ".2~%"},
]
TURN: dict[str, Any] = {
    "field": "turn", "type": "quantitative", "title": "question number",
    "axis": {"tickMinStep": 1, "grid": False}, "scale": {"nice": False, "padding": 8},
}  # fmt: skip


def said(*, transcript: Transcript, truth: Floats, badge: str, dark: bool) -> Figure:
    """Answers over the conversation, with the true ones.

    Args:
        transcript: one conversation (its first trial is drawn).
        truth: true answers as fractions of n, (k,); public data only.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, turns = palette(dark=dark), _turns(transcript, truth)
    y = {"type": "quantitative", "title": "share of all rows", "axis": {"format": "~%"}}
    known = "datum.kind != 'refused'"
    body: dict[str, Any] = {
        "data": {"name": "turns"},
        "encoding": {"x": TURN},
        "layer": [
            {
                "transform": [{"filter": known}],
                "mark": {"type": "rule", "color": colours.quiet, "opacity": 0.6},
                "encoding": {"y": {"field": "truth", **y}, "y2": {"field": "answer"}},
            },
            {
                "mark": {"type": "tick", "orient": "horizontal", "color": colours.true, "thickness": 2, "size": 9},
                "encoding": {"y": {"field": "truth", **y}, "tooltip": TOOLTIP},
            },
            {
                "transform": [{"calculate": f"{known} ? datum.answer : 0", "as": "shown"}],
                "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.9},
                "encoding": {"y": {"field": "shown", **y}, **_marks(colours), "tooltip": TOOLTIP},
            },
        ],
    }
    answered = transcript.free[0] | transcript.paid[0]
    last = f"The last answer is {percent(float(transcript.rows[0, answered][-1] / transcript.problem.n))}"
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=300, datasets={"turns": turns}),
        sentence=f"{_counted(transcript)}. {last if answered.any() else 'Nothing was answered'}. Dashes are true "
        "answers; circles are free, diamonds paid for, crosses refused.",
        table=_table(turns),
        title="Answers over the conversation",
    )


def wrong(*, transcript: Transcript, truth: Floats, promise: float, badge: str, dark: bool) -> Figure:
    """Errors over the conversation within the promised band.

    Args:
        transcript: one conversation (its first trial is drawn).
        truth: true answers as fractions of n, (k,); public data only.
        promise: the promised worst error, a fraction of n.
        badge: provenance, drawn into the picture.
        dark: for the dark theme.
    """
    colours, turns, n = palette(dark=dark), _turns(transcript, truth), transcript.problem.n
    y: dict[str, Any] = {
        "field": "error", "type": "quantitative", "title": "error, share of all rows",
        "axis": {"format": "~%"},
    }  # fmt: skip
    errors = np.abs(transcript.rows[0] / n - truth)[~transcript.declined[0]]
    worst = float(errors.max()) if len(errors) else 0.0
    # A promise of more than all rows says nothing, and would press what happened flat.
    says = promise < 1
    reach = promise if says else max(1.0, worst)
    edges: dict[str, Any] = {"low": -reach, "high": reach, "name": "promised" if says else "vacuous promise"}
    point: dict[str, Any] = {"x": TURN, "y": y, **_marks(colours), "tooltip": TOOLTIP}
    body = {
        "layer": [
            {
                "data": {"name": "promise"},
                "mark": {"type": "rect", "color": colours.theory, "opacity": 0.13},
                "encoding": {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}},
            },
            *(
                {
                    "data": {"name": "promise"},
                    "mark": {"type": "rule", "color": colours.theory, "strokeDash": [6, 3]},
                    "encoding": {"y": {"field": edge, "type": "quantitative"}},
                }
                for edge in ("low", "high")
            ),
            {
                "data": {"name": "turns"},
                "transform": [{"filter": "datum.kind != 'refused'"}],
                "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.9},
                "encoding": point,
            },
            {
                "data": {"name": "promise"},
                "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "fontSize": 12,
                         "fontWeight": "bold", "color": colours.theory},
                "encoding": {"x": {"value": 0}, "y": {"field": "high", "type": "quantitative"},
                             "text": {"field": "name"}},
            },
        ],
    }  # fmt: skip
    return Figure(
        spec=framed(body, badge=badge, colours=colours, height=300, datasets={"turns": turns, "promise": [edges]}),
        sentence=f"The worst answer so far is off by {percent(worst)} (≈ {rows(worst, n)}); promised is at most "
        f"{percent(promise)}{'' if says else ', which says nothing'}.",
        table=_table(turns),
        title="Errors over the conversation",
    )
