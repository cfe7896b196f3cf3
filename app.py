"""The launcher: `streamlit run app.py` serves the pages; `python3 run.py` installs what it needs and calls it.

The router is `pages/main.py`. Were it this file, Streamlit would serve the scripts in `pages/` by their address
before this file had ever run, and so before any gate in it. As the script of an `App`, the router runs first on
every visit.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

HERE = Path(__file__).resolve().parent

# `import dpcore` and `from pages.ui import …` resolve whatever the working directory.
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

# One thread for each product of matrices: many people share the machine, and threads that wait for a busy core spin.
# It is read when numpy is imported, which nothing above does.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

LIBRARIES = ("altair", "duckdb", "numpy", "pandas", "pyarrow", "scipy.special")


def import_all(package_name: str) -> None:
    """Import a package and every module below it.

    Raises:
        ImportError: if the package or one of its modules cannot be imported.
    """
    package = importlib.import_module(package_name)
    for module in pkgutil.walk_packages(package.__path__, prefix=f"{package_name}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Import what the pages need before the server answers, keep it out of garbage collection, and sweep while it runs.

    Streamlit collects garbage after every run of a page. With the libraries' objects frozen, that takes a third of
    the time, which is most of what an empty rerun costs.
    """
    for library in LIBRARIES:
        importlib.import_module(library)
    for package_name in ("dpcore", "pages.ui"):
        import_all(package_name)
    session = importlib.import_module("pages.ui.session")
    gc.collect()
    gc.freeze()
    sweep = asyncio.create_task(session.end_abandoned_sessions())
    yield
    sweep.cancel()


app = st.App(HERE / "pages" / "main.py", lifespan=lifespan)
