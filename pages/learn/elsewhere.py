"""Pages of their own that the wall leads to: the systems of the papers that are lessons in themselves."""

from __future__ import annotations

from pages.learn.kit import Lesson

SYSTEMS = "Systems to play with"
ELSEWHERE = (
    Lesson(
        key="directions",
        question="Can one release answer every direction?",
        group=SYSTEMS,
        minutes=8,
        needs="counting queries; angles between vectors",
        asks=(
            "Which rows does a release get wrong, and where do they lie?",
            "What does a margin buy, and what does the paper's net cost?",
            "In two dimensions, why is an interval release of angles better?",
        ),
        page="halfspaces/page.py",
    ),
    Lesson(
        key="polynomials",
        question="Can few counts answer questions about many attributes?",
        group=SYSTEMS,
        minutes=8,
        needs="polynomials; binomial coefficients",
        asks=(
            "A row's answer depends only on how many of the k attributes it has. What does that buy?",
            "Why does a degree of about √k suffice?",
            "When is it better to release the marginals of k attributes directly?",
        ),
        page="marginals/page.py",
    ),
    Lesson(
        key="printed",
        question="What do the papers print, and what holds?",
        group=SYSTEMS,
        minutes=5,
        needs="any of the systems",
        asks=(
            "Which printed number promises privacy that is not there?",
            "By which factor does the proof of the interval theorem need more rows?",
            "Which numbers are too large for any table of people?",
        ),
        link={"lesson": "printed"},
    ),
    Lesson(
        key="sparse",
        question="What if a promise may fail for few data sets?",
        group="What is promised",
        minutes=6,
        needs="Is noise in every bar wasteful?",
        asks=(
            "Which bars may stay empty, and who allows it?",
            "For which share of the data sets may the promise fail?",
            "Whose row is revealed for certain when it does?",
        ),
        page="sparse/page.py",
    ),
    Lesson(
        key="sparse-data",
        question="Who pays when the promise fails?",
        group="What is promised",
        minutes=3,
        needs="What if a promise may fail for few data sets?",
        asks=(
            "Whoever is alone in a cell: what does a release say of them?",
            "Why may the second release not be chosen after the first was seen?",
            "Would you take this promise for your own row?",
        ),
        page="sparse/page.py",
        link={"sparse": "data"},
    ),
)
