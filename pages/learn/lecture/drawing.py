"""Pictures as SVG, from the same traces that a browser draws: for a page that opens offline, and for small pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pages.charts.axes import escape_text, format_tick, tick_labels
from pages.charts.palette import palette
from pages.charts.picture import Cloud, Picture
from pages.charts.plotly import FONT, render

DASHES = {"dot": "2 3", "dash": "7 4", "longdash": "11 5", "dashdot": "8 3 2 3", "longdashdot": "12 4 2 4"}
CORNERS = {
    "square": "-1,-1 1,-1 1,1 -1,1",
    "triangle-up": "0,-1.2 1.1,.8 -1.1,.8",
    "triangle-down": "0,1.2 1.1,-.8 -1.1,-.8",
    "diamond": "0,-1.3 1.3,0 0,1.3 -1.3,0",
    "cross": "-.4,-1.2 .4,-1.2 .4,-.4 1.2,-.4 1.2,.4 .4,.4 .4,1.2 -.4,1.2 -.4,.4 -1.2,.4 -1.2,-.4 -.4,-.4",
    "star": "0,-1.3 .3,-.4 1.2,-.4 .5,.2 .8,1.1 0,.5 -.8,1.1 -.5,.2 -1.2,-.4 -.3,-.4",
    "x-thin": "-1,-1 1,1 0,0 -1,1 1,-1 0,0",
    "line-ew": "-1.4,0 1.4,0",
}
"""Corners of markers of radius 1; all others are circles."""
LETTER, LINE, SWATCH, TICK, TILTED = 6.6, 15, 34, 5, 4.4
"""Pixels of a letter, of a line of text, of a legend's sample, of a tick, and of a tilted letter's height."""
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
DROPS = {"top": 0.85, "middle": 0.35, "bottom": -0.25}
"""From a text's place to its first line, in letters' heights."""
Point = tuple[float, float]


def svg(picture: Picture, *, badge: str, key: str, width: int = 620, dark: bool = False) -> str:
    """Return a picture as an SVG element; empty for one of three dimensions.

    Args:
        picture: what is drawn, with its sentence as text alternative.
        badge: provenance, drawn into the picture.
        key: distinguishes its parts from those of the other pictures of a page.
        width: in pixels.
        dark: whether it is for a dark page.
    """
    return "" if picture.find(Cloud) else "".join(_Drawing(picture, badge, key, width, dark=dark).parts())


class _Drawing:
    """One picture: where its axes are, and what is drawn between them."""

    def __init__(self, picture: Picture, badge: str, key: str, width: int, *, dark: bool) -> None:
        figure = render(picture, badge=badge, dark=dark, played=False)
        # A second axis, of rows, has an empty trace of its own, and is left out.
        self.traces = [each for each in figure.data if not {"xaxis", "yaxis"} & set(each)]
        self.layout, self.key, self.width = figure.layout, key, width
        self.sentence, self.height, self.colours = picture.sentence, self.layout["height"], palette(dark=dark)
        margin = self.layout["margin"]
        self.left, self.right = float(margin["l"]), float(width - margin["r"])
        self.top, self.bottom = float(margin["t"]), float(self.height - margin["b"])
        self.across, self.up = self.layout["xaxis"], self.layout["yaxis"]
        if self.across["tickangle"]:
            self.bottom -= TILTED * max(len(text) for _, text in tick_labels(self.across))
        if "scaleanchor" in self.up:  # both axes have the same scale
            lengths = [abs(axis["range"][1] - axis["range"][0]) for axis in (self.across, self.up)]
            self.right = min(self.right, self.left + (self.bottom - self.top) * lengths[0] / lengths[1])
        self.before = list[Point]()
        """Points of the line before, to which an area may reach."""

    def parts(self) -> Iterator[str]:
        """Yield the element, piece by piece."""
        legend = list(self._legend())
        rows = max((row for row, _ in legend), default=-1) + 1
        yield f'<svg viewBox="0 0 {self.width} {self.height + LINE * rows}" role="img" fill="{self.colours.ink}" '
        yield f'font-family="{FONT}" font-size="12"><title>{escape_text(self.sentence)}</title>'
        box = _points(
            [(self.left, self.top), (self.right, self.top), (self.right, self.bottom), (self.left, self.bottom)]
        )
        yield f'<clipPath id="{self.key}-clip"><polygon points="{box}"/></clipPath>'
        yield from self._axis(self.across, across=True)
        yield from self._axis(self.up, across=False)
        yield f'<g clip-path="url(#{self.key}-clip)">'
        for place, trace in enumerate(self.traces):
            draw = {"bar": self._bars, "heatmap": self._cells}.get(trace["type"], self._scatter)
            yield from draw(trace, f"{self.key}-{place}")
        yield from map(self._shape, self.layout["shapes"])
        yield "</g>"
        yield from map(self._words, self.layout["annotations"])
        badge, quiet = self.layout["title"]["text"], self.colours.quiet
        yield self._text(badge, 0, 0, size=11, colour=quiet, drop="top")
        yield from (part for _, part in legend)
        yield "</svg>"

    def _place(self, value: float, axis: dict[str, Any], *, raw: bool = True) -> float:
        """Return the pixels of a value along an axis; if not ``raw``, it is a logarithm on a logarithmic axis."""
        low, high = axis["range"]
        if raw and axis["type"] == "log":
            value = math.log10(value) if value > 0 else low - 10 * abs(high - low)
        start, end = (self.left, self.right) if axis is self.across else (self.bottom, self.top)
        share = float((value - low) / (high - low))
        return round(start + (end - start) * share, 1)

    def _at(self, value: float, reference: str, *, raw: bool) -> float:
        """Return the pixels of a value of an axis, or of a share of the picture ("paper x" and "paper y")."""
        axis = self.across if reference.endswith("x") else self.up
        if not reference.startswith("paper"):
            return self._place(value, axis, raw=raw)
        start, end = (self.left, self.right) if axis is self.across else (self.bottom, self.top)
        return start + (end - start) * value

    def _axis(self, axis: dict[str, Any], *, across: bool) -> Iterator[str]:
        """Yield an axis: its line, ticks, numbers and title."""
        if not axis["visible"]:
            return
        low, high = sorted(axis["range"])
        corner, line = (self.left, self.bottom), {"color": axis["linecolor"], "width": 1}
        yield _line([corner, (self.right, self.bottom) if across else (self.left, self.top)], line)
        for value, text in tick_labels(axis):
            if not low <= value <= high:
                continue
            text = f"{float(text):,.0f}" if "e+" in text else text
            at = self._place(value, axis, raw=False)
            start = (at, self.bottom) if across else (self.left, at)
            if axis["showgrid"]:
                end = (at, self.top) if across else (self.right, at)
                yield _line([start, end], {"color": axis["gridcolor"], "width": 1})
            tick = TICK if axis["ticks"] else 0
            end = (at, self.bottom + tick) if across else (self.left - tick, at)
            yield _line([start, end], line)
            if not across:
                yield self._text(text, end[0] - 3, at, anchor="right")
            elif axis["tickangle"]:
                yield self._text(text, at, end[1] + 3, anchor="right", drop="top", turn=axis["tickangle"])
            else:
                yield self._text(text, at, end[1] + 3, anchor="center", drop="top")
        title = axis["title"]["text"]
        if across:
            yield self._text(title, (self.left + self.right) / 2, self.height - 4, anchor="center", drop="bottom")
        else:
            yield self._text(title, 2, (self.top + self.bottom) / 2, anchor="center", drop="top", turn=-90)

    def _scatter(self, trace: dict[str, Any], key: str) -> Iterator[str]:
        """Yield a line with the area beside it, or dots with their error bars."""
        pairs = list(zip(trace["x"], trace["y"], strict=True))
        points = [
            None if x is None or y is None else (self._place(x, self.across), self._place(y, self.up)) for x, y in pairs
        ]
        if trace["mode"] == "markers":
            yield from self._dots(trace, pairs)
            return
        steps = trace["line"].get("shape") == "hv"
        pieces = [_stepped(piece) if steps else piece for piece in _pieces(points)]
        whole = [point for piece in pieces for point in piece]
        if trace.get("fill"):
            area = [*whole, *(reversed(self.before) if trace["fill"] == "tonexty" else ())]
            pattern, fill = trace.get("fillpattern"), trace["fillcolor"]
            if pattern:
                yield _hatching(key, pattern["fgcolor"], pattern["bgcolor"])
                fill = f"url(#{key})"
            yield f'<polygon points="{_points(area)}" fill="{fill}"/>'
        self.before = whole
        if trace["line"].get("width"):
            yield from (_line(piece, trace["line"]) for piece in pieces)

    def _dots(self, trace: dict[str, Any], pairs: Sequence[tuple[Any, Any]]) -> Iterator[str]:
        marker = trace["marker"]
        symbol = marker["symbol"]
        corners = CORNERS.get(symbol.removesuffix("-open"))
        for place, (x, y) in enumerate(pairs):
            if x is None or y is None:
                continue
            for name, axis, value in (("error_x", self.across, x), ("error_y", self.up, y)):
                if bar := trace.get(name):
                    ends = (value - bar["arrayminus"][place], value + bar["array"][place])
                    near, far = (self._place(end, axis) for end in ends)
                    at = self._place(y, self.up) if axis is self.across else self._place(x, self.across)
                    line = [(near, at), (far, at)] if axis is self.across else [(at, near), (at, far)]
                    yield _line(line, {"color": bar["color"], "width": bar["thickness"]})
            colour = marker["color"] if isinstance(marker["color"], str) else marker["color"][place]
            yield self._marker(
                corners, (self._place(x, self.across), self._place(y, self.up)), size=marker["size"],
                fill="none" if symbol.endswith("-open") else colour, line=marker["line"], opacity=marker["opacity"],
            )  # fmt: skip

    @staticmethod
    def _marker(corners: str | None, at: Point, *, size: float, fill: str, line: dict[str, Any], opacity: float) -> str:
        radius = size / 2
        style = f'fill="{fill}" stroke="{line["color"]}" opacity="{opacity:g}"'
        if corners is None:
            return f'<circle cx="{at[0]}" cy="{at[1]}" r="{radius:g}" {style} stroke-width="{line["width"]}"/>'
        shift = f'transform="translate({at[0]} {at[1]}) scale({radius:g})"'
        return f'<polygon points="{corners}" {shift} {style} stroke-width="{line["width"] / radius:.2g}"/>'

    def _bars(self, trace: dict[str, Any], key: str) -> Iterator[str]:
        across, fill = trace["orientation"] == "h", trace["marker"]["color"]
        if pattern := trace["marker"].get("pattern"):
            yield _hatching(key, pattern["fgcolor"], pattern["bgcolor"])
            fill = f"url(#{key})"
        starts, sizes = (trace["y"], trace["x"]) if across else (trace["x"], trace["y"])
        bases = trace.get("base", [0] * len(starts))
        for start, width, size, base in zip(starts, trace["width"], sizes, bases, strict=True):
            if None in (start, width, size, base):
                continue
            sides = [self._place(each, self.up if across else self.across) for each in (start, start + width)]
            ends = [self._place(each, self.across if across else self.up) for each in (base, base + size)]
            yield _rectangle(*((ends, sides) if across else (sides, ends)), fill=fill)

    def _cells(self, trace: dict[str, Any], _: str) -> Iterator[str]:
        """Yield shaded cells, and their scale above the picture."""
        xs = [self._place(each, self.across) for each in trace["x"]]
        ys = [self._place(each, self.up) for each in trace["y"]]
        low, high, gap = trace["zmin"], trace["zmax"], trace["xgap"] / 2
        shades = [colour for _, colour in trace["colorscale"]]
        for row, values in enumerate(trace["z"]):
            for column, value in enumerate(values):
                if value is not None:
                    share = min(max((value - low) / (high - low or 1), 0), 1)
                    shade = shades[round(share * (len(shades) - 1))]
                    yield _rectangle(xs[column : column + 2], ys[row : row + 2], fill=shade, gap=gap)
        # Beside the unit, which is an annotation.
        form = trace["colorbar"]["tickformat"]
        yield "</g><g>"
        for place, (value, anchor) in enumerate(((low, "left"), (high, "right"))):
            yield self._text(format_tick(value, form), self.left + place * 160, self.top - 16, anchor=anchor)
        for place, shade in enumerate(shades):
            left = self.left + 160 * place / len(shades)
            yield _rectangle([left, left + 160 / len(shades)], [self.top - 8, self.top - 2], fill=shade)
        yield f'</g><g clip-path="url(#{self.key}-clip)">'

    def _shape(self, shape: dict[str, Any]) -> str:
        x0, x1 = (self._at(shape[end], f"{shape.get('xref', '')} x", raw=True) for end in ("x0", "x1"))
        y0, y1 = (self._at(shape[end], f"{shape.get('yref', '')} y", raw=True) for end in ("y0", "y1"))
        corners = [(x0, y0), (x1, y1)]
        if shape["type"] == "rect":
            corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
        return _line(corners, shape["line"])

    def _words(self, words: dict[str, Any]) -> str:
        x = self._at(words["x"], f"{words['xref']} x", raw=False) + words.get("xshift", 0)
        y = self._at(words["y"], f"{words['yref']} y", raw=False) - words.get("yshift", 0)
        font = words["font"]
        return self._text(
            words["text"], x, y, anchor=words["xanchor"], drop=words["yanchor"], size=font["size"],
            colour=font["color"], weight=font["weight"], turn=words.get("textangle", 0),
        )  # fmt: skip

    def _text(
        self, text: str, x: float, y: float, *, anchor: str = "left", drop: str = "middle", size: float = 12,
        colour: str = "", weight: int = 400, turn: float = 0,
    ) -> str:  # fmt: skip
        """Return text, already escaped, with an outline in the page's colour, so that lines stop beside it."""
        lines = text.split("<br>")
        above = {"top": 0, "middle": 0.5, "bottom": 1}[drop] * LINE * (len(lines) - 1)
        spans = "".join(
            f'<tspan x="{x:g}" y="{y + DROPS[drop] * size + LINE * row - above:.1f}">{line}</tspan>'
            for row, line in enumerate(lines)
        )
        turned = f' transform="rotate({turn:g} {x:g} {y:g})"' if turn else ""
        return (
            f'<text text-anchor="{ANCHORS[anchor]}" font-size="{size:g}" font-weight="{weight}" paint-order="stroke" '
            f'fill="{colour or self.colours.ink}" stroke="{self.colours.paper}" stroke-width="3"{turned}>{spans}</text>'
        )

    def _legend(self) -> Iterator[tuple[int, str]]:
        """Yield the samples and names of the legend, each with its row below the picture."""
        row, x = 0, self.left
        for trace in (trace for trace in self.traces if trace.get("showlegend")):
            wide = SWATCH + LETTER * len(trace["name"])
            if x > self.left and x + wide > self.width:
                row, x = row + 1, self.left
            y = self.height + LINE * row + LINE / 2
            if trace.get("mode") == "markers":
                marker = trace["marker"] | {"size": 8}
                colour = "none" if marker["symbol"].endswith("-open") else marker["line"]["color"]
                corners = CORNERS.get(marker["symbol"].removesuffix("-open"))
                yield row, self._marker(corners, (x + 12, y), size=8, fill=colour, line=marker["line"], opacity=1)
            elif trace["type"] == "bar" or not trace["line"].get("width"):
                fill = trace["marker"]["color"] if trace["type"] == "bar" else trace.get("fillcolor", "none")
                yield row, _rectangle([x, x + 22], [y - 5, y + 5], fill=fill)
            else:
                yield row, _line([(x, y), (x + 22, y)], trace["line"])
            yield row, self._text(trace["name"], x + 27, y)
            x += wide + 10


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _line(points: Iterable[Point], line: dict[str, Any]) -> str:
    dash = DASHES.get(line.get("dash", "solid"))
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    style = f'stroke="{line["color"]}" stroke-width="{line["width"]:g}"{dashed}'
    return f'<polyline points="{_points(points)}" fill="none" {style}/>'


def _rectangle(xs: Sequence[float], ys: Sequence[float], *, fill: str, gap: float = 0) -> str:
    x, y = min(xs) + gap, min(ys) + gap
    width, height = abs(xs[1] - xs[0]) - 2 * gap, abs(ys[1] - ys[0]) - 2 * gap
    return f'<rect x="{x:g}" y="{y:g}" width="{max(width, 0):g}" height="{max(height, 0):g}" fill="{fill}"/>'


def _hatching(key: str, colour: str, ground: str) -> str:
    return (
        f'<pattern id="{key}" width="9" height="9" patternUnits="userSpaceOnUse"><rect width="9" height="9" '
        f'fill="{ground}"/><path d="M0,9L9,0M-1,1L1,-1M8,10L10,8" stroke="{colour}" stroke-width="1.4"/></pattern>'
    )


def _pieces(points: Iterable[Point | None]) -> list[list[Point]]:
    """Return the points of a line in pieces, which a missing point separates."""
    pieces: list[list[Point]] = [[]]
    for point in points:
        if point is None:
            pieces.append([])
        else:
            pieces[-1].append(point)
    return [piece for piece in pieces if piece]


def _stepped(points: Sequence[Point]) -> list[Point]:
    """Return points with a corner between each two: a value holds until the next."""
    corners = [
        corner for (_, y), (x, _), end in zip(points, points[1:], points[1:], strict=False) for corner in ((x, y), end)
    ]
    return [*points[:1], *corners]
