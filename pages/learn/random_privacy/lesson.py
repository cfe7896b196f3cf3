"""Lesson: a promise that may fail for few data sets lets empty cells stay empty, so that errors are small."""

from __future__ import annotations

from dpcore.core import Integers, exactly, rounded_up
from dpcore.mechanisms.histograms.sparse import lone_row_chance
from dplab.sparse import LossFigure, grid_example, line_example, projected_losses, rows_needed, simulated_noise
from pages.charts.words import significant
from pages.learn import kit, screen
from pages.learn.random_privacy import charts
from pages.learn.random_privacy.controls import GRID_ROWS, RandomPrivacySettings
from pages.learn.random_privacy.own_data import own_data
from pages.shell.controls import choice, stops
from pages.shell.tasks.memory import remember_call

VIEWS = ("Total errors", "The histograms", "Growth of the error")
FIGURES = {"figure-1": "25 cells, 2 full (the paper's Figure 1)", "figure-2": "400 cells, 16 full (Figure 2)"}
CONDITIONS = {"paper": "the paper's, 2k ≤ γn", "sharper": "sharper, the worst population"}
GAMMAS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
FIRST_ROWS = {"figure-1": (500, "random-rows"), "figure-2": (8000, "random-grid-rows")}
"""Default number of rows of each figure, and the key of its control."""
FROM = (
    "Under the paper's condition, empty cells may stay empty if γ is at least 2k/n. The sharper condition "
    "allows a smaller γ."
)
WIDE = (25, 6400)
"""Numbers of cells between which the growth of the projected loss is told."""


def lesson() -> None:
    """Draw the controls, the question, and one of three pictures."""
    kit.intro(
        "Most cells are empty, yet with δ = 0 all need noise. **Random differential privacy** guarantees nothing for "
        "a share γ of sampled data sets. How much does this reduce the error?"
    )
    loss = kit.epsilon("random", default=0.1)
    gamma = stops("Failing share γ", GAMMAS, 0.1, key="random-gamma", help_text=FROM)
    with kit.more():
        chosen = choice("The histogram", FIGURES, key="random-figure")
        # Figure 2's condition needs 2k/γ = 8,000 rows; with fewer both mechanisms are the same.
        rows = int(stops("Rows n", GRID_ROWS, FIRST_ROWS[chosen][0], key=FIRST_ROWS[chosen][1]))
        condition = choice("Empty cells may stay empty by", CONDITIONS, key="random-condition")
        drawn = kit.draws_seed()
    histogram = line_example(rows) if chosen == "figure-1" else grid_example(rows)
    cells, full = len(histogram), int((histogram > 0).sum())
    settings = RandomPrivacySettings(epsilon=loss, gamma=gamma, condition=condition, seed=drawn)
    guess = screen.guess_stop(
        "random",
        f"{rows:,} rows in {full} of {cells} cells, ε = {exactly(loss)}. If empty cells may stay empty, how many times "
        "smaller is the error?",
        label="Your guess, times",
        options=(1, 2, 3, 4, 6, 8, 12, 25, 50),
        default=25,
    )
    simulations = settings.simulate(f"{chosen}|{rows}", histogram)
    _show_view(kit.pictures("random", *VIEWS), histogram, simulations, settings, guess=guess)
    private, random = float(simulations.private_loss.mean()), float(simulations.random_loss.mean())
    needed = rows_needed(cells=cells, gamma=gamma, condition=condition)
    # Not in proportion to the cells that get noise.
    gain = (
        f"**{significant(private / random)}** times smaller, not {cells}/{full}, as both are "
        "projected to histograms of n rows"
        if simulations.spared and random
        else f"both are the same: empty cells may stay empty only if n is at least {needed:,}"
    )
    kit.show_result(
        f"Error {significant(private)} of n under differential privacy, {significant(random)} under random privacy: "
        f"{gain}; you guessed {guess:g}. Above a threshold, for all data (δ = 10⁻⁶): "
        f"{significant(float(simulations.threshold_loss.mean()))}. {kit.SIMULATED}",
        verdict=screen.verdict(guess, private / random if simulations.spared and random else 1, near=0),
    )
    _show_theorem(settings, cells=cells, rows=rows)
    rows_key = FIRST_ROWS[chosen][1]
    kit.break_it(
        "If γ is too small for n, both agree.",
        "γ = 1%, n = 500",
        {"random-gamma": kit.stop(0.01), rows_key: kit.stop(500), "random-picture": VIEWS[0]},
    )


def _show_view(
    view: str, histogram: Integers, simulations: LossFigure, settings: RandomPrivacySettings, *, guess: float
) -> None:
    """Draw the selected picture."""
    badge = f"true: generated · simulated, preview sampler, seed {settings.seed}"
    if view == VIEWS[0]:
        picture = charts.losses_guessed(simulations=simulations, guess=guess)
        kit.picture(picture, key="random_losses", badge=badge)
    elif view == VIEWS[1]:
        kit.picture(charts.histograms(simulations=simulations), key="random_histograms", badge=badge)
    else:
        picture = charts.growth_curves(settings.growth(histogram))
        kit.picture(picture, key="random_growth", badge=f"{badge}, even cells")


def widened(*, epsilon: float, n: int) -> tuple[float, float]:
    """Return the mean losses of the projected private histogram: two full cells of the fewest, and of the most."""
    noise = simulated_noise(WIDE[1], epsilon=epsilon, seed=1)
    few, many = (projected_losses(noise, cells=cells, full=2, n=n)[0] for cells in WIDE)
    return few, many


def _figure_1(seed: int) -> str:
    """Return in words the mean losses of the paper's first figure at two values of ε."""
    sentences = []
    for epsilon in (0.1, 1.0):
        settings = RandomPrivacySettings(epsilon=epsilon, gamma=0.1, condition="paper", seed=seed)
        simulations = settings.simulate("figure-1", line_example())
        private, random = float(simulations.private_loss.mean()), float(simulations.random_loss.mean())
        sentences.append(f"{significant(private)} against {significant(random)} at ε = {exactly(epsilon)}")
    return f"Figure 1's mean errors are {' and '.join(sentences)}."


def _show_theorem(settings: RandomPrivacySettings, *, cells: int, rows: int) -> None:
    """Show equation 5 and its condition; of the growth, what is proved and what is only measured."""
    gamma = settings.gamma
    paper, sharper = (lone_row_chance(cells=cells, n=rows, condition=each) for each in ("paper", "sharper"))
    needed = rows_needed(cells=cells, gamma=gamma, condition=settings.condition)
    few, many = remember_call(widened, epsilon=settings.epsilon, n=rows)
    open_question = (
        "**The paper leaves open**: if few cells are non-empty, must every private method have a total "
        "error of k/(εn)? Measured here, not proved, with two non-empty cells, after the projection. The "
        f"error goes from {significant(few)} to {significant(many)} as k goes from {WIDE[0]} to "
        f"{WIDE[1]:,}. {WIDE[1] // WIDE[0]} times as many cells cost "
        f"{charts.loss_growth(WIDE, (few, many))}. {kit.SIMULATED}"
    )
    kit.theorem(
        r"2k\le\gamma n\;\Longrightarrow\;\lVert\hat\theta-\theta\rVert_1=O_P\bigl(\tfrac{r}{\varepsilon n}\bigr)",
        f"k = {cells} cells and n = {rows:,} rows are public. One of two given rows is alone in its cell "
        f"with probability at most 2k/n = {rounded_up(paper)} (the paper). The sharper bound, for the "
        f"worst population, is {rounded_up(min(1.0, sharper))}. With γ = {exactly(gamma)}, n must be at "
        f"least {needed:,}. {kit.THEORY}",
        "The paper's figures do not give the non-empty cells, ε, γ or the rows of the second figure. They "
        f"do not say how the projection breaks ties. Ours are choices. {_figure_1(settings.seed)} "
        f"{kit.SIMULATED}",
        "**Probabilistic privacy** bounds the same loss with probability 1 − δ over the release, for every pair of "
        "data sets. So it implies (ε, δ)-privacy, and Definition 2 with η = δ and γ = 0. It does not imply Definition "
        "1: a release that shows all rows with probability δ has no finite loss for different data sets. Random "
        "privacy does not imply it either: for a lone row, more than half of sparse histograms have an infinite loss.",
        open_question,
        reference="Hall, Rinaldo and Wasserman (2013), Definitions 1 and 2, equation 5, Proposition 5.1, Theorem 5.2, "
        "Section 7; Machanavajjhala, Kifer, Abowd, Gehrke and Vilhuber (2008); sharper condition: proved beside the "
        "mechanism.",
        meaning="θ̂: the release; r of k cells non-empty; $O_P$: of that order in probability. For the "
        "share γ of data sets, a person alone in a cell is unprotected.",
    )


LESSON = kit.Lesson(
    key="random",
    question="What if a guarantee may fail for a few data sets?",
    place=340,
    minutes=6,
    needs="Is noise in every bar necessary?",
    class_questions=(
        "Which bars may stay empty, and which condition allows it?",
        "For which share of the data sets may the guarantee fail?",
        "Whose row is revealed for certain when it does?",
    ),
    point=((3, 12),),
    show=lesson,
    own_data=own_data,
)
