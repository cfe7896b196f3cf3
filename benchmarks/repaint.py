"""Play at its defaults: from the key that commits the slider to the repaint, in Chromium, and the core's share."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from benchmarks.server import chromium, running_app
from dpcore import Preview, entry
from dpcore.data.sources import Generated
from dpcore.experiments.measure import finish, measure
from dpcore.experiments.recipe import Recipe

MOVES = 20
WARM = 3
EMPTY = """import streamlit as st
value = st.select_slider("Privacy loss ε", [float(stop) for stop in range(40)], value=30.0)
st.caption(f"{value}")
"""
# From the key to the last change of what is watched, on the browser's own clock. A page at rest has changed nothing for
# a while. A promise, because the page's content policy forbids what `wait_for_function` does.
WATCH = """([selector, attribute]) => {
  addEventListener('keydown', () => { window.pressed = performance.now(); window.changed = new Set(); }, true);
  const note = (changes) => changes.forEach(({ target }) => {
    const element = target.nodeType === 1 ? target : target.parentElement;
    const watched = element?.closest(selector);
    if (watched && window.changed) { window.changed.add(watched); window.last = performance.now(); }
  });
  const what = attribute ? { attributeFilter: [attribute] } : { characterData: true, childList: true };
  new MutationObserver(note).observe(document.body, { subtree: true, ...what });
}"""
TAKEN = """(count) => new Promise((done) => { const look = () => {
  const rest = document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning';
  if (rest && window.changed.size >= count && performance.now() - window.last > 400) done(window.last - window.pressed);
  else setTimeout(look, 20);
}; look(); })"""


def core_share() -> None:
    """The core's own work of one slider move at the defaults: 10,000 rows, 1,024 cells, 1,000 trials."""
    recipe = Recipe(
        source=Generated(shape="bimodal", n=10_000, bits=10, seed=1), queries="intervals", entry_key="identity",
        values=(("epsilon", 1.0),),
    )  # fmt: skip
    dataset = recipe.source.dataset()
    problem = recipe.problem(dataset)
    for key in ("identity", "gaussian", "intervals-anchored", "intervals-recursive", "intervals-printed"):
        mechanism = entry(key).make()
        state = mechanism.prepare(dataset, problem)
        seconds = []
        for seed in range(9):
            start = time.perf_counter()
            finish(measure(mechanism, dataset, state, Preview(seed), trials=1000))
            seconds.append(time.perf_counter() - start)
        print(f"  core, {key}: {1e3 * statistics.median(seconds):.0f} ms (goal 60 ms)")


def moves(page: Page, address: str, *, selector: str, attribute: str, count: int) -> list[float]:
    """Milliseconds from each key to the last change of the watched elements; every move is to a new value."""
    page.goto(address)
    slider = page.get_by_role("slider", name="Privacy loss ε")
    slider.wait_for(timeout=60_000)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_timeout(5000)
    page.evaluate(WATCH, [selector, attribute])
    taken = []
    for _ in range(MOVES + WARM):
        slider.focus()
        page.keyboard.press("ArrowLeft")
        taken.append(float(page.evaluate(TAKEN, count)))
    return sorted(taken[WARM:])


def main() -> None:
    """Print medians and 95th percentiles of 20 slider moves, beside those of a page without charts."""
    core_share()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        (script := Path(folder) / "empty.py").write_text(EMPTY, encoding="utf-8")
        with running_app() as (address, _), running_app(script) as (empty, _):
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            drawn = {"attribute": "data-drawn"}
            three = ":is(.st-key-data_chart, .st-key-band_chart, .st-key-worst_chart) .dpscope-plot"
            pages: dict[str, tuple[str, dict[str, Any]]] = {
                "an empty page": (empty, {"selector": "[data-testid=stCaptionContainer]", "attribute": "", "count": 1}),
                "Start, two charts": (f"{address}/?epsilon=10", {"selector": ".dpscope-plot", "count": 2, **drawn}),
                "Play, three charts": (f"{address}/?epsilon=10", {"selector": three, "count": 3, **drawn}),
                "Play, with the trade-off": (
                    f"{address}/?epsilon=10", {"selector": ".dpscope-plot", "count": 4, **drawn},
                ),
            }  # fmt: skip
            for name, (place, watched) in pages.items():
                taken = moves(page, place, **watched)
                print(
                    f"  slider to repaint, {name}: median {statistics.median(taken):.0f} ms, "
                    f"p95 {taken[int(0.95 * (MOVES - 1))]:.0f} ms (load {os.getloadavg()[0]:.1f})"
                )


if __name__ == "__main__":
    main()
