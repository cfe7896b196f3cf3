"""Where the ledger holds the rows, the n of every page is the registered one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import Neighbours
from dpcore.data.columns import Number
from dpcore.data.reading.tables import read_table
from dpcore.data.samples import load_sample
from dpcore.data.sources import Uploaded
from dprelease.ledger.records import Registration
from dprelease.ledger.store import Ledger
from dprelease.ledger.units import Price
from pages.data.upload import SessionFile
from pages.shell.ledger.roles import ADMITTED
from tests.kit.ledgers import STEWARD
from tests.kit.sources import own
from tests.pages.drawn_charts import drawn
from tests.pages.opening import sound, visitor
from tests.pages.release.test_page_states import said, token

__all__ = ["token"]
CSV = "income\n" + "".join(f"{place % 97}\n" for place in range(290))
PAGES = {
    "play": "play/page.py",
    "one-number": "one_number/page.py",
    "ask": "conversation/page.py",
    "marginals": "tables/page.py",
    "plan": "plan/page.py",
}


def at(page: str, folder: Path, relation: Neighbours, *, steward: bool = True) -> AppTest:
    table = read_table(CSV.encode(), name="incomes.csv", header=True)
    n = 300 if relation is Neighbours.ADD_REMOVE_ONE else table.row_count
    fixed = Registration(name="incomes", neighbours=relation, public_n=n)
    Ledger.open(folder).register(fixed, table, Price.allowed(epsilon=5), STEWARD)
    app = visitor(PAGES[page])
    app.session_state[ADMITTED] = steward
    source = own(table, "income", on=Number(high=100, bits=5, missing=True), private=True)
    assert isinstance(source.origin, Uploaded)
    app.session_state["upload"] = source
    app.session_state["data"] = app.session_state["cube"] = "my-file"
    app.session_state["neighbours"] = relation.value
    if page == "marginals":  # attributes of the held file are named on the page itself
        held = SessionFile(origin=source.origin, turn=1)
        app.session_state["file"] = held
        app.run().multiselect(key=f"{held.prefix}cube-columns").set_value(["income"]).run()
        app.text_input(key=f"{held.prefix}cube-0").set_value(">= 20, >= 40, >= 60")
    return sound(app.run())


def everything(app: AppTest) -> str:
    return said(app) + "\n".join(str(each.proto) for each in app.get("page_link"))


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("page", ["play", "one-number", "ask", "marginals"])
def test_a_registered_n_is_the_n_of_every_page(page: str, relation: Neighbours, no_ledger: Path) -> None:
    app = at(page, no_ledger, relation)
    n = 300 if relation is Neighbours.ADD_REMOVE_ONE else 290
    assert f"n = {n}" in everything(app) and "assumed" not in everything(app)
    assert "10,000" not in everything(app)
    if page != "one-number":  # rows that must change before an answer does are as many whatever n is
        computed = json.dumps(list(drawn(app).values())) + app.header[0].value
        assert f"{n} rows" in computed, "what the page computes is computed with it"
    assert not [each for each in app.number_input if each.key in ("declared_n", "nominal-my-file")], "nothing to name"


def test_a_plan_is_for_the_registered_n_too(no_ledger: Path) -> None:
    fixed = Registration(name="penguins", neighbours=Neighbours.ADD_REMOVE_ONE, public_n=300)
    Ledger.open(no_ledger).register(fixed, load_sample("penguins"), Price.allowed(epsilon=5), STEWARD)
    app = visitor(PAGES["plan"])
    app.session_state[ADMITTED] = True
    app.query_params["table"], app.query_params["neighbours"] = "penguins", Neighbours.ADD_REMOVE_ONE.words
    app = sound(app.run())
    assert "n = 300, as registered." in everything(app)
    assert not [each for each in app.number_input if each.label == "Public n"]


def test_a_stranger_is_not_told_whether_these_rows_are_registered(no_ledger: Path) -> None:
    app = at("play", no_ledger, Neighbours.ADD_REMOVE_ONE, steward=False)
    assert "n = 300" not in everything(app) and "assumed n = 10,000" in everything(app)
