"""Pages without a browser: opened by a link, without an error, and everything that can be read on them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from urllib.parse import parse_qsl

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dpcore.data.declarations import DeclaredColumn, DeclaredTable
from dpcore.data.samples import SAMPLES, sample
from dpcore.data.sources import Source, Uploaded
from pages.data.upload import SessionFile
from pages.plan.plan_table import QUESTIONS
from pages.plan.questions import initial_questions
from pages.shell.addresses import PAGES
from pages.shell.server.access import STEWARD_KEYS, USER, digest
from tests import ROOT
from tests.pages.drawn_charts import drawn, helped

MAIN = ROOT / "pages" / "main.py"
FILES = {f"{page.folder}/page.py": page.address for page in PAGES}
"""Scripts of all pages, with their addresses."""
DIRECTIONS, RANDOM_PRIVACY, HOSPITALS, SUBSET_SUMS = (
    f"learn/page.py?lesson={lesson}&view=data" for lesson in ("directions", "random", "population", "subset")
)
"""Own-data views of lessons, as pages that are opened by their file and a query."""
VIEWS = (*FILES, DIRECTIONS, RANDOM_PRIVACY, HOSPITALS, SUBSET_SUMS)


def visitor(page: str) -> AppTest:
    """A new session at a page by its file, before its first run: what another page sets is not there."""
    file, _, query = page.partition("?")
    app = AppTest.from_file(MAIN, default_timeout=600)
    app._page_hash = calc_hash(FILES[file])
    return with_query(app, query)


def with_query(app: AppTest, query: str) -> AppTest:
    """Return the session with a query in its address."""
    for name, value in parse_qsl(query):
        app.query_params[name] = value
    return app


def switch_page(app: AppTest, page: str) -> AppTest:
    """Return the session at another page, by its file and perhaps a query, before its next run."""
    file, _, query = page.partition("?")
    return with_query(app.switch_page(file), query)


STEWARD = {USER: digest(STEWARD_KEYS.new_key())}
"""What Streamlit knows of a session in the steward's browser."""


def as_steward(app: AppTest) -> AppTest:
    """The session, in the steward's browser."""
    app.user = {**STEWARD}
    return app


def opened(page: str, **link: str) -> AppTest:
    """A page by its file, opened by a link; underscores are hyphens.

    Play has few releases at ε = 1 and all its pictures by default, and Plan its example.
    """
    app = visitor(page)
    if page == "plan/page.py":
        key = link.get("table", "adult")
        key = key if key in {each.key for each in SAMPLES} else "adult"
        columns = (DeclaredColumn(name=each.name, on=each.on) for each in sample(key).columns)
        app.session_state[QUESTIONS] = {key: initial_questions(DeclaredTable(columns=tuple(columns)))}
    if page == "play/page.py":
        link = {"trials": "100", "epsilon": "1", "card": "all", **link}
    for name, value in link.items():
        app.query_params[name.replace("_", "-")] = value
    return app.run()


def sound(app: AppTest) -> AppTest:
    """The page, on which nothing went wrong."""
    assert not app.exception, [each.message for each in app.exception]
    return app


def run_with(
    app: AppTest, state: Mapping[str, object] | None = None, *, link: Mapping[str, str] | None = None
) -> AppTest:
    """The page's next run, in a session and at an address that hold these, on which nothing went wrong."""
    for key, value in (state or {}).items():
        app.session_state[key] = value
    app.query_params.update(link or {})
    return sound(app.run())


def neighbours_said(app: AppTest) -> list[str]:
    """What the bar on top says of the relation, as help: one text, or none where the page has nothing to say of it."""
    said = [each.proto.help.partition("Neighbouring data sets: ") for each in app.markdown]
    return [words.partition(". ")[0] for before, found, words in said if found and not before]


def printed_by_code(app: AppTest, *, key: str) -> str:
    """What the code below the page prints once it is opened: the page's promise is that it runs."""
    app.session_state[key] = True
    told = io.StringIO()
    with redirect_stdout(told):
        exec(compile(sound(app.run()).code[0].value, "snippet", "exec"), {})
    return told.getvalue()


def texts(app: AppTest) -> str:
    """Everything a person could read on the page, sentences and words of pictures included."""
    shown = (app.markdown, app.caption, app.error, app.info, app.warning)
    parts = [str(element.value) for kind in shown for element in kind]
    for chart in drawn(app).values():
        words = [each["text"] for each in chart["layout"]["annotations"]]
        names = [trace["name"] for trace in chart["data"] if trace.get("name")]
        parts += [chart["title"], chart["sentence"], chart["layout"]["title"]["text"], *words, *names]
    return "\n".join([*parts, *helped(app)])


def file_of(source: Source, *, turn: int) -> SessionFile:
    """The file that a session holds where this is its source."""
    assert isinstance(source.origin, Uploaded)
    return SessionFile(origin=source.origin, turn=turn)
