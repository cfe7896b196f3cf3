"""The Tables page without a browser, either view; and what makes a picture sound."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from tests import ROOT
from tests.pages.drawn import drawn, helped
from tests.pages.opening import visitor

MAIN = ROOT / "pages" / "main.py"
CHARTS = {f"marginals_{name}_chart" for name in ("step", "levels", "errors", "map", "worst")}


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    app = visitor("marginals/page.py")
    for name, value in link.items():
        app.query_params[name.replace("_", "-")] = value
    return app.run()


def sound(app: AppTest) -> AppTest:
    """The same page, which no error stopped."""
    assert not app.exception, [each.message for each in app.exception]
    return app


def sentence(app: AppTest, key: str) -> str:
    """What a chart of the page says of itself."""
    return str(drawn(app)[key]["sentence"])


def texts(app: AppTest) -> str:
    """Everything a person could read on the page, charts included."""
    shown = (app.markdown, app.caption, app.error, app.info, app.warning)
    parts = [str(element.value) for kind in shown for element in kind]
    return "\n".join([*parts, *helped(app), *(json.dumps(chart, ensure_ascii=False) for chart in drawn(app).values())])
