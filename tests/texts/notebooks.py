"""Notebooks are executed without a kernel: each cell's last expression is its output, as a notebook shows it.

``python -m tests.texts.notebooks`` writes the outputs into the files; a test compares them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests import ROOT

NOTEBOOKS = ROOT / "docs" / "notebooks"


def outputs(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Run the code cells in order in an empty folder and return what each prints and shows."""
    names, found, before = dict[str, Any](), [], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in notebook["cells"]:
                found.append(run_cell("".join(cell["source"]), names) if cell["cell_type"] == "code" else [])
        finally:
            os.chdir(before)
    return found


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell and return its outputs in the notebook's format."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    *statements, last = tree.body
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(statements, []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        else:
            exec(compile(tree, "cell", "exec"), names)
    shown: list[dict[str, Any]] = []
    if printed.getvalue():
        shown.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_") and (html := value._repr_html_()) is not None:
            data["text/html"] = lines(html)
        shown.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return shown


def lines(text: str) -> list[str]:
    """Return text as a notebook's list of lines."""
    return text.splitlines(keepends=True)


def main() -> None:
    """Execute all notebooks, or those named."""
    for path in map(Path, sys.argv[1:] or sorted(map(str, NOTEBOOKS.glob("*.ipynb")))):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell, shown in zip(notebook["cells"], outputs(notebook), strict=True):
            if cell["cell_type"] == "code":
                cell["outputs"] = shown
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
