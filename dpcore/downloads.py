"""One zip of a stored release: its files, its certificate, and a program that verifies and loads them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from dpcore.certificate import certificate
from dpcore.ledger.canonical import canonical
from dpcore.ledger.records import Stored

CERTIFICATE, PROGRAM = "certificate.json", "analysis.py"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Of every file: the time of a download is nobody's business, and equal releases have equal bytes."""

ANALYSIS = '''"""Verifies this release and loads it into pandas. Run it in the folder of the files."""

import hashlib
import json
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
certificate = json.loads((HERE / "certificate.json").read_text(encoding="utf-8"))


def digest(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


if digest({k: v for k, v in certificate.items() if k != "digest"}) != certificate["digest"]:
    raise SystemExit("The certificate was changed.")
tables = {}
for name, expected in certificate["files"].items():
    if hashlib.sha256((HERE / name).read_bytes()).hexdigest() != expected:
        raise SystemExit(f"{name} is not the file that was released.")
    tables[name] = pd.read_csv(HERE / name)

guarantee = certificate["guarantee"]
unit = guarantee["unit"]["kind"]
print(f"epsilon {guarantee['epsilon']}, delta {guarantee['delta']}: {guarantee['relation']}, per {unit}")
for part in certificate.get("parts", [certificate]):
    print("\\n" + part["accuracy"]["statement"])
    for name in sorted(part["files"]):
        print(f"\\n{name}: {len(tables[name])} rows")
        print(tables[name].head(10).to_string(index=False))
# The files are as they were drawn. This program checks that they belong together; whether the chain of charges and the
# guarantee hold is checked by: python3 run.py verify certificate.json <files>
'''


def downloads_of(stored: Stored) -> dict[str, bytes]:
    """Everything that is downloaded, by name."""
    return {**stored.files, CERTIFICATE: canonical(certificate(stored)), PROGRAM: ANALYSIS.encode()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """One zip; the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, each in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), each, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
