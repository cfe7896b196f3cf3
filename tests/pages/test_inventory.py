"""What the app can do, item by item: what `inventory.json` lists is there, whatever is moved, merged or renamed.

Whoever renames an item renames its line; whoever drops one takes its line out, and says so in the changelog.
``python -m tests.pages.test_inventory`` adds what is new.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import dpcore
from dprelease.commands import _parser
from pages.learn.lecture.plan import LECTURE
from pages.learn.view import LESSONS, PRINTED, TEACHERS, THEOREMS
from tests import PACKAGES, ROOT
from tests.pages.opening import VIEWS, opened, sound

INVENTORY = Path(__file__).with_name("inventory.json")
LISTED: dict[str, list[str]] = json.loads(INVENTORY.read_text(encoding="utf-8")) if INVENTORY.is_file() else {}
CONTROLS = (
    "button", "button_group", "checkbox", "date_input", "download_button", "file_uploader", "multiselect",
    "number_input", "radio", "select_slider", "selectbox", "slider", "text_area", "text_input", "toggle",
)  # fmt: skip
CHOICES = ("selectbox", "radio", "button_group")
SHORT, ALWAYS = 8, "table"
"""Options of a choice that is walked, and the key of one that is however many it has: samples may be added."""
OF_ONE_TABLE = re.compile(r"_\d|\||_(adult|earnings)")
"""In the keys of controls that exist once for each row of a plan or each data set."""
ROOMS = (*PACKAGES, "pages")


def widgets(app: AppTest, kind: str) -> list[Any]:
    """A page's widgets of one kind."""
    return list(app.get(kind))


def controls(app: AppTest) -> set[str]:
    """Kinds and keys of a page's controls, and the options of those that offer some."""
    found = set()
    for kind in CONTROLS:
        for each in widgets(app, kind):
            if each.key and not OF_ONE_TABLE.search(each.key):
                found.add(f"{kind} {each.key}")
                if kind in CHOICES:
                    found |= {f"{kind} {each.key}: {option}" for option in each.options}
    return found


def with_a_column(app: AppTest) -> AppTest:
    """The page after the first option of its first empty list is chosen: what follows a choice is there then."""
    empty = next((each for each in sound(app).multiselect if not each.value and each.options), None)
    return app if empty is None else sound(empty.set_value(empty.options[:1]).run())


def walked(file: str) -> set[str]:
    """The controls of a page, as it opens and with each option of its short choices.

    What long ones offer, data sets and mechanisms, is listed as options; parameters of mechanisms have their own list.
    """
    found = controls(sound(opened(file)))
    app = with_a_column(opened(file))
    found |= controls(app)
    for each in (each for kind in ("selectbox", "radio") for each in widgets(app, kind)):
        if len(each.options) > SHORT and each.key != ALWAYS:
            continue
        for option in each.options[1:]:
            other = with_a_column(opened(file))
            next(one for one in widgets(other, each.type) if one.key == each.key).set_value(option)
            found |= controls(sound(other.run()))
            found |= controls(with_a_column(other))
    return found


def lessons() -> set[str]:
    """Each lesson, and its controls."""
    return {
        each
        for key in (*LESSONS, PRINTED, TEACHERS, THEOREMS, LECTURE)
        for each in (key, *(f"{key}: {control}" for control in controls(sound(opened("learn/page.py", lesson=key)))))
    }


def mechanisms() -> set[str]:
    """Each entry of the catalogue, and its parameters."""
    return {
        each
        for entry in dpcore.catalogue()
        for each in (entry.key, *(f"{entry.key}: {name}" for name in entry.controls()))
    }


def commands() -> set[str]:
    """Each command of the ledger with its options, and each that `run.py` explains."""
    usage = (ROOT / "run.py").read_text(encoding="utf-8").split('"""')[1]
    return {line.split("  ")[0] for line in usage.splitlines() if line.startswith("python3 ")} | set(options())


def options() -> Iterator[str]:
    """Options of the commands of the ledger."""
    waiting = [("", _parser())]
    while waiting:
        name, found = waiting.pop()
        for action in found._actions:
            yield from (f"{name} {option}".strip() for option in action.option_strings)
            if isinstance(action.choices, dict):
                waiting += [(f"{name} {key}".strip(), each) for key, each in action.choices.items()]


def variables() -> set[str]:
    """Variables of the environment that the app reads."""
    files = [
        ROOT / "app.py",
        ROOT / "launch.py",
        ROOT / "run.py",
        *(each for room in ROOMS for each in (ROOT / room).rglob("*.py")),
    ]
    text = "\n".join(each.read_text(encoding="utf-8") for each in files)
    return set(re.findall(r"\b(?:DPSCOPE|XDG)_[A-Z_]+\b", text))


def limits() -> set[str]:
    """Public names of the lower bounds and attacks."""
    found = set()
    for file in (ROOT / "dpcore" / "limits").rglob("*.py"):
        found |= set(re.findall(r"^(?:def|class) ([A-Za-z]\w*)", file.read_text(encoding="utf-8"), re.M))
    return found


QUICK = {"mechanisms": mechanisms, "commands": commands, "variables": variables, "limits": limits}


@pytest.mark.parametrize("kind", QUICK)
def test_what_is_listed_is_there(kind: str) -> None:
    assert set(LISTED[kind]) - QUICK[kind]() == set()


def test_every_page_is_there() -> None:
    assert {kind for kind in LISTED if "/page.py" in kind} <= set(VIEWS)


@pytest.mark.full
def test_every_lesson_and_its_controls_are_there() -> None:
    assert set(LISTED["lessons"]) - lessons() == set()


@pytest.mark.full
@pytest.mark.parametrize("file", VIEWS)
def test_every_control_of_a_page_is_there(file: str) -> None:
    assert set(LISTED.get(file, ())) - walked(file) == set()


if __name__ == "__main__":
    listed: dict[str, set[str]] = defaultdict(set, {kind: set(items) for kind, items in LISTED.items()})
    for kind, find in QUICK.items():
        listed[kind] |= find()
    listed["lessons"] |= lessons()
    for file in VIEWS:
        listed[file] |= walked(file)
    told = {kind: sorted(items) for kind, items in sorted(listed.items())}
    INVENTORY.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
