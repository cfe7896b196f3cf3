"""Where coins come from: Preview (seeded), Secure (OpenDP), Account (adds up), Enumerate (exact laws)."""

from dpcore.randomness.account import Account, Charge
from dpcore.randomness.enumeration import Enumerate
from dpcore.randomness.preview import Preview
from dpcore.randomness.sampler import Sampler
from dpcore.randomness.secure import Secure

__all__ = ["Account", "Charge", "Enumerate", "Preview", "Sampler", "Secure"]
