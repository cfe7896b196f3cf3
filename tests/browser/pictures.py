"""Takes the pictures in assets/pictures: `python3 run.py pictures`."""

from __future__ import annotations

import io

from PIL import Image
from playwright.sync_api import Browser, ViewportSize

from tests import ROOT
from tests.kit.browser import OWN_DATA, PAGES, running_browser, running_server, watched_page
from tests.kit.rest import settled

FOLDER = ROOT / "assets" / "pictures"
COLOUR_SCHEMES = ("light", "dark")
WIDTHS = (1280, 390)
LARGEST = 150_000  # bytes
MOVING, MOST = FOLDER / "live-slider.webp", 2_000_000
SMALL, MILLISECONDS, REST = (960, 675), 160, 1200
"""The moving picture's pixels, and how long a step and a rest at either end are shown."""

STEP = "(input, place) => { input.value = place; input.dispatchEvent(new Event('input')); }"

# How tall the page would be without scrolling: Streamlit scrolls inside the window, not the window.
HEIGHT = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return Math.ceil(main.scrollHeight + window.innerHeight - main.clientHeight);
}"""


def take(browser: Browser, url: str, *, colour_scheme: str, width: int) -> bytes:
    """A PNG of a whole page, with nothing left to scroll."""
    size = ViewportSize(width=width, height=800)
    with watched_page(browser, viewport=size, colour_scheme=colour_scheme) as page:
        page.goto(url)
        settled(page, idle=1)
        page.set_viewport_size(ViewportSize(width=width, height=page.evaluate(HEIGHT)))
        settled(page, idle=0.5)
        return page.screenshot(animations="disabled")


def shrunk(picture: bytes) -> bytes:
    """The same picture with a palette, of as many colours as keep it small enough; the smallest if none does."""
    image, small = Image.open(io.BytesIO(picture)).convert("RGB"), b""
    for colours in (256, 128, 64, 32):
        file = io.BytesIO()
        # By the usual method a thin line in a colour of its own takes the colour of what is near it.
        few = image.quantize(colours, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        few.save(file, format="PNG", optimize=True)
        small = file.getvalue()
        if len(small) <= LARGEST:
            break
    return small


def shown_places(last: int) -> range:
    """Return the places of a slider, of 0 to ``last``, that the moving picture shows."""
    return range(last // 4, last - 2)


def moving(browser: Browser, url: str) -> bytes:
    """An animated WebP of the first page while its slider moves over most of its stops and back.

    Each picture is of a page at rest, so that the numbers beside the slider are those of the pictures.
    """
    with watched_page(browser, viewport=ViewportSize(width=1280, height=900)) as page:
        page.goto(url)
        settled(page, idle=1)
        slider = page.get_by_role("slider", name="Privacy budget ε")
        stops = int(slider.get_attribute("max") or 0)
        frames = []
        for place in shown_places(stops):
            slider.evaluate(
                "(input, place) => { input.value = place; input.dispatchEvent(new Event('input')); }", place
            )
            settled(page)
            frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB").resize(SMALL))
    film = [*frames, *frames[-2:0:-1]]
    times = [REST if frame in (frames[0], frames[-1]) else MILLISECONDS for frame in film]
    file = io.BytesIO()
    frames[0].save(file, format="WEBP", append_images=film[1:], save_all=True, duration=times, loop=0, quality=55)
    return file.getvalue()


def main() -> None:
    """Take every page in both themes at both widths, and the first page while its slider moves."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with running_server() as server, running_browser() as browser:
        film = moving(browser, server.url)
        if len(film) > MOST:
            raise SystemExit(f"The moving picture has {len(film):,} bytes, more than {MOST:,}.")
        MOVING.write_bytes(film)
        print(f"{MOVING.name}: {len(film) // 1000} kB")
        for name, path in {**PAGES, **OWN_DATA}.items():
            for colour_scheme in COLOUR_SCHEMES:
                for width in WIDTHS:
                    picture = shrunk(take(browser, f"{server.url}/{path}", colour_scheme=colour_scheme, width=width))
                    file = FOLDER / f"{name}-{colour_scheme}-{width}.png"
                    file.write_bytes(picture)
                    print(f"{file.name}: {len(picture) // 1000} kB")


if __name__ == "__main__":
    main()
