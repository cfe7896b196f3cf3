"""Workbooks as zips of XML, honest and hostile ones, written by hand: no library writes the hostile ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


def archive(parts: dict[str, str]) -> bytes:
    """A zip of texts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return stream.getvalue()


def column_letters(place: int) -> str:
    """The name of a column: 0 is A, 26 is AA."""
    return (column_letters(place // 26 - 1) if place > 25 else "") + chr(65 + place % 26)


def sheet_rows(rows: Sequence[Sequence[object]]) -> str:
    """The rows of a sheet in XML: numbers as such, all else as text; None is no cell at all."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = []
        for place, value in enumerate(row):
            at = f"{column_letters(place)}{number}"
            if isinstance(value, int | float):
                cells.append(f'<c r="{at}"><v>{value}</v></c>')
            elif value is not None:
                cells.append(f'<c r="{at}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return "".join(lines)


def xlsx(*sheets: str, head: str = DECLARATION, extra: dict[str, str] | None = None) -> bytes:
    """A workbook with these sheets, each the XML of its rows; ``head`` stands above the XML of every sheet."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(f'<sheet name="s{i}" sheetId="{i}" r:id="r{i}"/>' for i in numbers)
    relations = "".join(
        f'<Relationship Id="r{i}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in numbers
    )
    parts = {
        "[Content_Types].xml": f'{DECLARATION}<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": f'{DECLARATION}<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{DECLARATION}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'{DECLARATION}<Relationships xmlns="{PACKAGE}/relationships">{relations}'
        "</Relationships>",
    }
    for i, rows in zip(numbers, sheets, strict=True):
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f'{head}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return archive(parts | (extra or {}))


def ods(rows: Sequence[Sequence[object]], *, more: str = "") -> bytes:
    """An OpenDocument sheet with these rows; ``more`` is XML behind them."""
    lines = []
    for row in rows:
        cells = "".join(
            f'<table:table-cell office:value-type="float" office:value="{value}"/>'
            if isinstance(value, int | float)
            else "<table:table-cell/>"
            if value is None
            else f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p>'
            "</table:table-cell>"
            for value in row
        )
        lines.append(f"<table:table-row>{cells}</table:table-row>")
    namespaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f"{DECLARATION}<office:document-content {namespaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="s">{"".join(lines)}{more}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'{DECLARATION}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    return archive({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})
