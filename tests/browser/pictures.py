"""Takes the pictures in assets/pictures: `python3 run.py pictures`."""

from __future__ import annotations

import io

from PIL import Image
from playwright.sync_api import Browser, ViewportSize

from tests import ROOT
from tests.kit.browser import PAGES, running_browser, running_server, settled, watched_page

FOLDER = ROOT / "assets" / "pictures"
COLOUR_SCHEMES = ("light", "dark")
WIDTHS = (1280, 390)
LARGEST = 150_000  # bytes

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
        image.quantize(colours, dither=Image.Dither.NONE).save(file, format="PNG", optimize=True)
        small = file.getvalue()
        if len(small) <= LARGEST:
            break
    return small


def main() -> None:
    """Take every page in both themes at both widths."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with running_server() as server, running_browser() as browser:
        for name, path in PAGES.items():
            for colour_scheme in COLOUR_SCHEMES:
                for width in WIDTHS:
                    picture = shrunk(take(browser, f"{server.url}/{path}", colour_scheme=colour_scheme, width=width))
                    file = FOLDER / f"{name}-{colour_scheme}-{width}.png"
                    file.write_bytes(picture)
                    print(f"{file.name}: {len(picture) // 1000} kB")


if __name__ == "__main__":
    main()
