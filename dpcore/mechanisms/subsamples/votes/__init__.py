"""Statistics with few answers on subsamples of the data, and the exact law of each answer."""

from dpcore.mechanisms.subsamples.votes.commonest import Commonest
from dpcore.mechanisms.subsamples.votes.medians import LargerMiddle, Middle
from dpcore.mechanisms.subsamples.votes.vote import CachedVote, Steps, Vote, binomial_law

__all__ = ["CachedVote", "Commonest", "LargerMiddle", "Middle", "Steps", "Vote", "binomial_law"]
