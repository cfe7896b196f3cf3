"""The offer of a page whose private rows may not be shown: what its request guarantees at any ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dpcore.core import Mechanism
from dpcore.mechanisms import entry
from pages.shell.private.promises import Offer, ask_rows, headline, promises
from pages.shell.request import PageRequest


def offer_of(
    request: PageRequest[Any],
    *,
    about: str,
    of: str,
    covers: str,
    beta: float,
    others: Mapping[str, Callable[[float], Mechanism]] | None = None,
) -> Offer:
    """Draw the control for n, and return the request as an offer.

    Args:
        request: the settings; of its rows the declaration alone is used.
        about: everything about the queries that the guarantee depends on.
        of: one answer in words.
        covers: the answers that the privacy guarantee covers, after a comma.
        beta: the failure probability of the guaranteed error.
        others: other mechanisms for the same problem at an ε, by their keys.
    """
    n = ask_rows(request.source, request.neighbours)
    own = {request.entry.key: lambda epsilon: request.entry.make(**{**request.values, "epsilon": epsilon})}
    makers = {**own, **(others or {})}
    return Offer(
        about=f"{about}|{request.entry.key}|{request.values}|{request.neighbours}",
        problem=replace(request.problem(n), n=n),
        makers=makers,
        titles={key: entry(key).title for key in makers},
        chosen=request.entry.key,
        epsilon=float(request.values["epsilon"]),
        beta=beta,
        of=of,
        person_rows=request.source.person_rows,
        covers=covers,
        references=request.entry.references,
    )


def draw_offer(offer: Offer) -> None:
    """Draw the guaranteed error in a sentence, in numbers, over ε and as a theorem."""
    st.header(headline(offer, offer.epsilon))
    promises(offer, key="promises")
