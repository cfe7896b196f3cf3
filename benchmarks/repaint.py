"""In Chromium: from the slider at rest to the repaint, pictures a second as it moves, first paints; the core alone.

At rest the pictures are drawn anew from the server's answer; where they followed the slider, that answer changes
nothing that is seen, and the exact state has been on the screen since the step. Both times are printed.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, TimeoutError

from benchmarks.timing import HERE, chromium, cpu_seconds, free_port, healthy, running_app
from dpcore import Preview, entry
from dpcore.data.columns import Number
from dpcore.data.sources import generated_rows
from dpcore.mechanisms import serving
from dpcore.queries.ranges import Intervals
from dplab.measure import finish, measure
from dplab.recipe import Recipe
from pages.shell.addresses import PAGES
from tests.kit.rest import SEEN, settled

MOVES = 20
THUMB = 22
"""Pixels across the slider's knob."""
WARM = 3
VISITS = 3
"""Of each page, by a browser that keeps nothing from the last."""
ADDRESSES = tuple(page.address for page in PAGES)
EMPTY = """import streamlit as st
value = st.select_slider("Privacy budget ε", [float(stop) for stop in range(40)], value=30.0)
st.caption(f"{value}")
"""
# From the key, or from the slider that is let go, to the last change of what is watched, on the browser's own clock. A
# page at rest has changed nothing for a while. A promise, because the page's content policy forbids what
# `wait_for_function` does. Null where the machine was so busy that the slider had come to rest before it was let go.
WATCH = """([selector, attribute]) => {
  const begin = () => { window.pressed = performance.now(); window.changed = new Set(); };
  for (const way of ['keydown', 'pointerup']) addEventListener(way, begin, true);
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
  else if (performance.now() - window.pressed > 15000) done(null);
  else setTimeout(look, 20);
}; look(); })"""
# Milliseconds of the browser's own clock until the first chart is drawn (null: the page has none), and until it rests.
# What is under way shows late: a chart's place is made when its component has come. So rest is what lasts.
PAINTED = """() => new Promise((done) => { let drawn = null, rested = null, charts = 0; const look = () => {
  const app = document.querySelector('[data-testid=stApp]'), now = performance.now();
  const plots = [...document.querySelectorAll('.dpscope-plot')], ready = plots.filter((plot) => plot.dataset.drawn);
  if (drawn === null && ready.length) drawn = now;
  const rest = app?.dataset.testScriptState === 'notRunning' && ready.length === plots.length;
  if (!rest || !document.querySelector('.stMarkdown') || ready.length !== charts) rested = null;
  else rested ??= now;
  charts = ready.length;
  if (rested !== null && now - rested > 2000) done([drawn, rested]); else setTimeout(look, 10);
}; look(); })"""


# One stop after the other, each until its pictures have been drawn and shown, over all stops and back: milliseconds a
# stop, and the script's share of it. On the way there few stops have been drawn in advance, on the way back all have.
DRAG = """() => new Promise((done) => {
  const input = document.querySelector('.dpscope-slide input'), { dataset } = document.documentElement;
  const most = Number(input.max), places = [...Array(most).keys()].concat([...Array(most).keys()].map((k) => most - k));
  const steps = [], scripts = [];
  let began;
  const next = () => {
    if (began !== undefined) { steps.push(performance.now() - began); scripts.push(Number(dataset.dpscopeStep)); }
    if (!places.length) { done([steps, scripts]); return; }
    delete dataset.dpscopeStep;
    began = performance.now();
    input.value = places.shift();
    input.dispatchEvent(new Event('input'));
    const look = () => (dataset.dpscopeStep === undefined ? requestAnimationFrame(look) : next());
    requestAnimationFrame(look);
  };
  next();
})"""
# To another stop: milliseconds until its pictures are on the screen, and what is seen there.
STEP = f"""async (place) => {{
  const input = document.querySelector('.dpscope-slide input'), {{ dataset }} = document.documentElement;
  delete dataset.dpscopeStep;
  const began = performance.now();
  input.value = place;
  input.dispatchEvent(new Event('input'));
  do await new Promise(requestAnimationFrame); while (dataset.dpscopeStep === undefined);
  return [performance.now() - began, ({SEEN})()];
}}"""
THREE: dict[str, Any] = {
    "selector": ":is(.st-key-data_chart, .st-key-band_chart, .st-key-worst_chart) .dpscope-plot",
    "attribute": "data-drawn",
    "count": 3,
}
STOPS = ".st-key-live_states [data-stops]:not([data-stops='0'])"


def core_share() -> None:
    """The core's own work of one slider move at the defaults: 10,000 rows, 1,024 cells, 1,000 trials."""
    recipe = Recipe(
        source=generated_rows("bimodal", n=10_000, bits=10, seed=1), queries="intervals", entry_key="identity",
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
    """Milliseconds from each key, or from the slider let go, to the last change of what is watched."""
    page.goto(address)
    slider = page.get_by_role("slider", name="Privacy budget ε")
    slider.wait_for(timeout=60_000)
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.wait_for_timeout(5000)
    page.evaluate(WATCH, [selector, attribute])
    taken: list[float | None] = []
    live = slider.evaluate("input => Number(input.closest('.dpscope-slide') ? input.max : 0)")
    for move in range(MOVES + WARM):
        if live:
            drag_to(page, slider, (live - 1 - move) / live, start=(live - move) / live)
        else:
            slider.focus()
            page.keyboard.press("ArrowLeft")
        taken.append(page.evaluate(TAKEN, count))
    found = sorted(float(each) for each in taken[WARM:] if each is not None)
    if len(found) < MOVES / 2:
        raise RuntimeError(f"Only {len(found)} of {MOVES} moves could be timed: the machine is too busy.")
    return found


def drag_to(page: Page, slider: Locator, share: float, *, start: float) -> None:
    """Drag a slider from a share of its way to another, and let go."""
    box = slider.bounding_box()
    assert box is not None
    for each, act in ((start, page.mouse.down), (share, page.mouse.up)):
        page.mouse.move(box["x"] + THUMB / 2 + each * (box["width"] - THUMB), box["y"] + box["height"] / 2, steps=3)
        act()


def painted(browser: Browser, address: str) -> tuple[float | None, float]:
    """Milliseconds until a browser that knows nothing has drawn the first chart, if there is one, and rests."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.goto(address, wait_until="commit")
    drawn, rests = page.evaluate(PAINTED)
    context.close()
    return drawn, rests


def first_paint(browser: Browser, page: str) -> None:
    """Print when a page's first chart is drawn: cold, by a server that has shown no page, and warm."""
    with running_app() as (address, process):
        seen = [painted(browser, f"{address}/{page}")]
        used = cpu_seconds(process)
        seen += [painted(browser, f"{address}/{page}") for _ in range(VISITS)]
        used = (cpu_seconds(process) - used) / VISITS

    def told(drawn: float | None, rests: float) -> str:
        first = f"first chart {drawn:,.0f} ms, " if drawn is not None else ""
        return f"{first}all {rests:,.0f} ms"

    warm = sorted(seen[1:], key=lambda each: each[1])[VISITS // 2]
    print(
        f"  {page or 'start'}: cold {told(*seen[0])}; warm {told(*warm)}, {1e3 * used:.0f} ms of the server's CPU "
        f"(load {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def second_start(browser: Browser) -> None:
    """Print how long `python3 run.py` takes to the first picture where everything is installed."""
    port = free_port()
    began = time.perf_counter()
    command = [sys.executable, str(HERE / "run.py"), "--no-browser", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        healthy(address := f"http://127.0.0.1:{port}")
        served = time.perf_counter() - began
        drawn, _ = painted(browser, address)
        print(f"  python3 run.py: served after {served:.1f} s, first picture after {served + (drawn or 0) / 1e3:.1f} s")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=10)


def drags(browser: Browser, address: str) -> None:
    """Print how the pictures follow the slider, for each mechanism of the first page that they follow for.

    First for whoever comes to the slider as soon as its stops are there and moves it half a second later; then for
    whoever moves it over the same stops again, or waited until they were drawn. For the others, from rest to repaint.
    """
    domain = generated_rows("bimodal", n=10_000, bits=10, seed=1).on(Number)
    for mechanism in serving(Intervals(domain=domain)):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/?card=all&mechanism={mechanism.key}")
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        with suppress(TimeoutError):
            page.locator(STOPS).wait_for(state="attached", timeout=60_000)
        page.locator(".dpscope-slide input").hover()  # whoever comes near may slide: the stops are made ready
        page.wait_for_timeout(500)
        if page.locator(STOPS).count():
            steps, scripts = page.evaluate(DRAG)
            half = len(steps) // 2
            told = [
                f"a stop {statistics.median(steps[way]):.0f} ms, of which our script "
                f"{statistics.median(scripts[way]):.0f} ms, {when}"
                for way, when in ((slice(half), "at first"), (slice(half, None), "once drawn"))
            ]
            load = os.getloadavg()[0]
            print(f"  {mechanism.key}: {'; '.join(told)} (goal 40 ms; load {load:.1f})", flush=True)
        else:
            # A chart may be the same at the next stop.
            taken = moves(page, f"{address}/?card=all&mechanism={mechanism.key}&epsilon=10", **THREE | {"count": 1})
            print(
                f"  {mechanism.key}: drawn at rest only, median {statistics.median(taken):.0f} ms (goal 150 ms; load "
                f"{os.getloadavg()[0]:.1f})",
                flush=True,
            )
        page.close()


def seen(page: Page, address: str) -> tuple[list[float], int]:
    """Milliseconds from each step to its pictures on the screen; and how many the server's answer left as they were."""
    page.goto(address)
    page.locator(STOPS).wait_for(state="attached", timeout=60_000)
    page.locator(".dpscope-slide input").hover()
    page.wait_for_timeout(5000)  # the stops are drawn in advance
    taken, same = [], 0
    for place in range(10, 10 + MOVES):
        milliseconds, at_once = page.evaluate(STEP, place)
        taken.append(milliseconds)
        same += settled(page).evaluate(SEEN) == at_once
    return sorted(taken), same


def main() -> None:
    """Print medians and 95th percentiles of 20 slider moves beside those of a page without charts; first paints."""
    core_share()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        (script := Path(folder) / "empty.py").write_text(EMPTY, encoding="utf-8")
        with running_app() as (address, _), running_app(script) as (empty, _):
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            pages: dict[str, tuple[str, dict[str, Any]]] = {
                "an empty page": (empty, {"selector": "[data-testid=stCaptionContainer]", "attribute": "", "count": 1}),
                "Play, three charts": (f"{address}/?card=all&epsilon=10", THREE),
                "Play, three charts that answer the pointer": (
                    f"{address}/?card=all&epsilon=10",
                    THREE | {"attribute": "data-waiting"},
                ),
                "Play, with the trade-off": (
                    f"{address}/?card=all&epsilon=10",
                    THREE | {"selector": ".dpscope-plot", "count": 4},
                ),
            }
            for name, (place, watched) in pages.items():
                taken = moves(page, place, **watched)
                print(
                    f"  slider at rest to repaint, {name}: median {statistics.median(taken):.0f} ms, "
                    f"p95 {taken[int(0.95 * (len(taken) - 1))]:.0f} ms, {len(taken)} moves "
                    f"(load {os.getloadavg()[0]:.1f})"
                )
            taken, same = seen(page, f"{address}/?card=all&epsilon=10")
            print(
                f"  a step of the slider to the exact state on the screen, Play, three charts: median "
                f"{statistics.median(taken):.0f} ms, p95 {taken[int(0.95 * (len(taken) - 1))]:.0f} ms; the answer at "
                f"rest leaves it as it is in {same} of {MOVES} (load {os.getloadavg()[0]:.1f})"
            )
            page.close()
            drags(browser, address)
            print(f"  an empty page: all {painted(browser, empty)[1]:,.0f} ms")
        second_start(browser)
        for each in ADDRESSES:
            first_paint(browser, each)


if __name__ == "__main__":
    main()
