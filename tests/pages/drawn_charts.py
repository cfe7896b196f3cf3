"""What a page drew: the charts of an AppTest, by their key."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from typing import Any

from streamlit.testing.v1 import AppTest


def drawn(app: AppTest) -> dict[str, dict[str, Any]]:
    """What was sent of every picture on the page (title, sentence, data, layout, frames, download), by its key."""
    charts = [each for each in app.get("bidi_component") if each.proto.component_name == "dpscope.chart"]
    return {str(each.key): json.loads(each.proto.bytes) for each in charts}


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What was sent to another of our components, by its key."""
    (found,) = (each for each in app.get("bidi_component") if each.key == key)
    return dict(json.loads(found.proto.json))


def sent_states(app: AppTest) -> Any:
    """What the pictures look like at each stop, as the browser reads it; empty where nothing is sent."""
    deflated = component(app, "live_states").get("deflated")
    return json.loads(zlib.decompress(b64decode(deflated))) if deflated else {}


def helped(app: AppTest) -> list[str]:
    """What opens beside words and controls when a reader asks for it."""
    kinds = ("markdown", "caption", "header", "subheader", "metric", "selectbox", "slider", "select_slider")
    return [each.proto.help for kind in kinds for each in app.get(kind) if getattr(each.proto, "help", "")]


def headline(app: AppTest) -> str:
    """The sentence on top of Play, which follows its slider."""
    return str(component(app, "headline")["text"])
