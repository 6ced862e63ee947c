"""Draw the ratios that docs/measured.md records: how many times as fast as what."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from picture import WIDTH, canvas, picture

from passband.report.charts.canvas import Canvas

__all__ = ["cell", "ratios"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured.md"
LEAST, MOST = 0.5, 30_000.0
LEFT = 290.0  # where the axis begins; labels are before it
ROW = 44.0


@dataclass(frozen=True)
class Ratio:
    """What is timed, against what, and where the page has the ratio."""

    what: str
    against: str
    heading: str  # how the heading of its section begins
    row: str  # how its row begins
    column: str

    @property
    def value(self) -> float:
        """The first number of the cell."""
        return float(re.findall(r"[\d.]+", cell(self.heading, self.row, self.column))[0])


ROWS = (
    Ratio("best of 8 rewards, with interval", "scorio", "Best of k", "max_at_k_ci, 2", "ratio"),
    Ratio(
        "one bootstrap replicate", "random.choices, as in lm-eval", "The same problems",
        "one replicate", "ratio",
    ),
    Ratio(
        "posterior interval of a blend", "scorio", "Posterior intervals",
        "geo_spectrum_at_k_ci | 32", "ratio",
    ),
    Ratio(
        "percentile interval", "2,000 replicates, as in EVA",
        "Percentile interval", "the exact law, whole", "ratio",
    ),
    Ratio(
        "posterior interval of maj@8", "scorio", "Posterior intervals", "maj_at_k_ci | 8", "ratio"
    ),
    Ratio(
        "step of an adaptive test", "catsim", "Adaptive tests",
        "1,000 items, times faster than catsim", "found",
    ),
    Ratio(
        "outcomes of an Inspect log", "read_eval_log", "Logs of Inspect", "outcomes of",
        "times faster than `read_eval_log`",
    ),
    Ratio(
        "Inspect task, light engine", "Inspect itself", "Inspect tasks", "light engine",
        "less than Inspect",
    ),
    Ratio(
        "calibration of 1,000 items", "mirt", "Adaptive tests", "2000 x 1000, times faster", "found"
    ),
    Ratio(
        "a run: asks, scores and stores", "a bare loop that only asks", "Runs",
        "passband run, the same", "ratio",
    ),
)  # fmt: skip


def cell(heading: str, row: str, column: str) -> str:
    """Return a cell of the page: the first row that begins so, below a heading that begins so."""
    _, _, section = PAGE.read_text("utf-8").partition(f"# {heading}")
    section = re.split(r"^## ", section, maxsplit=1, flags=re.MULTILINE)[0]
    columns: list[str] = []
    for line in section.splitlines():
        cells = [part.strip() for part in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            columns = []
        elif not columns:
            columns = cells
        elif column in columns and " | ".join(cells).startswith(row):
            return cells[columns.index(column)]
    raise LookupError(f"{PAGE.name} has no {column!r} of {row!r} below {heading!r}")


def ratios() -> str:
    """Draw a bar for every ratio, on a logarithmic axis that begins at "as fast"."""
    drawing = canvas(36 + ROW * len(ROWS))
    for mark in (1, 10, 100, 1000):
        drawing.line(_x(mark), 24, _x(mark), drawing.height - 6, "text" if mark == 1 else "rule")
        label = "as fast" if mark == 1 else f"{mark:,} ×"
        drawing.text(_x(mark), 16, label, 13, fill="muted", anchor="middle")
    for index, row in enumerate(sorted(ROWS, key=lambda row: -row.value)):
        _row(drawing, row, 30 + ROW * index)
    words = [f"{row.what}, against {row.against}: {_times(row.value)}" for row in ROWS]
    return picture(drawing, "Times as fast, in CPU or wall time", "; ".join(words) + ".")


def _row(drawing: Canvas, row: Ratio, top: float) -> None:
    ends = sorted((_x(1), _x(row.value)))
    drawing.text(16, top + 13, row.what, 14, bold=True)
    drawing.text(16, top + 29, f"against {row.against}", 13, fill="muted")
    drawing.rect(ends[0], top + 8, ends[1] - ends[0], 16, "blue" if row.value >= 1 else "orange")
    drawing.text(ends[1] + 8, top + 21, _times(row.value), 14, bold=True)


def _x(value: float) -> float:
    span = math.log(MOST / LEAST)
    return LEFT + (WIDTH - LEFT) * math.log(value / LEAST) / span


def _times(value: float) -> str:
    return f"{value:,.0f} ×" if value >= 10 else f"{value:.2g} ×"
