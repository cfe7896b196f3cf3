"""What numbers are, in the product's words: drawn into every picture, and beside every figure in the text."""

from __future__ import annotations

from dpcore.core import Provenance

TRUE, SIMULATED, THEORY = ":gray-badge[true]", ":blue-badge[simulated]", ":orange-badge[theory]"
NOT_PROTECTED = " · not protected: made by the data's steward"


def simulated(provenance: Provenance, seed: int) -> str:
    """Of a picture with previews of these data in it."""
    return _of(provenance, f"simulated, preview sampler, seed {seed}")


def exact(provenance: Provenance) -> str:
    """Of a picture computed from the true data without any draw."""
    return _of(provenance, "exact chances, nothing drawn")


def _of(provenance: Provenance, how: str) -> str:
    return f"true: {provenance.kind} · {how}{NOT_PROTECTED if provenance.is_private else ''}"
