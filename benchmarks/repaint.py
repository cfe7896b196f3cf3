"""Explore at its defaults: from the key that commits the slider to the repaint, in Chromium, and the core's share."""

from __future__ import annotations

import statistics
import time

from benchmarks.server import chromium, running_app
from dpcore import Preview, entry
from dpcore.experiment import finish, measure
from dpcore.recipe import Recipe
from dpcore.sources import Generated

MOVES = 20
REPAINTED = """(before) => {
  const sentences = [...document.querySelectorAll('[data-testid=stCaptionContainer]')].map(e => e.innerText).join('|');
  const state = document.querySelector('[data-testid=stApp]').dataset.testScriptState;
  return sentences !== before && state === 'notRunning';
}"""
SENTENCES = "[...document.querySelectorAll('[data-testid=stCaptionContainer]')].map(e => e.innerText).join('|')"


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


def main() -> None:
    """Print the median and the 95th percentile of 20 slider moves."""
    core_share()
    with running_app() as (address, _), chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{address}/explore")
        slider = page.get_by_role("slider", name="Privacy loss ε")
        slider.wait_for(timeout=60_000)
        page.wait_for_function("document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
        page.wait_for_timeout(5000)
        seconds = []
        for move in range(MOVES + 3):
            before = page.evaluate(SENTENCES)
            slider.focus()
            start = time.perf_counter()
            page.keyboard.press("ArrowRight" if move % 2 else "ArrowLeft")
            page.wait_for_function(REPAINTED, arg=before, polling="raf", timeout=30_000)
            # Two animation frames later the charts of this state have been painted.
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            if move >= 3:
                seconds.append(time.perf_counter() - start)
            page.wait_for_timeout(400)
    seconds.sort()
    print(
        f"slider to repaint, {MOVES} moves: median {1e3 * statistics.median(seconds):.0f} ms (goal 300), "
        f"p95 {1e3 * seconds[int(0.95 * (MOVES - 1))]:.0f} ms"
    )


if __name__ == "__main__":
    main()
