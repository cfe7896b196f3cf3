"""Data whose rows become unit vectors: real samples, generated ones with a margin, and columns of somebody's own file.

Bounds and directions are public: middles, scales and the two directions that span a picture are declared here, never
read off the data.
"""

from dpcore.data.vectors.encoding import Measure, encode_vectors
from dpcore.data.vectors.recipes import RECIPES, VectorRecipe
from dpcore.data.vectors.sources import BundledVectors, GeneratedVectors, UploadedVectors, VectorSource

__all__ = [
    "RECIPES",
    "BundledVectors",
    "GeneratedVectors",
    "Measure",
    "UploadedVectors",
    "VectorRecipe",
    "VectorSource",
    "encode_vectors",
]
