"""The tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The project's folder."""
