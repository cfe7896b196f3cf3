"""Analysis program that is downloaded with a release, as a script and as a notebook with the same cells."""

from __future__ import annotations

import json

from dpcore.core.safe_csv import program_source

CELL = "# %%"
"""Marker of the start of a cell in the script."""

ANALYSIS = '''# %% Verifies this release, loads it into pandas, answers questions. Run it in the folder of the files.
import hashlib
import json
import re
import unicodedata
from pathlib import Path

import pandas as pd

HERE = Path(globals().get("__file__", "notebook")).resolve().parent
certificate = json.loads((HERE / "certificate.json").read_text(encoding="utf-8"))

# %% Remove the apostrophe from texts that a spreadsheet would run as a formula
READER

# %% Do the files belong together?
def digest(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


if digest({k: v for k, v in certificate.items() if k != "digest"}) != certificate["digest"]:
    raise SystemExit("The certificate was changed.")
tables = {}
for name, expected in certificate["files"].items():
    if hashlib.sha256((HERE / name).read_bytes()).hexdigest() != expected:
        raise SystemExit(f"{name} is not the file that was released.")
    table = pd.read_csv(HERE / name, keep_default_na=False, na_values=[""])
    table = table.apply(lambda column: column.map(lambda each: unescape_formula(each) if type(each) is str else each))
    tables[name] = table.rename(columns=unescape_formula)
# Whether the chain of charges and the guarantee hold is checked by: python3 run.py verify certificate.json <files>

# %% The privacy guarantee
guarantee, n = certificate["guarantee"], certificate["data"]["public_n"]
unit = guarantee["unit"]["kind"]
print(f"epsilon {guarantee['epsilon']}, delta {guarantee['delta']}: {guarantee['relation']}, per {unit}")
asked = certificate["request"]["parts"]
parts = certificate["parts"]
for part in parts:
    print("\\n" + part["accuracy"]["guaranteed_error"])
    print(part["accuracy"]["statement"])
    if part["accuracy"]["intervals"]:
        print(part["accuracy"]["intervals"])
    for name in sorted(part["files"]):
        print(f"\\n{name}: {len(tables[name])} rows")
        print(tables[name].head(10).to_string(index=False))


# %% Answers with error bars
def guaranteed_error(part):
    """Return the guaranteed error of an answer to a query of the released class, in rows; None: no guarantee."""
    if part["accuracy"]["unit"] != "rows" or part["accuracy"]["worst_error"] == "no guarantee":
        return None
    return float(part["accuracy"]["worst_error"]) * n


def answers(table, kind):
    """Return some queries of the class that the guarantee covers, with their answers, as (query, rows)."""
    if "refused" not in table or table["refused"].any() or not {"rows", "share"} & set(table):
        return []
    rows = table["rows"] if "rows" in table else table["share"] * n
    places = sorted({len(table) * part // 5 for part in range(1, 5)})
    if kind == "Cells" and "rows" in table:
        last = list(table).index("rows low") if "rows low" in table else len(table.columns)
        columns = [name for name in list(table)[:last] if name not in ("refused", "cell", "rows")]
        return [(table[columns].iloc[place].to_dict(), rows.iloc[place]) for place in places]
    if kind in ("Thresholds", "Intervals") and "value" in table:
        highest = sorted({table["value"].iloc[place] for place in places} - {None})
        return [(f"at most {high:g}", rows[table["value"] <= high].sum()) for high in highest if high == high]
    if kind == "Rectangles" and "first" in table:
        middles = [(table["first"].quantile(share), table["second"].quantile(share)) for share in (0.25, 0.5, 0.75)]
        return [
            (f"at most {a:g} and at most {b:g}", rows[(table["first"] <= a) & (table["second"] <= b)].sum())
            for a, b in middles
        ]
    return []


results = {}
for part, request in zip(parts, asked):
    for name in sorted(part["files"]):
        results[name] = pd.DataFrame(
            [
                {"question": question, "rows": rows, "guaranteed error": guaranteed_error(part)}
                for question, rows in answers(tables[name], request["queries"]["type"])
            ]
        )
        if len(results[name]):
            print(f"\\n{name}: {part['accuracy']['guaranteed_error']}")
            print(results[name].to_string(index=False))
'''.replace("READER", program_source())


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
