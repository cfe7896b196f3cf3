"""The app in a folder of its own, whose draws wait as long as a file is there; and one that draws inside its script."""

from __future__ import annotations

import shutil
from pathlib import Path

from run import HERE

GATE = """
import pathlib, sys, time
sys.path.insert(0, {root!r})
import dprelease.release
drawn = dprelease.release.draw
def held_up(*parts):
    while pathlib.Path({gate!r}).exists():
        time.sleep(0.05)
        {each_time}
    return drawn(*parts)
dprelease.release.draw = held_up
"""
IN_THE_SCRIPT = """

def submit(ledger, dataset_id, request, table, by):
    done = Future()
    done.set_result(_draw(ledger, dataset_id, request, table, by))
    return done
"""
"""The control: a page that draws by itself, and shows how far it is."""


def gated_app(folder: Path, gate: Path, *, in_the_script: bool = False) -> Path:
    """The app's own file in a folder; its draws wait while the gate is there, the file ``gate``."""
    folder.mkdir()
    for name in ("pages", ".streamlit"):
        shutil.copytree(HERE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dpcore", "dplab", "dprelease", "assets"):
        (folder / name).symlink_to(HERE / name)
    each_time = "import streamlit; streamlit.progress(0.5)" if in_the_script else "pass"
    if in_the_script:
        worker = folder / "pages" / "release" / "worker.py"
        worker.write_text(worker.read_text(encoding="utf-8") + IN_THE_SCRIPT, encoding="utf-8")
    app = folder / "app.py"
    future, rest = (HERE / "app.py").read_text(encoding="utf-8").split("import asyncio", 1)
    before = GATE.format(root=str(folder), gate=str(gate), each_time=each_time)
    app.write_text(f"{future}{before}\nimport asyncio{rest}", encoding="utf-8")
    return app
