"""When an opened page has come to rest, and what is seen of it then. Benchmarks ask it too: there is no pytest here."""

from __future__ import annotations

import time

from playwright.sync_api import Error, Page, TimeoutError

PATIENCE = 180.0
"""Seconds a run may take before a test fails: a machine may be busy. It costs time only where something is broken."""
LOADING, RESTING = 0.15, 0.35
"""Seconds without work until an opened page, and one that was moved, is at rest."""
LONGEST_ANSWER = 60
"""Seconds after which a message counts as one that gets no answer."""
LEFT = "Execution context was destroyed"
"""What Playwright says where the page was left meanwhile."""

# What the eye sees of Play: every line, shade and word of its pictures, where they are. A picture that was drawn out of
# sight and lies above the chart counts for it.
SEEN = """() => JSON.stringify([document.querySelector('.dpscope-line').textContent,
    ...['data_chart', 'band_chart', 'worst_chart'].filter(key => document.querySelector(`.st-key-${key}`)).map(key => {
        const film = document.querySelector(`.st-key-${key} .dpscope-film`);
        const seen = film.childElementCount ? film : document.querySelector(`.st-key-${key} .dpscope-plot`);
        const parts = seen.querySelectorAll('.main-svg :is(path, text, image, use)');
        return [...parts].filter(part => !part.closest('.hoverlayer, .selectionlayer, defs')).map(part => [
            part.getAttribute('d'), part.textContent, part.getAttribute('transform'), part.getAttribute('href'),
            part.getAttribute('x'), part.getAttribute('y'), part.style.fill.replace(/#[^"]*/, '')]);
    })])"""

# True once the app has been idle for the given time without a break: connected, nothing unanswered, no run, nothing
# stale, no placeholder, and no chart without its picture; false if it was not for two seconds. The page's own clock
# measures it, in steps: what the app has put off for as long (a debounce, or what it sends after this task) comes
# before, on the busiest machine.
IDLE = """([milliseconds, longest]) => new Promise((resolve) => {
    const idle = () => {
        const app = document.querySelector('[data-testid="stApp"]');
        return app && app.dataset.testScriptState === 'notRunning' && app.dataset.testConnectionState === 'CONNECTED'
            && !(performance.now() - window.unanswered < longest) && !window.transfers
            && !document.querySelector('[data-testid="stSkeleton"], [data-stale="true"]')
            && !document.querySelector('.dpscope-plot:not([data-drawn]), .dpscope-plot[data-waiting]');
    };
    const STEP = 25, ENOUGH = 2000 / STEP;
    let rested = 0, steps = 0;
    const clock = setInterval(() => {
        rested = idle() ? rested + STEP : 0;
        if (rested < milliseconds && ++steps < ENOUGH) return;
        clearInterval(clock);
        resolve(rested >= milliseconds);
    }, STEP);
})"""


def settled(page: Page, *, idle: float = RESTING) -> Page:
    """Wait until the app has been idle for so many seconds, and return the page.

    A slider and a brush wait 0.2 seconds for their next move before they send anything, keys on a handle 0.25.

    Raises:
        playwright.sync_api.TimeoutError: if it does not come to rest in time.
    """
    end = time.monotonic() + PATIENCE

    def rests() -> bool:
        # The page's content policy forbids `wait_for_function`, which makes code from text; the debugger may look.
        try:
            return bool(page.evaluate(IDLE, [idle * 1000, LONGEST_ANSWER * 1000]))
        except Error as problem:
            if LEFT in str(problem):
                return False
            raise

    while not rests():
        if time.monotonic() > end:
            raise TimeoutError(f"the app did not come to rest within {PATIENCE:g} seconds")
    return page
