"""Pages without a browser: opened by a link, without an error, and everything that can be read on them."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests import ROOT
from tests.pages.drawn import drawn

MAIN = ROOT / "pages" / "main.py"


def opened(page: str, **link: str) -> AppTest:
    """A page by its file, opened by a link; underscores are hyphens."""
    app = AppTest.from_file(MAIN, default_timeout=600)
    app.run()  # only then a page is known by its file
    app.switch_page(page)
    for name, value in link.items():
        app.query_params[name.replace("_", "-")] = value
    return app.run()


def sound(app: AppTest) -> AppTest:
    """The page, on which nothing went wrong."""
    assert not app.exception, [each.message for each in app.exception]
    return app


def texts(app: AppTest) -> str:
    """Everything a person could read on the page, sentences and words of pictures included."""
    shown = (app.markdown, app.caption, app.error, app.info, app.warning)
    parts = [str(element.value) for kind in shown for element in kind]
    for chart in drawn(app).values():
        words = [each["text"] for each in chart["layout"]["annotations"]]
        names = [trace["name"] for trace in chart["data"] if trace.get("name")]
        parts += [chart["title"], chart["sentence"], chart["layout"]["title"]["text"], *words, *names]
    return "\n".join(parts)
