"""Draws and their samplers: Preview (seeded), Secure (OpenDP), Account (adds up), Enumerate (exact laws)."""

from dpcore.randomness.account import Account
from dpcore.randomness.answers import Answers
from dpcore.randomness.choices import Choice, DatabaseChoice
from dpcore.randomness.coins import FairSplit, PublicCoins, SubsampleVotes
from dpcore.randomness.counts import GaussianCounts, NoisyComparisons, NoisyCounts, WeightedCounts
from dpcore.randomness.cuts import MedianCuts
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.gates import SparseVector
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import Charge, Draw, Sampler
from dpcore.randomness.secure import Secure

__all__ = [
    "Account",
    "Answers",
    "Charge",
    "Choice",
    "DatabaseChoice",
    "Draw",
    "Enumerate",
    "FairSplit",
    "GaussianCounts",
    "MedianCuts",
    "NoisyComparisons",
    "NoisyCounts",
    "Preview",
    "PublicCoins",
    "Sampler",
    "Secure",
    "SparseVector",
    "SubsampleVotes",
    "WeightedCounts",
]
