"""Halfspaces without a browser: every kind of rows runs, numbers are the core's, private rows stay unseen."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.core import ParameterError, Problem, finish
from dpcore.data.bundled import VECTORS, vectors_of
from dpcore.data.reading.tables import read_table
from dpcore.data.readings import Measure, Vectors
from dpcore.data.sources import Source, Uploaded, generated_vectors
from dpcore.data.sphere import Halfspaces
from dpcore.limits.chance import binomial_interval
from dpcore.mechanisms.halfspaces.noisy_counts import HalfspaceCounts
from dpcore.randomness import Preview
from dplab.halfspace_parts import CIRCLE
from dplab.limits.directions import distortions
from pages.charts.words import percent, percent_down
from pages.data.upload import SessionFile
from pages.learn.directions.controls import DirectionsRequest
from pages.learn.directions.own_data import MIN_TRIALS, trials_for
from pages.learn.directions.rows_charts import degrees_of
from pages.shell.controls import Value
from tests.cases import full_but
from tests.kit import searched
from tests.kit.halfspaces import hidden_rows
from tests.pages import opening
from tests.pages.drawn_charts import drawn
from tests.pages.opening import DIRECTIONS, printed_by_code, run_with, sound, texts, visitor
from tests.pages.test_papers import LINES

CSV = b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (i % 7 - 3, i % 11 - 5, i % 5) for i in range(400)) + b",1,2\n"


ROWS, CIRCLE_CHART, SPHERE, PARTS, ANGLES, WORST = (
    f"halfspaces_{name}_chart" for name in ("rows", "circle", "sphere", "parts", "angles", "worst")
)
ALWAYS = {ROWS, CIRCLE_CHART, PARTS, WORST}
FLAT, SPACE = ALWAYS | {ANGLES}, ALWAYS | {SPHERE}


def opened(**link: str) -> AppTest:
    """The page, opened by a link."""
    return opening.opened(DIRECTIONS, **link)


def asked_of(source: Source, *, margin: float = 0.25, **values: int | float) -> DirectionsRequest:
    """What the page asks of a source by default, with other parameters."""
    from dpcore.mechanisms import entry

    told: dict[str, Value] = {"projected": 3, "projections": 4, "directions": 16, "epsilon": 1.0, **values}
    return DirectionsRequest(
        rows=source, source=source, queries=Halfspaces(domain=source.domain), entry=entry("halfspaces"), values=told,
        degrees=10, tilt=40, margin=margin, alpha=0.1, seed=1,
    )  # fmt: skip


def test_the_bar_names_the_rows_of_the_pictures() -> None:
    """They are not the data in use on other pages."""
    names = [each.proto.label.replace("\\", "") for each in sound(opened()).get("page_link")]
    assert [each for each in names if each.startswith("Public")] == ["Public · two clouds with a margin, 10,000 rows"]


def test_cities_tell_the_true_and_the_released_share() -> None:
    app = sound(opened(vectors="cities"))
    source = vectors_of("cities")
    dataset = source.dataset()
    problem = Problem(domain=source.domain, queries=Halfspaces(domain=source.domain), n=dataset.n)
    asked = asked_of(source)
    mechanism = asked.mechanism
    trials = trials_for(asked, dataset.n)
    release = mechanism.run(mechanism.prepare(dataset, problem), Preview(1), trials)
    truth = float((dataset.records @ asked.direction > 0).mean())
    released = float(release.answer(asked.direction[None])[0, 0])
    assert app.header[0].value == f"{percent(truth)} point to its side; released: {percent(released)}"
    text = texts(app)
    assert "the hemisphere around 6° N 8° E" in text
    assert mechanism.guarantee(problem).sentence() in text
    assert f"predicted {percent(mechanism.noise_deviation(problem))}" in text
    assert "22,436" in text and "10^75,825" in text
    assert set(drawn(app)) >= SPACE
    assert drawn(app)[SPHERE]["layout"]["scene"]["zaxis"]["title"]["text"] == "north pole"


def test_the_page_opens_with_a_promise_that_is_met_beside_what_was_seen() -> None:
    app = sound(opened())
    source = generated_vectors(n=10_000, dimensions=2)
    dataset, asked = source.dataset(), asked_of(source)
    towards = np.stack([np.cos(np.radians(CIRCLE)), np.sin(np.radians(CIRCLE))], axis=1)
    heights = dataset.records @ towards.T
    kept = np.abs(heights).min(axis=0) >= 0.25
    release = asked.mechanism.run(asked.mechanism.prepare(dataset, asked.problem(dataset.n)), Preview(1), 200)
    errors = np.abs(release.answer(towards[kept]) - (heights[:, kept] > 0).mean(axis=0)).max(axis=1)
    # 16 counts share epsilon 1, so each has noise of scale 16; none of 16 exceeds J rows, but with chance 5%.
    ratio = math.exp(-1 / 16)
    rows = next(rows for rows in range(1000) if 2 * ratio ** (rows + 1) / (1 + ratio) <= 0.05 / 16)
    broken = int((errors * 10_000 > rows + 0.5).sum())
    low, high = (float(each) for each in binomial_interval(broken, 200))
    text = texts(app)
    assert (
        f"no direction of margin 0.25 or more has an error above **{rows} rows ({percent(rows / 10_000)} of n)**"
        in text
    )
    assert f"The guaranteed error, {percent(rows / 10_000)}, was exceeded in {broken} of 200. " in text
    assert f"With 95% confidence that is {percent(low)} to {percent(high)}; β = 5% is allowed." in text
    assert f"{int(kept.sum())} of 72 directions around the circle have margin 0.25" in text
    assert f"the worst error over the {int(kept.sum())} directions of the circle that have margin 0.25." in text
    wall = hidden_rows(epsilon=1.0, beta=0.05) / 2
    assert f"cannot guarantee a worst error below {wall:g} of 10,000 rows, with failure probability 0.05" in text
    assert f"No mechanism can guarantee less than {percent_down(wall / 10_000)}" in text
    assert "✓ met" in text and "not met" not in text
    assert "No row lies nearer to the line than γ = 0.25" in text
    assert set(drawn(app)) >= FLAT and all(chart["download"] for chart in drawn(app).values())


@pytest.mark.parametrize("rows", VECTORS)
def test_of_what_has_no_margin_nothing_is_promised(rows: str) -> None:
    app = sound(opened(vectors=rows))
    text = texts(app)
    dataset = vectors_of(rows).dataset()
    lost = int((dataset.records == 0).all(axis=1).sum())
    assert ("every row has a direction" in text) is (lost > 0)
    assert "has an error above **" not in text
    if rows == "penguins-raw":
        assert "No error is guaranteed for these rows: 2 of them have no direction" in text
        assert "directions of the circle that have margin 0.25" in text
        return
    assert "0 of 72 directions around the circle have margin 0.25" in text
    assert "all 72 directions of the circle, none of which has margin 0.25: no error is guaranteed for them." in text
    if rows != "digits":
        assert "No error is guaranteed for this circle" in text
        assert "The error to be guaranteed if all assumptions were met, " in text


def test_a_gap_below_the_margin_is_not_said_to_be_none() -> None:
    text = texts(sound(opened(vector_margin="0.3", margin="0.5")))
    said = re.search(
        r"none of its 72 directions has margin 0\.5\. In each, the nearest row is at most ([\d.]+) from the line\.",
        text,
    )
    found = re.search(r"largest margin is (0\.\d+)", text)
    assert said is not None and found is not None
    assert 0.3 <= float(found[1]) - 0.001 <= float(said[1]) < 0.5 and "all around" not in text


def test_a_net_fine_enough_promises_nothing_of_a_circle_without_the_margin() -> None:
    text = texts(sound(opened(vector_margin="0")))
    assert "✓ met: only directions of margin 0.098" in text
    assert "✗ **not met**: the sampled directions must have margin 0.25 (none has)" in text
    assert "No error is guaranteed for this circle" in text and "has an error above **" not in text
    assert "The error to be guaranteed if all assumptions were met, 0.92%, was exceeded in" in text


def test_the_paper_s_example_is_in_the_table() -> None:
    app = sound(opened(margin="0.5", vector_dimensions="10"))
    text = texts(app)
    for printed in ("5,609", "99,624", "10^15,579"):
        assert printed in text


@pytest.mark.parametrize(
    ("projected", "rows"),
    full_but(
        [(projected, rows) for projected in ("1", "2", "4") for rows in (*VECTORS, "generated")],
        ("1", "generated"),
        ("2", next(iter(VECTORS))),
        ("4", "generated"),
    ),
)
def test_every_kind_of_rows_at_every_dimension(rows: str, projected: str) -> None:
    link = {"vectors": rows} if rows != "generated" else {"vector_dimensions": "10"}
    app = sound(opened(halfspaces_projected=projected, vector_rows="1000", **link))
    assert not app.error and not app.warning
    flat = rows.startswith("penguins")
    assert set(drawn(app)) == {"cities": SPACE}.get(rows, FLAT if flat else ALWAYS)
    headers = [each.value for each in app.header]
    assert ("A halfspace as an interval of angles" in headers) is flat
    assert ("tilt" in [each.key for each in app.slider]) is (rows == "cities")
    text = texts(app)
    assert ("expected after projection" in text) is (
        int(projected) < {"cities": 3, "digits": 64, "generated": 10}.get(rows, 2)
    )
    if flat:
        assert "2 rows have no direction" in text


def test_sliders_turn_the_direction_and_keep_the_release() -> None:
    app = sound(opened(vectors="penguins"))
    before, header = drawn(app), app.header[0].value
    sound(app.slider(key="angle").set_value(210).run())
    after = drawn(app)
    assert after[CIRCLE_CHART]["sentence"] == before[CIRCLE_CHART]["sentence"]
    assert app.header[0].value != header
    for chart, angle in ((before, 10), (after, 210)):
        handle = chart[ROWS]["handle"]
        assert degrees_of(handle["x"], handle["y"]) == angle
        assert [shape["x0"] for shape in chart[CIRCLE_CHART]["layout"]["shapes"]] == [angle]
    assert "**210° from “longer bill”" in texts(app)
    sound(app.slider(key="margin").set_value(0.0).run())
    assert "need a margin above 0" in texts(app)


def test_a_release_has_one_largest_error_wherever_it_is_told() -> None:
    app = sound(opened())
    around, beside = (drawn(app)[key]["sentence"] for key in (CIRCLE_CHART, ANGLES))
    told = f"around the circle, at {len(CIRCLE)} directions, mean over releases: Halfspace release "
    seen = searched(r"at (\d+) directions, .* Its mean over [\d,]+ releases is ([\d.]+%)\.", around)
    assert int(seen[1]) == len(CIRCLE)
    assert f"{told}{seen[2]}," in beside


def test_a_finer_net_brings_the_promise() -> None:
    app = sound(opened(vector_dimensions="3"))
    assert "at this margin. Choose" in texts(app)
    sound(app.select_slider(key="halfspaces-directions").set_value("128").run())
    assert "✓ met: only directions of margin 0.152" in texts(app)
    assert "no direction of margin 0.25 or more has an error above **" in texts(app)


def test_few_releases_where_one_takes_long() -> None:
    large = generated_vectors(n=100_000, dimensions=64)
    assert trials_for(asked_of(large, projections=64, directions=512), large.origin.rows) == MIN_TRIALS
    assert trials_for(asked_of(vectors_of("penguins")), 344) == 200


def with_file(*, private: bool) -> AppTest:
    """The page with a held file whose first two columns were chosen and declared."""
    held = SessionFile(origin=Uploaded(table=read_table(CSV, name="own.csv"), private=private, digest="0"), turn=1)
    app = run_with(visitor(DIRECTIONS), {"file": held, "vectors": "my-file"})
    app.multiselect(key=f"{held.prefix}vector-columns").set_value(["a", "b"]).run()
    for place, (low, high) in enumerate(((-4.0, 4.0), (-6.0, 6.0))):
        app.number_input(key=f"{held.prefix}vector-{place}-from").set_value(low)
        app.number_input(key=f"{held.prefix}vector-{place}-to").set_value(high)
    return sound(app.run())


def moved_by(app: AppTest) -> str:
    """What the page says of projections, once they are opened."""
    run_with(app, {"halfspaces_moved_open": True})
    (said,) = (each.value for each in app.markdown if "pairs of your rows, sampled" in each.value)
    return str(said)


def test_inner_products_of_own_columns_are_projected_once_asked_for() -> None:
    """The worst pair's is that of fresh matrices on the same pairs; the theorem's T is above the rows' dimensions."""
    app = with_file(private=False)
    assert "halfspaces_moved_chart" not in drawn(app)
    said = moved_by(app)
    assert "60 pairs" in said and "T is at least 240, and rows have 2 numbers: no guarantee helps" in said
    chart = drawn(app)["halfspaces_moved_chart"]
    assert "2-number rows" in chart["sentence"] and chart["download"]
    source = asked_of(generated_vectors(n=300, dimensions=5)).source
    seen = finish(distortions(source.dataset().records, chance=0.05, seed=1))
    assert seen.dimensions == (1, 2, 4, 5, 8, 16, 32, 64, 128, 256, 512, 1024, 2048) and seen.before == 5
    claimed = seen.claimed()
    guaranteed = np.isfinite(claimed)
    assert guaranteed.any() and (seen.products.max(axis=1)[guaranteed] < claimed[guaranteed]).all()
    assert seen.products[0].max() > 0.5, "one dimension keeps hardly anything: the control"


def test_rows_without_a_direction_take_no_part_and_two_others_are_needed() -> None:
    records = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    seen = finish(distortions(records, chance=0.05, seed=1))
    assert seen.products.shape == (12, 1) and seen.dimensions[:3] == (1, 2, 4)
    with pytest.raises(ParameterError, match="two rows that have a direction"):
        finish(distortions(records[:2], chance=0.05, seed=1))


def test_an_own_public_file() -> None:
    app = with_file(private=False)
    table = read_table(CSV, name="own.csv")
    measures = (Measure(column="a", low=-4, high=4), Measure(column="b", low=-6, high=6))
    source = Source(origin=Uploaded(table=table, private=False, digest="0"), reading=Vectors(measures=measures))
    truth = float((source.dataset().records @ asked_of(source).direction > 0).mean())
    assert app.header[0].value.startswith(f"{percent(truth)} point to its side")
    assert set(drawn(app)) >= FLAT
    held: SessionFile = app.session_state["file"]
    sound(app.number_input(key=f"{held.prefix}vector-0-from").set_value(9.0).run())
    assert "must begin below its end" in app.error[0].value and not drawn(app)


def test_private_rows_show_nothing_until_their_steward_asks() -> None:
    app = with_file(private=True)
    run_with(app, {"halfspaces_moved_open": True})
    assert not drawn(app) and "private" in app.info[0].value
    assert "released:" not in str([each.value for each in app.header])
    assert "True" not in texts(app).replace("“", "")
    assert "What the paper prints" in [each.label for each in app.expander]
    sound(app.toggle(key="steward_choice").set_value(True).run())
    assert set(drawn(app)) >= FLAT | {"halfspaces_moved_chart"}
    assert not any(chart["download"] for chart in drawn(app).values())
    assert "not protected" in texts(app) and "made by the data owner" in texts(app)


def test_the_table_cites_statements_of_the_map_and_its_ratio_is_of_its_own_numbers() -> None:
    app = opened(vectors="digits", margin="0.5")
    said = next(each.value for each in app.caption if "Claim 6.7" in str(each.value))
    assert said.endswith("Reference: Blum, Ligett and Roth (2013), Claim 6.7, ReleaseHalfspaces, Theorem 6.9.")
    names = [what for what, *_ in LINES["Blum, Ligett and Roth (2013)"]]
    assert any("Claim 6.7, Theorem 6.9" in name for name in names)
    table = next(each.value for each in app.markdown if "dimensions T =" in str(each.value))
    found = searched(r"\| ([\d,]+) \| ([\d,]+) times the (\d+) dimensions that rows have", table)
    dimensions, times, before = (int(each.replace(",", "")) for each in found.groups())
    assert times == round(dimensions / before) > 1
    assert before == vectors_of("digits").dataset().records.shape[1]


@pytest.mark.parametrize("rows", full_but(["cities", "penguins", "digits", "generated"], "cities", "generated"))
def test_the_code_on_the_page_runs(rows: str) -> None:
    app = opened(**({"vectors": rows} if rows != "generated" else {}), vector_rows="300")
    told = printed_by_code(app, key="halfspaces_code_open")
    truth, released = (float(part.split()[-1]) for part in told.split(";")[0].split(","))
    shown = app.header[0].value
    assert f"{percent(truth)[:3]}" in shown
    assert shown.endswith("%") and abs(float(shown.split()[-1][:-1]) / 100 - released) < 1e-3
    assert "ε = 1 (replace one row)" in told
    assert np.isfinite(truth)
    assert isinstance(asked_of(generated_vectors()).mechanism, HalfspaceCounts)
