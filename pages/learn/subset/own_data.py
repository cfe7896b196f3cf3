"""Subset sums on the reader's own column: noisy counts of random groups reveal a yes/no value of each row."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from dpcore.core import Booleans, Integers, ParameterError, exactly
from dpcore.data.columns import is_labels, is_number
from dpcore.limits.attacks import subset_sum
from dpcore.randomness import Preview
from dplab.limits import subset_sums
from pages.charts.component import draw_with_table
from pages.charts.words import percent
from pages.data.picker import pick_source
from pages.learn.subset import figure
from pages.shell.controls import choice, seed, stops, whole
from pages.shell.status import badge, may_show
from pages.shell.tasks.memory import remember, with_progress
from pages.shell.theorem import lead

PEOPLE, QUESTIONS = (20, 50, 100, 200, 500), (50, 100, 200, 500, 1000, 2000)
LOSSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Values of ε of all answers together."""


def own_data() -> None:
    """Draw the controls, the share of bits found by noise and by queries, and what private answers reveal."""
    lead(
        "Noisy counts of random groups of **your** rows are published. Do they reveal a **yes/no value** of each row?",
        "Rows are sampled from your table. The value to be kept secret is a category, or an upper part of the range. "
        "Published is only the number of rows with it in each random group, with noise. The attacker takes the bits "
        "that fit all answers best (least squares) and rounds them.",
    )
    left, right = st.columns(2)
    with left:
        source = pick_source()
        first, last, words = _choose_secret(source.domain)
        loss = stops("Privacy budget ε of private answers", LOSSES, 1.0, key="subset-own-epsilon")
    with right:
        people = int(stops("Rows attacked n", PEOPLE, 200, key="subset-own-people"))
        questions = int(stops("Queries", QUESTIONS, 1000, key="subset-own-questions"))
        error = whole("Noise: largest error of an answer, ±", 0, 60, 7, key="subset-own-noise")
        drawn = seed(help_text="Seed of the sampled rows, the groups and the noise.")
    if not may_show(source):
        st.info(
            "These data are private, and the attack would reveal values of single rows, so nothing is computed here. "
            "Take a public stand-in or generated data, or, if you are the data owner, say so above."
        )
        return
    dataset = remember(f"dataset|{source.key}", source.dataset)
    truth = sampled_bits(dataset.records, first=first, last=last, people=people, seed=drawn)
    people = len(truth)
    masks = subset_sum.random_groups(Preview(drawn + 1), people=people, groups=questions)
    key = f"{source.key}|{first}|{last}|{people}|{questions}|{drawn}"
    work = partial(subset_sums.sweep, masks, truth, error=error, seed=drawn + 3)
    swept = with_progress(f"own-subset|{key}|{error}", work, label="Attacking.")
    share = float(swept.by_noise[int(np.argmin(np.abs(swept.errors - error)))].mean())
    blind = max(float(truth.mean()), 1 - float(truth.mean()))
    st.header(f"The attack finds {percent(share)} of {people:,} secret bits; a constant guess finds {percent(blind)}")
    name = badge(source, f"answers simulated, preview sampler, seed {drawn} · least squares")
    pictures = {
        "subset_own_noise": figure.by_noise(shares=swept, people=people, error=error, blind=blind),
        "subset_own_questions": figure.by_questions(
            shares=swept, people=people, error=error, question_count=questions, blind=blind
        ),
    }
    for place, (chart, picture) in zip(st.columns(2), pictures.items(), strict=True):
        with place:
            st.subheader(picture.title)
            draw_with_table(
                picture, key=chart, badge=name, title=picture.title.lower(), download=not source.provenance.is_private
            )
    private = remember(
        f"own-curator|{key}|{loss}", lambda: subset_sums.private_share(masks, truth, epsilon=loss, seed=drawn + 4)
    )
    st.markdown(
        f"- The secret bit: **{words}**. A row without a value has a 0.\n"
        f"- *Private answers.* All {questions:,} answers together at ε = {exactly(loss)} need noise of scale "
        f"{questions / loss:,.0f}. The same attack then finds **{percent(private)}** of the bits.\n"
        "- The curve *proved* holds whatever the bits are: if no answer has a larger error, least squares finds at "
        "least this share (Dinur and Nissim 2003; Kasiviswanathan, Rudelson and Smith 2013)."
    )


def _choose_secret(domain: object) -> tuple[int, int, str]:
    """Draw the control of the secret value; return its first and last cell, and the bit in words."""
    if is_labels(domain):
        titles = {str(place): label for place, label in enumerate(domain.labels)}
        cell = int(choice("A secret bit is 1 for", titles, key="subset-own-label", default=str(len(titles) - 1)))
        return cell, cell, f"1 for “{domain.labels[cell]}”"
    if not is_number(domain):
        raise ParameterError("The attack is on one column of numbers or categories.")
    share = whole("A secret bit is 1 above this percent of the range", 1, 99, 50, key="subset-own-from")
    first = max(1, round(domain.ordered * share / 100))
    if first >= domain.ordered:
        first = domain.ordered - 1
    return first, domain.ordered - 1, f"1 in the range {domain.between(first, domain.ordered - 1)}"


def sampled_bits(records: Integers, *, first: int, last: int, people: int, seed: int) -> Booleans:
    """Return, for a random sample of at most so many rows, whether each row's cell is in this range, (n,).

    Raises:
        ParameterError: there is no row.
    """
    if not len(records):
        raise ParameterError("There is no row to attack.")
    generator = np.random.Generator(np.random.SFC64(seed))
    rows = records[generator.choice(len(records), min(people, len(records)), replace=False)]
    bits: Booleans = (rows >= first) & (rows <= last)
    return bits
