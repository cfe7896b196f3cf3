"""Questions with few answers, asked of subsamples of the data, and the exact law of each answer."""

from dpcore.votes.commonest import Commonest
from dpcore.votes.medians import LargerMiddle, Middle
from dpcore.votes.vote import Remembered, Steps, Vote, binomial_law

__all__ = ["Commonest", "LargerMiddle", "Middle", "Remembered", "Steps", "Vote", "binomial_law"]
