"""The Data page: what is asked first, what is never shown, what survives a bad file, what forgetting means."""

from __future__ import annotations

import gc
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import ParameterError, ProvenanceKind
from dpcore.data.columns import Labels, Number
from dpcore.data.dictionaries.labels import split_labels
from dpcore.data.generators import GENERATORS
from dpcore.data.product import Product, is_map
from dpcore.data.reading.tables import read_table
from dpcore.data.samples import SAMPLES, Sample
from dpcore.data.sources import Source, generated_rows
from pages.data.grid import TITLES
from pages.data.picker import OWN_FILE, current_source
from pages.data.shapes import PLANE, small_map
from pages.data.summary import cells_sentence
from tests.cases import full_but
from tests.kit.chance.numbers import has_number, inflated
from tests.kit.hostile import hostile
from tests.pages import opening
from tests.pages.drawn_charts import drawn, headline
from tests.pages.opening import run_with, sound, visitor

OWN = "My own file"
PLAN = "Plan statistics about this table →"
SECRET = "Rumpelstilzchen"
SECRET_NUMBER = 73421.75
PEOPLE = (
    "name,pay\n" + "".join(f"Anna,{pay}\nBert,{2 * pay}\n" for pay in range(1, 501)) + f"{SECRET},{SECRET_NUMBER}\n"
)


def opened(page: str = "data/page.py", **link: str) -> AppTest:
    """A page of the app, for a person who was not here before."""
    return sound(opening.opened(page, **link))


def everything(app: AppTest) -> str:
    """All that went to the browser: every element of the page with all it holds."""
    # Tables are sent in bytes, in which a number is hard to see.
    tables = [each.value.to_csv() for kind in (app.dataframe, app.data_editor) for each in kind]
    sent = (str(each.proto) for block in (app.main, app.sidebar) for each in elements(block))
    return "\n".join([*tables, *map(inflated, sent)])


def shows_number(text: str) -> bool:
    """Whether the secret number is in it, exact or rounded."""
    return any(has_number(text, each) for each in (SECRET_NUMBER, 73_421, 73_421.7, 73_421.8, 73_422))


def elements(block: Any) -> Iterator[Any]:
    """Every leaf and every block below a block."""
    for child in getattr(block, "children", {}).values():
        if getattr(child, "proto", None) is not None:
            yield child
        yield from elements(child)


def press(app: AppTest, label: str) -> AppTest:
    """Press the button of this label."""
    next(button for button in app.button if button.label == label).click()
    return sound(app.run())


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def give(app: AppTest, contents: bytes | str, *, name: str = "people.csv", answered: bool = True) -> AppTest:
    """Upload a file, and say that its first row holds names if that is asked."""
    sound(app.file_uploader[0].upload(name, contents.encode() if isinstance(contents, str) else contents).run())
    return press(app, NAMES) if answered and NAMES in labels(app) else app


def at_files(*, public: bool) -> AppTest:
    """Where a file is brought, of private rows or of a public stand-in."""
    app = opened(way=OWN)
    return sound(app.radio(key="whose").set_value("stand-in").run()) if public else app


def with_file(*, public: bool = False) -> AppTest:
    """A session that holds PEOPLE."""
    return give(at_files(public=public), PEOPLE)


def box(app: AppTest, label: str) -> Any:
    """The input of this label."""
    kinds = (
        *(app.checkbox, app.number_input, app.text_area, app.text_input, app.selectbox, app.radio, app.toggle),
        *(app.select_slider, app.slider),
    )
    return next(each for kind in kinds for each in kind if each.label == label)


def fill(app: AppTest, **values: Any) -> AppTest:
    """Set inputs by label ("_" for a blank), one run each as a person would."""
    for label, value in values.items():
        box(app, label.replace("_", " ")).set_value(value)
        sound(app.run())
    return app


def type_in(app: AppTest, **columns: dict[str, Any]) -> AppTest:
    """Type into the grid's cells, by column ("_" for a blank) and cell."""
    editor = app.data_editor[0]
    names = editor.value["Column"].tolist()
    edits = {
        names.index(column if column in names else column.replace("_", " ")): {
            TITLES[name]: value for name, value in cells.items()
        }
        for column, cells in columns.items()
    }
    assert editor.key
    before = app.session_state[editor.key]["edited_rows"]  # the browser sends all edits since the grid was drawn
    edits = before | {place: before.get(place, {}) | cells for place, cells in edits.items()}
    return run_with(app, {editor.key: {"edited_rows": edits, "added_rows": [], "deleted_rows": []}})


def grid_of(app: AppTest, column: str) -> dict[str, Any]:
    """What the grid shows of a column, by cell: what was sent, and over it what was typed."""
    editor = app.data_editor[0]
    frame = editor.value.set_index("Column")
    place = frame.index.tolist().index(column)
    edits = app.session_state[editor.key]["edited_rows"].get(place, {}) if editor.key else {}
    shown = frame.astype(object).where(frame.notna(), None).loc[column].to_dict() | edits
    return {name: shown[title] for name, title in TITLES.items()}


def use(app: AppTest, *names: str) -> AppTest:
    """Put a column, or two, to use."""
    fill(app, **dict(zip(("Column", "Second column"), names, strict=False)))
    return press(app, "Use this column")


def declared_pay(app: AppTest, *, low: float = 0.0, high: float = 2048.0) -> AppTest:
    """Declare the column pay and put it to use."""
    return use(type_in(app, pay={"from": str(low), "to": str(high)}), "pay")


def source_of(app: AppTest) -> Source:
    """The column in use; there is one."""
    source = upload_of(app)
    assert source is not None
    return source


def upload_of(app: AppTest) -> Source | None:
    found: Source | None = app.session_state.get("upload")
    return found


def test_private_is_the_default_and_asked_first() -> None:
    app = opened(way=OWN)
    assert app.radio[0].key == "whose"
    assert app.radio[0].value == "private"
    assert app.file_uploader[0].label.startswith("Your private file")


def test_a_link_cannot_answer_whose_rows_they_are() -> None:
    app = opened(way=OWN, whose="stand-in")
    assert app.radio(key="whose").value == "private"


def test_private_rows_are_shown_nowhere() -> None:
    app = with_file()
    pages = [everything(app)]
    declared_pay(app)
    pages.append(everything(app))
    assert "Loaded; no values are shown." in pages[-1]
    assert not drawn(app) and "Fill in from the data" not in labels(app)
    for page in ("play/page.py", "data/page.py"):
        pages.append(everything(sound(app.switch_page(page).run())))
    for shown in pages:
        assert SECRET not in shown
        assert not shows_number(shown)
        assert "1,001" not in shown


def test_the_number_of_private_rows_is_shown_once_it_is_said_to_be_public() -> None:
    app = declared_pay(with_file())
    told = "Only the data owner sees more than releases and, if you declare it public,"
    assert told in everything(app)
    assert "1,001" not in everything(app) and "rows, 2 columns" not in everything(app)
    app = fill(app, **{"The number of rows is public": True})
    assert "1,001 rows, 2 columns" in everything(app) and "n = 1,001, loaded" in everything(app)
    assert "1,001" not in everything(give(app, PEOPLE))  # the next file has its own answer
    assert "1,001 rows, 2 columns" in everything(with_file(public=True))


NAMES, DATA = "Names of the columns", "Data, like all rows"
HEADLESS = f"{SECRET},{SECRET_NUMBER}\nAnna,1\nBert,2\n"


def test_nothing_of_a_first_row_that_could_be_a_person_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    app = give(opened(way=OWN), HEADLESS, answered=False)
    assert "**Does the first row hold column names or data?**" in everything(
        app
    ) and "column 1 … column 2" in everything(app)
    assert not list(tmp_path.iterdir()) and not app.data_editor
    assert SECRET not in everything(app) and not shows_number(everything(app))
    app = type_in(press(app, DATA), column_2={"from": "0", "to": "10"})
    source = source_of(press(app, "Use this column"))
    assert source.dataset().n == 3 and "header=None" in "\n".join(source.code())
    assert SECRET not in everything(app) and not shows_number(everything(app))


def test_the_number_of_rows_follows_the_answer() -> None:
    app = give(opened(way=OWN), "Anna,x\nBert,y\n")
    source = source_of(press(type_in(app, x={"from": "0", "to": "10"}), "Use this column"))
    assert source.dataset().n == 1 and "header=0" in "\n".join(source.code())


def test_a_file_that_waits_for_an_answer_can_be_forgotten_and_leaves_the_former_one() -> None:
    app = declared_pay(with_file())
    source = upload_of(app)
    app = give(app, HEADLESS, name="headless.csv", answered=False)
    assert "headless" in everything(app) and upload_of(app) is source
    assert "set Lines to skip under Format" in everything(app)
    assert press(app, "Remove this file").session_state["file"].table.name == "people.csv"
    app = press(give(app, f"{SECRET},1\n{SECRET},1,1\n", name="ragged.csv", answered=False), DATA)
    assert [error.value for error in app.error] == ["ragged.csv: row 2 has 3 fields or more where 2 were expected."]
    assert upload_of(app) is source and "**Does the first row" not in everything(app)


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85"])
def test_labels_are_split_where_the_reader_of_the_file_breaks_lines(sign: str) -> None:
    table = read_table(f"name,pay\nAnna{sign}Bert,1\n{sign}Cleo,2\n".encode(), name="x.csv")
    found = split_labels(f" Anna{sign}Bert \r\n\n{sign}Cleo\n")
    assert found == (f"Anna{sign}Bert", f"{sign}Cleo")
    assert table.labels("name", found).tolist() == [0, 1]


def test_the_search_for_a_shown_secret_finds_one() -> None:
    app = press(type_in(with_file(public=True), pay={"use": False}), "Fill in from the data")
    assert SECRET in everything(app)
    assert not shows_number(everything(app))
    app = press(type_in(app, pay={"use": True}), "Fill in from the data")
    assert shows_number(everything(app))
    assert shows_number("at most 73,421.75.") and shows_number('{"x":73421}') and not shows_number("0a73421f 1.734217")


def test_a_column_that_is_used_is_the_data_in_use_until_its_file_is_forgotten() -> None:
    def chip() -> str:
        return str(next(link.proto.label for link in app.get("page_link")))

    app = with_file()
    assert chip() == "Public · Ages, 10,000 rows"
    app = declared_pay(app)
    assert chip() == r"Private · people\.csv\: pay · assumed n = 10,000" and app.session_state["data"] == "my-file"
    app = press(app, "Remove this file")
    assert not app.exception and not [link for link in app.get("page_link") if "people" in link.proto.label]


def test_pages_say_that_the_file_in_use_is_gone() -> None:
    app = visitor("play/page.py")
    app.session_state["data"] = "my-file"
    said = [each.value for each in sound(app.run()).warning]
    assert len(said) == 1 and said[0].startswith("Your file is no longer in use. Showing “")


def test_a_number_is_declared_and_used() -> None:
    app = type_in(with_file(), pay={"from": "0", "to": "1e2", "outside": "missing", "unit": "EUR", "bins": 1000})
    assert upload_of(app) is None
    source = source_of(press(app, "Use this column"))
    assert source.domain == Number(low=0, high=100, bins=1000, missing=True, clamp=False, unit="EUR")
    dataset = source.dataset()
    assert dataset.n == 1001
    assert dataset.histogram[-1] == 1001 - 100 - 50
    assert dataset.provenance.kind is ProvenanceKind.PRIVATE


NUMBERS = "From and to must be numbers."
BOUNDS = "The lower bound must be a finite number below the upper bound."
WRONG = [
    ({"from": "5", "to": "5"}, BOUNDS),
    ({"from": "0", "to": "1e999"}, BOUNDS),
    ({"from": "nan", "to": "1"}, BOUNDS),
    ({"from": "2024-01", "to": "9"}, f"{NUMBERS} If the column holds words, its kind is “category”."),
    ({"from": "a; b"}, f"{NUMBERS} If the column holds words, its kind is “category”."),
    ({"to": "100,000"}, "From and to must be numbers without a separator of thousands, such as 100000."),
    ({"kind": "date: day", "from": "2023-02-29", "to": "2024"}, "Write an existing day, for example 2024-02-29."),
    ({"kind": "date: week", "from": "2020-W53", "to": "2021-W53"}, "Write an existing week, for example 2024-W09."),
    ({"kind": "date: month", "from": "2024-02", "to": "2024-01"}, "The last month must come after the first."),
    ({"kind": "category", "labels": "a; b; a"}, "Every label must be listed once."),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "said"), WRONG)
def test_cells_that_make_no_domain_are_one_sentence(cells: dict[str, Any], said: str) -> None:
    app = type_in(with_file(), pay=cells)
    assert [error.value for error in app.error] == [f"`pay`: {said}"]
    assert "Use this column" not in labels(app)


def test_labels_are_typed_between_semicolons() -> None:
    app = type_in(with_file(), name={"kind": "category", "labels": " Anna ;; Bert;Cleo"})
    source = source_of(press(app, "Use this column"))
    assert source.domain == Labels(labels=("Anna", "Bert", "Cleo"))
    assert source.dataset().histogram.tolist() == [500, 500, 0, 1]
    type_in(app, name={"labels": "Anna;Anna"})
    assert [error.value for error in app.error] == ["`name`: Every label must be listed once."]
    assert upload_of(app) is source


def test_a_label_that_holds_a_semicolon_is_typed_in_quotes_and_the_page_says_how_many_it_read() -> None:
    app = type_in(with_file(), name={"kind": "category", "labels": "Anna; east"})
    assert "`name` (2). Put a label that contains a semicolon in quotes." in everything(app)
    source = source_of(use(type_in(app, name={"labels": '"Anna; east"; Bert'}), "name"))
    assert source.domain == Labels(labels=("Anna; east", "Bert"))
    source = source_of(use(type_in(app, name={"labels": '"Anna; east"'}), "name"))
    assert source.domain == Labels(labels=("Anna; east",))


@pytest.mark.parametrize("kind", ["yes/no", "number"])
def test_labels_of_a_column_that_is_no_category_are_said_not_to_be_used(kind: str) -> None:
    app = type_in(with_file(), name={"kind": kind, "labels": "Anna; Bert"})
    assert [each.value for each in app.warning] == [
        f"Only a category has labels. The labels of `name` ({kind}) are not used."
    ]
    assert not type_in(app, name={"kind": "category"}).warning


def test_a_cell_that_is_emptied_again_is_empty() -> None:
    """The browser sends no edit of a cell that is as it was drawn; the words typed in between had stayed."""
    app = type_in(with_file(), pay={"from": "0", "to": "words"}, name={"labels": "Anna"})
    assert len(app.warning) == len(app.error) == 1
    key = app.data_editor[0].key
    assert key
    run_with(app, {key: {"edited_rows": {1: {"From": "0"}}, "added_rows": [], "deleted_rows": []}})
    assert not app.warning and not app.error
    assert "Still missing: `name` (from, to), `pay` (to)." in everything(app)


TWO = "wide,high,name\n0.5,1,a\n,2,b\n3.5,2.5,c\n99,73421.5,d\n1,nothing,e\n"


def with_two(*, public: bool = False) -> AppTest:
    """A session that holds TWO, of which names are not used."""
    return type_in(give(at_files(public=public), TWO), name={"use": False})


FOUR = {"from": "0", "to": "4"}


def test_two_numbers_are_declared_and_used_together() -> None:
    app = with_two()
    assert "Use this column" not in labels(app)
    app = use(type_in(app, wide={**FOUR, "outside": "missing"}, high=FOUR), "wide", "high")
    source = upload_of(app)
    assert isinstance(source, Source)
    assert source.columns == ("wide", "high") and not source.bounds_from_data
    domain = source.domain
    assert is_map(domain)
    assert domain.shape == (32, 32) and domain.names == ("wide", "high")
    # One width is missing, one out of bounds, one height missing: three of five rows lack a number.
    assert source.dataset().histogram[-1] == 3
    assert not shows_number(everything(app)) and not drawn(app)
    assert source_of(press(fill(app, Cells_per_side=7), "Use this column")).on(Product).shape == (7, 7)


def test_a_public_pair_is_drawn_as_a_map() -> None:
    app = type_in(with_two(public=True), high={"kind": "category"})
    app = press(type_in(app, high={"kind": "number"}), "Fill in from the data")  # one of five is no number
    found = [grid_of(app, column)[end] for column in ("wide", "high") for end in ("from", "to")]
    assert found == ["0.5", "99", "1", "73421.5"]
    app = use(app, "wide", "high")
    assert "file-summary_chart" in drawn(app) and "32 by 32 cells" in everything(app)


def test_bounds_of_a_second_column_are_taken_back_with_the_steward_s_switch() -> None:
    app = type_in(steward(with_two(), on=True), wide=FOUR, high={"kind": "category"})
    app = type_in(app, high={"kind": "number"})
    app = use(press(app, "Fill in from the data"), "wide", "high")
    assert source_of(app).bounds_from_data
    assert any("No guarantee covers that. Before you release, type bounds" in warning.value for warning in app.warning)
    app = steward(app, on=False)
    assert upload_of(app) is None
    assert [grid_of(app, "wide")[end] for end in ("from", "to")] == ["0", "4"]
    assert [grid_of(app, "high")[end] for end in ("from", "to")] == [None, None]
    assert not shows_number(everything(app))


def test_a_file_with_one_column_has_no_pairs() -> None:
    app = type_in(give(opened(way=OWN), "pay\n1\n2\n"), pay=FOUR)
    assert re.search(r"\b1 column\b", everything(app))
    assert box(app, "Second column").options == ["none"] and not app.error


def test_a_category_is_the_second_column_of_a_map() -> None:
    app = type_in(with_two(), wide=FOUR, high={"kind": "category", "labels": "1; 2"})
    source = source_of(use(app, "wide", "high"))
    assert is_map(source.domain)
    assert source.domain.columns[1].cell_names == ("1", "2")


def test_a_stand_in_is_shown_and_can_fill_in_its_domain() -> None:
    app = press(with_file(public=True), "Fill in from the data")
    assert (grid_of(app, "pay")["from"], grid_of(app, "pay")["to"]) == ("1", str(SECRET_NUMBER))
    source = source_of(use(app, "pay"))
    assert source.provenance.kind is ProvenanceKind.STAND_IN
    assert source.bounds_from_data, "and whoever calls these rows private cannot release on it"
    assert set(drawn(app)) == {"file-summary_chart"}


def steward(app: AppTest, *, on: bool) -> AppTest:
    return sound(app.toggle(key="steward_choice").set_value(on).run())


@pytest.mark.parametrize("public", [False, True])
def test_no_link_tells_that_one_bar_of_private_rows_dwarfs_the_rest(public: bool) -> None:
    app = at_files(public=public)
    give(app, "pay\n" + "7\n" * 900 + "".join(f"{pay}\n" for pay in range(100)))
    declared_pay(app if public else steward(app, on=True), high=128)
    (switch,) = (each for each in app.toggle if each.label == "Log scale")
    in_links = {switch.proto.query_param_key} | (app.session_state["linked"] & {switch.key})
    assert in_links == ({switch.key} if public else {""})


def test_a_domain_filled_in_by_the_steward_is_marked_and_taken_back_with_the_switch() -> None:
    app = use(press(steward(with_file(), on=True), "Fill in from the data"), "pay")
    assert source_of(app).bounds_from_data
    assert any("No guarantee covers that. Before you release, type bounds" in warning.value for warning in app.warning)
    assert set(drawn(app)) == {"file-summary_chart"}
    assert "not protected" in everything(app)
    steward(app, on=False)
    assert upload_of(app) is None
    assert grid_of(app, "pay")["from"] is None and grid_of(app, "name")["labels"] is None
    assert not shows_number(everything(app)) and SECRET not in everything(app)


@pytest.mark.parametrize(("label", "typed"), [('"Q" ward', '"""Q"" ward"'), ("A; east", '"A; east"')])
def test_a_label_read_off_private_rows_is_taken_back_though_others_were_deleted(label: str, typed: str) -> None:
    quoted = label.replace('"', '""')
    app = steward(give(opened(way=OWN), f'ward,x\n"{quoted}",1\nother,2\n'), on=True)
    app = press(app, "Fill in from the data")
    assert grid_of(app, "ward")["labels"] == f"{typed}; other"
    app = use(type_in(app, ward={"labels": typed}), "ward")
    source = source_of(app)
    assert source.domain == Labels(labels=(label,)) and source.bounds_from_data
    steward(app, on=False)
    assert upload_of(app) is None and grid_of(app, "ward")["labels"] is None


@pytest.mark.parametrize("label", ['"Q" ward', "A; east", "plain"])
def test_one_label_alone_is_filled_in_as_it_is_in_the_file(label: str) -> None:
    quoted = label.replace('"', '""')
    app = give(at_files(public=True), "ward,x\n" + 3 * f'"{quoted}",1\n')
    source = source_of(use(press(app, "Fill in from the data"), "ward"))
    assert source.domain == Labels(labels=(label,)) and source.dataset().n == 3


@pytest.mark.parametrize(
    ("cells", "bounds", "missing"),
    [
        ("1 NaN 9", (1, 9), 1),
        ("3 NA NA NA n/a null 7", (3, 7), 5),
        ("1 inf -inf 9", (1, 9), 2),
        ("5 NaN 5", (5, 6), 1),
        ("1e20 1e20 None", (1e20, 1.000001e20), 1),
    ],
)
def test_bounds_are_filled_in_from_the_numbers_there_are(cells: str, bounds: tuple[float, float], missing: int) -> None:
    rows = "".join(f"{cell},a\n" for cell in cells.split())
    app = give(at_files(public=True), f"x,y\n{rows}", name="gaps.csv", answered=False)
    press(app, "Fill in from the data")
    found = grid_of(app, "x")
    assert (float(found["from"]), float(found["to"])) == pytest.approx(bounds, rel=1e-12)
    source = source_of(use(app, "x"))
    assert not app.error
    assert source.dataset().histogram[-1] == missing


@pytest.mark.parametrize(("cells", "said"), [(" ", "it has no values"), ("NaN", "category")])
def test_a_column_without_a_value_fills_in_nothing_or_says_what_it_is(cells: str, said: str) -> None:
    app = give(at_files(public=True), f"x,y\n{cells},a\n{cells},b\n", name="none.csv")
    assert said in everything(press(app, "Fill in from the data"))


def test_bounds_typed_over_filled_ones_are_the_persons_own() -> None:
    app = press(type_in(steward(with_file(), on=True), name={"use": False}), "Fill in from the data")
    app = type_in(app, pay={"from": "0", "to": "1e5"})
    assert not source_of(press(app, "Use this column")).bounds_from_data
    assert not app.warning


def test_filled_cells_typed_again_in_other_words_are_still_the_datas() -> None:
    app = press(steward(with_file(), on=True), "Fill in from the data")
    app = type_in(app, pay={"from": "0", "to": "73421.750"}, name={"labels": f"Anna;{SECRET}"})
    for column in ("pay", "name"):
        source = source_of(use(app, column))
        assert source.bounds_from_data


def test_the_next_file_asks_for_its_own_steward() -> None:
    app = steward(declared_pay(with_file()), on=True)
    give(app, PEOPLE + "Cleo,5\n")
    assert upload_of(app) is None
    declared_pay(app)
    assert app.toggle(key="steward_choice").value is False
    assert not drawn(app)


BAD = ("a gzip cut short", "Latin-1", "a row too long", "100,000,000 rows run-length encoded", "another ending")
ODD = ("line breaks in cells", "scripts in cells", "Parquet with hostile column names", "a name that climbs")


def test_a_bad_file_leaves_the_former_one_and_one_sentence() -> None:
    app = declared_pay(with_file())
    source = source_of(app)
    for what in BAD:
        name, contents, _ = hostile(what)
        give(app, contents, name=name)
        assert len(app.error) == 1, what
        assert app.error[0].value.startswith(name.rsplit(".", 1)[0][:3]), what
        assert upload_of(app) is source, what
        assert "S3CR3T" not in everything(app), what
    assert len(source.dataset().records) == 1001


def test_a_bad_first_file_is_one_sentence_and_a_good_one_ends_it() -> None:
    app = give(opened(way=OWN), b"", name="empty.csv")
    assert [error.value for error in app.error] == ["empty.csv: it is empty."]
    assert give(app, PEOPLE).error.values == []


@pytest.mark.parametrize("what", ODD)
def test_what_is_read_of_a_hostile_file_can_be_declared(what: str) -> None:
    name, contents, _ = hostile(what)
    app = give(opened(way=OWN), contents, name=name)
    assert not app.error
    column = app.data_editor[0].value["Column"].tolist()[-1]
    app = press(type_in(app, **{column: {"from": "0", "to": "8"}}), "Use this column")
    assert upload_of(app) is not None


def test_a_replaced_file_is_gone_and_its_bounds_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    app = declared_pay(with_file())
    give(app, "name,pay\nAda,1\n", name="other.csv")
    gc.collect()
    assert len(list(tmp_path.rglob("*.parquet"))) == 1
    assert grid_of(app, "pay")["from"] is None


def test_sessions_do_not_share_a_file() -> None:
    declared_pay(with_file(public=True))
    other = opened(way=OWN)
    assert upload_of(other) is None
    assert "people.csv" not in everything(other)


def test_every_sample_has_a_card_with_its_terms() -> None:
    app = opened()
    shown = everything(app)
    for sample in SAMPLES:
        assert sample.story in shown and sample.licence in shown
    assert set(drawn(app)) == {f"sample-{SAMPLES[0].key}-summary_chart"}


@pytest.mark.parametrize("sample", full_but(SAMPLES, *SAMPLES[:2]), ids=lambda sample: sample.key)
def test_every_bundled_column_opens_and_leads_to_explore(sample: Sample) -> None:
    app = opened()
    first = SAMPLES[0].key
    for column in (*(each.name for each in sample.columns), *("*".join(pair) for pair in sample.pairs)):
        sound(app.pills(key=f"sample-{sample.key}").set_value(column).run())
        assert set(drawn(app)) == {f"sample-{key}-summary_chart" for key in (first, sample.key)}
    assert f"sample-{sample.key}-explore" in [button.key for button in app.button]


def test_every_shape_can_be_chosen_by_its_picture() -> None:
    app = opened(way="Generated")
    for key, generator in GENERATORS.items():
        press(app, generator.title.removesuffix(PLANE))
        assert app.selectbox(key="shape").value == key
        assert generator.sentence in everything(app)
        assert ("32 by 32 cells" in everything(app)) == generator.in_the_plane


def test_a_table_is_planned_and_stays_the_data_in_use() -> None:
    sample = SAMPLES[1]
    app = opened()
    sound(app.pills(key=f"sample-{sample.key}").set_value(sample.columns[0].name).run())
    app.button(key=f"sample-{sample.key}-explore-plan").click()
    assert box(sound(app.run()), "Table").value == sample.key
    sound(app.switch_page("play/page.py").run())
    assert app.selectbox(key="data").value == f"{sample.key}.{sample.columns[0].name}"
    assert PLAN not in labels(opened(way="Generated")), "generated rows are no table"


def test_an_own_table_is_planned_by_what_is_declared() -> None:
    app = steward(with_file(), on=True)
    app = use(press(app, "Fill in from the data"), "pay")
    assert upload_of(app) and PLAN not in labels(app), "Plan reads nothing that was filled in from the rows"
    app = use(type_in(app, pay={"from": "0", "to": "9999"}), "pay")
    assert box(press(app, PLAN), "Table").value == OWN_FILE


@pytest.mark.full
def test_explore_opens_on_a_chosen_shape_in_the_plane_with_its_grid() -> None:
    app = press(opened(way="Generated", sides="3", n="300"), "Clouds")
    assert "8 by 8 cells" in everything(app)
    press(app, "Use this data")
    assert headline(app) and app.selectbox(key="data").value == "clouds"
    assert (app.session_state["sides"], app.session_state["n"]) == (3, "300")


def test_a_data_set_stays_in_use_on_a_page_without_a_picker(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("play/page.py", data="clouds", sides="3", n="300")
    sound(app.switch_page("learn/page.py").run())
    state = {key: app.session_state[key] for key in app.session_state}
    monkeypatch.setattr("streamlit.session_state", state)
    assert current_source() == generated_rows("clouds", n=300, bits=3)
    state["data"] = OWN_FILE
    with pytest.raises(ParameterError, match="no longer here"):
        current_source()


def test_a_small_map_is_darkest_where_most_rows_are_and_has_the_second_number_upwards() -> None:
    counts = np.zeros((4, 2), dtype=np.int64)
    counts[0, 1], counts[3, 0] = 100, 25
    picture = small_map(counts, colour="#123456")
    assert '<rect x="0.0" y="0.0" width="40.0" height="24.0" opacity="1.00"/>' in picture
    assert '<rect x="120.0" y="24.0" width="40.0" height="24.0" opacity="0.50"/>' in picture
    assert picture.count("<rect") == 2 and 'fill="#123456"' in picture


def test_where_values_go_that_do_not_fit_is_where_they_are_counted() -> None:
    """Each sentence about the one cell more, and the domain's own reading."""
    numbers = np.array([5.0, -1.0, 99.0, np.nan])
    for clamp, words, cells in (
        (
            True,
            "Values out of bounds are clipped to the nearest bound. One more cell holds missing values.",
            [2, 0, 3, 4],
        ),
        (False, "One more cell holds missing values and values out of bounds.", [2, 4, 4, 4]),
    ):
        line = Number(low=0, high=8, bits=2, missing=True, clamp=clamp)
        assert cells_sentence(line).endswith(words) and line.encode(numbers).tolist() == cells
    grid = Product.map(Number(high=8, bits=1, missing=True), Number(high=8, bits=1))
    assert cells_sentence(grid).endswith("One more cell holds rows in which either is missing.")
    assert grid.size == 2 * 2 + 1
