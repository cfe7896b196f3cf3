"""Result cards: a card for each released statistic, with its interval, picture, sentence and file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from dpcore.core import printable
from dpcore.core.safe_csv import escape_frame
from dprelease.downloads.statistics import ReleasedStatistic, released_statistics, released_table
from dprelease.plan.titles import part_title
from dprelease.requests.intervals import has_end_columns
from dprelease.requests.parts import Request, RequestPart
from dprelease.requests.quantile_tables import QUANTILES
from pages.charts.component import draw_with_table
from pages.release.expected import begin_errors
from pages.release.figure import released_counts, released_groups, watermarked
from pages.shell.private.data_in_use import escaped

REFUSED = "The mechanism gave no answer (⊥). This result is stored and certified like any other."
MOCK = "mock data, not a release"
RATIO = "ratio of sums"
"""Name of the statistic that is shown first where a file has it: of two numbers, no other is planned."""
MAX_ROWS = 500
MAX_CARDS = 8
"""Cards that are drawn before the user asks for all."""


def show_cards(
    request: Request,
    files: Sequence[Mapping[str, bytes]],
    *,
    key: str,
    badge: str,
    downloadable: bool,
    mock: bool = False,
) -> None:
    """Draw a card for each statistic, in the request's order.

    Args:
        request: the request.
        files: of each of its parts, by name.
        key: makes the keys of the controls unique.
        badge: provenance of the numbers.
        downloadable: whether the files can be downloaded: only once they are published.
        mock: whether the numbers are of mock data.
    """
    results = list(zip(request.parts, files, strict=True))
    count = len(results)
    if count > MAX_CARDS and not st.toggle(f"Show all {count} statistics", key=f"release_all-{key}"):
        results = results[:MAX_CARDS]
    filling = []
    for place, (question, named) in enumerate(results, 1):
        # The quantiles of groups stand before the cells that they follow from.
        ordered = sorted(named.items(), key=lambda each: not each[0].endswith(f"{QUANTILES}.csv"))
        for number, (name, contents) in enumerate(ordered, 1):
            with st.container(border=True):
                each = f"{key}-{place}-{number}"
                filling.append(_card(request, question, name, contents, key=each, badge=badge, mock=mock))
                if downloadable:
                    st.download_button(
                        "CSV", contents, file_name=name, mime="text/csv", on_click="ignore",
                        key=f"release_csv-{key}-{place}-{number}", help=name,
                    )  # fmt: skip
    for fill in filter(None, filling):
        fill()


def _card(
    request: Request, question: RequestPart, name: str, contents: bytes, *, key: str, badge: str, mock: bool
) -> Callable[[], None] | None:
    """Draw a card; return what draws its expected error, once all cards have begun to compute theirs."""
    frame = released_table(question, contents)
    if has_end_columns(question.mechanism, question.problem):
        frame = frame.iloc[:, :-2]
    statistics = released_statistics(question, contents)
    watermark = " · mock data" if mock else ""
    if not statistics:
        st.markdown(f"**{escaped(part_title(request, question))}** · {question.entry.title}")
        if "refused" in frame and frame["refused"].any():
            st.info(REFUSED)
            return None
        picture = released_counts(frame)
        if picture is not None:
            picture = watermarked(picture) if mock else picture
            draw_with_table(picture, key=f"release_counts-{key}", badge=badge, title=f"counts of {name}")
            return None
        st.caption(f"{name}, {badge}{watermark}.")
        shown = frame.drop(columns="refused", errors="ignore").head(MAX_ROWS)
        st.dataframe(escape_frame(shown), height=min(240, 38 * (len(shown) + 1)), hide_index=True)
        return None
    statistic = _chosen(statistics, key)
    column = statistic.title.partition(" by ")[2]
    picture = released_counts(frame, statistic, column=column) if statistic.whole else None
    picture = picture or released_groups(statistic)
    if picture is None:
        for each in statistics:
            st.markdown(f"{escaped(each.title)}{watermark}  \n**{escaped(each.sentence.partition(': ')[2])}**")
        st.caption(f"{badge}.")
    else:
        st.markdown(f"**{escaped(statistic.title)}**{watermark}")
        picture = watermarked(picture) if mock else picture
        draw_with_table(picture, key=f"release_counts-{key}", badge=badge, title=escaped(statistic.title))
    place, finish = st.container(), begin_errors(request, question, statistic, key=key, mock=mock)
    st.code(statistic.sentence + (f", {MOCK}" if mock else ""), language=None, wrap_lines=True)

    def fill() -> None:
        with place:
            if sentence := finish():
                st.caption(escaped(sentence))

    return fill


def _chosen(statistics: Sequence[ReleasedStatistic], key: str) -> ReleasedStatistic:
    """Return the statistic to show, which has a control where a part has several by group."""
    if len(statistics) == 1 or len(statistics[0].labels) == 1:
        return statistics[0]
    titles = [printable(each.title.partition(" by ")[0]) for each in statistics]  # options are no markdown
    first = next((place for place, each in enumerate(statistics) if each.name == RATIO), 0)
    place = st.selectbox(
        "Statistic", range(len(statistics)), first, format_func=titles.__getitem__, key=f"release_statistic-{key}",
        label_visibility="collapsed",
    )  # fmt: skip
    return statistics[place]
