"""The program ``analysis.py.txt``, downloaded with a release as a script and as a notebook of the same cells."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template

from dpcore.core.safe_csv import program_source

CELL = "# %%"
"""Marker of the start of a cell in the script."""

ANALYSIS = Template(Path(__file__).with_name("analysis.py.txt").read_text(encoding="utf-8")).substitute(
    reader=program_source()
)


def cells(script: str = ANALYSIS) -> list[str]:
    """Return the script's cells, each with its heading as a comment."""
    return [f"#{each}".strip() + "\n" for each in script.split(CELL)[1:]]


def notebook(script: str = ANALYSIS) -> bytes:
    """Return the same cells as a Jupyter notebook (nbformat 4.5) without results; the same bytes each time."""
    document = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{place}",
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": cell.splitlines(keepends=True),
            }
            for place, cell in enumerate(cells(script), 1)
        ],
    }
    return json.dumps(document, indent=1, sort_keys=True).encode()
