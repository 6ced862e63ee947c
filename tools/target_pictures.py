"""Draw one data set with both of its intervals, and a difference with each verdict."""

from pathlib import Path

import numpy as np
from picture import WIDTH, canvas, picture

import passband
from passband.report.charts.bar import Bar
from passband.report.charts.canvas import Canvas
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.scale import AxisScale
from passband.report.charts.theme import LIGHT

__all__ = ["targets", "verdicts"]

TRIALS = Path(__file__).resolve().parents[1] / "examples" / "trials.csv"
MARGIN = 0.05
#: Problems, trials of each by each model, and by how much the new model is better on average.
DESIGNS = (
    (150, 16, 0.1),
    (100, 8, 0.03),
    (400, 16, 0.0),
    (30, 8, 0.0),
    (100, 8, -0.03),
    (150, 16, -0.1),
)
SEED = 5
RADIUS = 4.5
STEP = 10  # from one dot to the next


# -- the two targets -------------------------------------------------------------------------


def targets() -> str:
    """Draw the success rate of every problem of the example, and pass@1 with both intervals."""
    outcomes = passband.Outcomes.from_file(TRIALS)
    drawing = canvas(290)
    scale = AxisScale(0, 1, 24, WIDTH - 24)
    rates = outcomes.successes / outcomes.trials
    drawing.text(
        16, 26, f"{len(rates)} problems, a dot each: the share of its trials that are right"
    )
    stack(drawing, scale, rates, 144)
    words = []
    for over, y, text in (
        ("problems", 186, "problems like these, new ones too"),
        ("trials", 226, "these very problems, the model asked again"),
    ):
        estimate = passband.estimate(outcomes, "pass@1", over=over)
        low, high = float(estimate.low or 0), float(estimate.high or 0)
        role = "blue_outer" if over == "problems" else "blue"
        drawing.rect(scale(low), y - 10, scale(high) - scale(low), 20, role, radius=3)
        drawing.line(scale(estimate.value), y - 13, scale(estimate.value), y + 13, "text", 2)
        drawing.text(scale(high) + 10, y + 5, f"[{low:.2f}, {high:.2f}]", 14, bold=True)
        for line, part in enumerate(text.split(", ")):
            drawing.text(24, y - 3 + 16 * line, part, 13, fill="muted")
        words.append(f"{text}: {low:.2f} to {high:.2f}")
    axis(drawing, scale, 260)
    title = "pass@1 of one run, for two questions"
    return picture(drawing, title, f"pass@1; {'; '.join(words)}.")


def stack(drawing: Canvas, scale: AxisScale, rates: np.ndarray, bottom: float) -> None:
    """Draw a dot for each rate, on top of those at the same place."""
    heights: dict[int, int] = {}
    for rate in np.sort(rates):
        column = round((scale(rate) - scale.start) / STEP)
        level = heights[column] = heights.get(column, -1) + 1
        drawing.circle(scale.start + column * STEP, bottom - level * STEP, RADIUS, "blue")


def axis(drawing: Canvas, scale: AxisScale, y: float) -> None:
    """Draw the axis of shares."""
    drawing.line(scale(0), y, scale(1), y, "rule")
    for mark in (0, 0.25, 0.5, 0.75, 1):
        drawing.line(scale(mark), y, scale(mark), y + 4, "rule")
        drawing.text(scale(mark), y + 18, f"{mark:g}", 12.5, fill="muted", anchor="middle")


# -- verdicts --------------------------------------------------------------------------------


def verdicts() -> str:
    """Draw a difference for each verdict of `compare`, with the margin as a stripe."""
    bars = [bar_of(compared(*design)) for design in DESIGNS]
    return DifferenceForest(bars, "a", "b", (-MARGIN, MARGIN)).svg(LIGHT) + "\n"


def compared(problems: int, trials: int, shift: float) -> passband.Comparison:
    """Compare two simulated models on the same problems."""
    rng = np.random.default_rng(SEED)
    rates = rng.beta(2, 2, problems)
    sides = (rates, np.clip(rates + shift, 0, 1))
    a, b = (passband.Outcomes.from_counts(rng.binomial(trials, p), trials) for p in sides)
    return passband.compare(a, b, "pass@1", margin=MARGIN)


def bar_of(comparison: passband.Comparison) -> Bar:
    """Return the row of a comparison, named by its verdict."""
    assert comparison.decision is not None
    ends = comparison.low, comparison.high
    return Bar(comparison.decision.verdict, comparison.value, ends)
