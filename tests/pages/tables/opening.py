"""The Tables page without a browser, either view; and what makes a picture sound."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from tests.pages import opening
from tests.pages.drawn_charts import drawn, helped

CHARTS = {f"marginals_{name}_chart" for name in ("step", "levels", "errors", "map", "worst")}


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    return opening.opened("tables/page.py", **link)


def sentence(app: AppTest, key: str) -> str:
    """What a chart of the page says of itself."""
    return str(drawn(app)[key]["sentence"])


def texts(app: AppTest) -> str:
    """Everything a person could read on the page, charts included."""
    shown = (app.markdown, app.caption, app.error, app.info, app.warning)
    parts = [str(element.value) for kind in shown for element in kind]
    return "\n".join([*parts, *helped(app), *(json.dumps(chart, ensure_ascii=False) for chart in drawn(app).values())])
