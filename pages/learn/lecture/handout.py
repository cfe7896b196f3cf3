"""The printed handout of a lecture: one HTML file without scripts, whose last pages have the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from pages.learn.kit import Lesson
from pages.learn.lecture.drawing import svg
from pages.learn.lecture.formula import mathml
from pages.learn.lecture.records import LessonRecord

TITLE = "A lecture on privacy"
STYLE = (Path(__file__).resolve().parent / "handout.css").read_text(encoding="utf-8")
MARKUP = re.compile(
    r"\$(?P<math>[^$]+)\$|\*\*(?P<bold>.+?)\*\*|\*(?P<italic>[^*]+)\*|:[a-z]+-badge\[(?P<badge>[^\]]*)\]"
)
"""Of Streamlit's Markdown, what the lessons use."""


def handout(parts: Sequence[tuple[Lesson, LessonRecord]]) -> str:
    """Return the file: each lesson's text, hidden picture and questions, then all results."""
    titles = [f"{place}. {escape(lesson.question)}" for place, (lesson, _) in enumerate(parts, 1)]
    pages = [
        _section(
            title,
            paragraphs(record.intro),
            f"<p><strong>Guess first.</strong> {inline(record.question)} ________</p>",
            _picture(record, place, shown=False),
            f"<ol>{''.join(f'<li>{escape(each)}</li>' for each in lesson.class_questions)}</ol>",
        )
        for place, (title, (lesson, record)) in enumerate(zip(titles, parts, strict=True))
    ]
    results = [
        _section(
            title,
            paragraphs(record.result),
            _picture(record, place, shown=True),
            mathml(record.formula, block=True),
            paragraphs("\n\n".join([record.meaning, *record.details])),
            f"<p><small>Reference: {escape(record.reference)}</small></p>",
        )
        for place, (title, (_, record)) in enumerate(zip(titles, parts, strict=True))
    ]
    head = f'<meta charset="utf-8"><title>{TITLE}</title><style>{STYLE}</style>'
    body = [f"<h1>{TITLE}</h1>", *pages, '<div class="results">', "<h1>Results</h1>", *results, "</div>"]
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>'


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def _picture(record: LessonRecord, place: int, *, shown: bool) -> str:
    picture = record.after if shown else record.before
    if picture is None:
        return ""
    drawn = svg(picture, badge=record.badge if shown else "not measured", key=f"p{place}{'r' if shown else 'q'}")
    sentence = f"<p><small>{escape(picture.sentence)}</small></p>" if shown else ""
    return f"<h3>{escape(picture.title)}</h3>{drawn}{sentence}"


def paragraphs(text: str) -> str:
    """Return Markdown as HTML, a paragraph for each."""
    return "".join(f"<p>{inline(each)}</p>" for each in text.split("\n\n") if each.strip())


def inline(text: str) -> str:
    """Return Markdown within a paragraph as HTML; everything else in it is text.

    >>> inline("**a < b** at $n$ :blue-badge[simulated]")
    '<strong>a &lt; b</strong> at <math><mrow><mi>n</mi></mrow></math> <small>[simulated]</small>'
    """
    parts, end = list[str](), 0
    for match in MARKUP.finditer(text):
        parts.append(escape(text[end : match.start()]))
        end = match.end()
        if match["math"]:
            parts.append(mathml(match["math"]))
        elif match["bold"]:
            parts.append(f"<strong>{inline(match['bold'])}</strong>")
        elif match["italic"]:
            parts.append(f"<em>{inline(match['italic'])}</em>")
        else:
            parts.append(f"<small>[{escape(match['badge'])}]</small>")
    return "".join([*parts, escape(text[end:])])
