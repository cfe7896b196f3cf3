"""The examples in the app's docstrings give what they say; those of the packages are collected by pytest itself."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests import ROOT

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FILES = [
    file.relative_to(ROOT)
    for file in sorted((*ROOT.joinpath("pages").rglob("*.py"), ROOT / "launch.py", ROOT / "run.py"))
    if "\n    >>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", [".".join(file.with_suffix("").parts) for file in FILES])
def test_examples_give_what_they_say(name: str) -> None:
    module = import_module(name)
    tried = doctest.testmod(module, optionflags=OPTIONS)
    assert tried.attempted > 0 and not tried.failed
