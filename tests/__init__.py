"""The tests."""

import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is read: each worker has a processor of its own

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder."""
PACKAGES = ("dpcore", "dplab", "dprelease")
"""The packages under the pages."""
