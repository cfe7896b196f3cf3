"""Data whose rows become unit vectors: real samples, generated ones with a margin, and columns of somebody's own file.

Bounds and directions are public: middles, scales and the two directions that span a picture are declared here, never
read off the data.
"""

from dpcore.vectors.encoding import Measure, encode_vectors
from dpcore.vectors.recipes import RECIPES, Recipe
from dpcore.vectors.sources import BundledVectors, GeneratedVectors, UploadedVectors, VectorSource

__all__ = [
    "RECIPES",
    "BundledVectors",
    "GeneratedVectors",
    "Measure",
    "Recipe",
    "UploadedVectors",
    "VectorSource",
    "encode_vectors",
]
