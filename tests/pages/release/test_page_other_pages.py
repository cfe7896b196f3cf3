"""What other pages show is released as they show it; a charged preview is one press off where a ledger has the rows."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.data.columns import Number
from dpcore.data.declarations import Capped
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Columns
from dpcore.data.sources import Source, Uploaded
from dpcore.queries.groups import GroupStatistics
from dplab.recipe import Recipe
from dprelease.ledger.checks import check
from dprelease.ledger.records import Stored
from dprelease.requests.parts import Request
from pages.data.upload import SessionFile
from pages.release.cards import REFUSED
from tests.kit.chance.numbers import has_number
from tests.kit.ledgers import SPEND, SPEND_OFF, spend
from tests.pages.opening import as_steward, neighbours_said, sound, visitor
from tests.pages.release.test_page_states import PAGE, came, press, registered, said, the, token

__all__ = ["token"]
SMALL = {"cube": "generated", "cube_rows": "1000", "cube_attributes": "6"}
PREVIEW = "Private preview, charged"


def seen(page: str, **link: str) -> AppTest:
    """The steward, who looks at a page and then at Release."""
    app = as_steward(visitor(page))
    for name, value in link.items():
        app.query_params[name.replace("_", "-")] = value
    app = sound(app.run())
    app.switch_page(PAGE)
    return sound(app.run())


def released(app: AppTest) -> AppTest:
    for label in ("Register", "Test run, free", SPEND):
        if any(each.label == label and not each.disabled for each in app.button) or label == SPEND:
            app = press(app, label)
    return app


def last(folder: Path) -> Stored:
    ledger, dataset_id = the(folder)
    assert not check(ledger, dataset_id)
    return ledger.stored(dataset_id)[-1]


def test_what_tables_shows_is_released(no_ledger: Path) -> None:
    app = seen("tables/page.py", width="2", epsilon="0.5", marginal_noise="gaussian", **SMALL)
    place = next(each for each in app.radio if each.label == "Release")
    assert place.value == "What Tables shows"
    app = released(app)
    assert "Entry 1, charged ε 0.5" in said(app) and app.dataframe
    stored = last(no_ledger)
    assert stored.body["parts"][0]["mechanism"]["key"] == "marginals-polynomial-gaussian" and list(stored.files) == [
        "answers.csv"
    ]
    # What Play shows of the same data set is one press away, and asks for a column.
    sound(next(each for each in app.radio if each.label == "Release").set_value("What Play or Plan shows").run())
    assert app.selectbox(key="data").value


def test_means_by_group_that_play_shows_are_released_with_their_intervals(no_ledger: Path) -> None:
    link = {"data": "penguins.body_mass_g", "queries": GroupStatistics.key, "epsilon": "0.5"}
    app = seen("play/page.py", **link)
    assert next(each for each in app.radio if each.label == "Release").value == "What Mean by group shows"
    assert "Entry 1, charged ε 0.5" in said(released(app))
    stored = last(no_ledger)
    [name] = stored.files
    assert stored.body["parts"][0]["mechanism"]["key"] == "group-counters"
    columns = stored.files[name].decode().splitlines()[0]
    assert all(column in columns for column in ("mean low", "mean high", "rows low", "variance")), (
        "and a group's spread"
    )


def test_one_number_is_released_and_a_refusal_is_told(no_ledger: Path) -> None:
    link = {"robust": "stable_median", "epsilon": "0.01", "delta": "1e-12"}  # one row from another median: δ to answer
    app = released(seen("one_number/page.py", data="penguins.body_mass_g", **link))
    assert "Entry 1, charged ε 0.01 and δ 10⁻¹²" in said(app)
    stored = last(no_ledger)
    assert stored.body["parts"][0]["mechanism"]["key"] == "stable_median" and list(stored.files) == ["value.csv"]
    assert b"True" in stored.files["value.csv"], "at so small an epsilon it refuses"
    assert REFUSED in said(app) and any(each.label == "Publish, free" for each in app.button)


@pytest.mark.full
def test_a_conversation_has_its_sentence_and_no_button(no_ledger: Path) -> None:
    app = seen("conversation/page.py", data="penguins.body_mass_g")
    app = press(app, "Register")
    assert (
        "A conversation with adaptive queries cannot be released. Choose the "
        "sweeping analyst, whose queries are fixed in advance."
    ) in said(app)
    assert next(each for each in app.button if each.label == SPEND_OFF).disabled
    assert not any(each.label.startswith("Test run") for each in app.button)
    app = seen("conversation/page.py", data="penguins.body_mass_g", ask_analyst="sweeping")
    assert "Entry 1, charged ε 1" in said(press(press(app, "Test run, free"), SPEND))
    assert b"declined" in last(no_ledger).files["answers.csv"]


def test_a_charged_preview_is_one_press_away_where_a_ledger_holds_the_data(no_ledger: Path) -> None:
    registered()
    app = as_steward(visitor("one_number/page.py"))  # in a session that has never seen Release
    app.query_params["data"] = "penguins.body_mass_g"
    app = sound(app.run())
    assert PREVIEW in [each.proto.label for each in app.get("page_link")]
    sound(app.selectbox(key="data").set_value("earnings.earnings").run())
    assert PREVIEW not in [each.proto.label for each in app.get("page_link")], "no ledger holds these"


def test_persons_are_registered_from_the_page_and_charged_as_persons(no_ledger: Path) -> None:
    """A person with up to three rows: the named n, the capped rows, and the guarantee so many times over."""
    lines = [f"{person % 7},{place % 90}" for place, person in enumerate(range(140))]
    table = read_table(("who,age\n" + "\n".join(lines) + "\n").encode(), name="visits.csv", header=True)
    on = Number(low=0, high=100, bits=3, missing=True)
    origin = Uploaded(table=table, private=True, digest="d2")
    reading = Capped(reading=Columns(names=("age",), on=on), person="who", rows=3)
    held = SessionFile(origin=origin, turn=2)
    app = came(upload=Source(origin=origin, reading=reading), file=held, data="my-file")
    assert "a person with at most 3 rows" in said(app)
    assert neighbours_said(app) == ["add or remove one person, ≤ 3 rows"]
    app = press(app, "Register")
    assert neighbours_said(app) == ["add or remove one person, ≤ 3 rows"]
    fixed = the(no_ledger)[0].registration(the(no_ledger)[1])
    assert (fixed.person_column, fixed.rows_a_person, fixed.public_n) == ("who", 3, 10_000)
    app.number_input(key="epsilon").set_value(0.5)
    app = press(press(sound(app.run()), "Test run, free"), spend("1.5"))
    shown = said(app).replace(str(no_ledger), "")  # a folder of temporary files may have any number
    assert "Entry 1, charged ε 1.5" in shown and not has_number(shown, 140)
    stored = last(no_ledger)
    told = stored.body["guarantee"]
    assert told["epsilon"] == "1.5" and told["unit"] == {"kind": "person", "rows_a_person": 3, "stated_by": fixed.by}
    [line] = the(no_ledger)[0].outcomes(the(no_ledger)[1])
    assert line["amount"]["epsilon"] == "1.5"
    app.switch_page("play/page.py")
    app = sound(app.run())
    assert PREVIEW in [each.proto.label for each in app.get("page_link")], "nobody saw a row, and it is in reach"
    app.switch_page(PAGE)
    app = sound(app.run())
    # Gaussian noise keeps the δ of group privacy, δ(e^(cε) - 1)/(e^ε - 1), at an ε below cε.
    app.session_state["shown"] = Recipe(
        source=Source(origin=origin, reading=reading), queries="intervals", entry_key="gaussian",
        values=(("epsilon", 0.1), ("delta", 1e-8)),
    )  # fmt: skip
    app.number_input(key="epsilon").set_value(0.1)
    app = press(press(sound(app.run()), "Test run, free"), f"{SPEND} 0.29")
    told, worse = last(no_ledger).body["guarantee"], 1e-8 * math.expm1(0.3) / math.expm1(0.1)
    [part] = Request.of(last(no_ledger).body["request"]).parts
    proved = part.mechanism.person_guarantee(part.problem, 3)
    assert 0.25 < proved.epsilon <= float(told["epsilon"]) <= proved.epsilon + 1e-9 < 0.3
    assert worse <= float(told["delta"]) <= worse * 1.0001
