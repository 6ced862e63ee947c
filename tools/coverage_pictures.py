"""Draw docs/coverage.csv: how often the intervals of passband and of others hold the truth."""

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from picture import WIDTH, canvas, picture

from passband.report.charts.canvas import Canvas
from passband.report.charts.scale import AxisScale

__all__ = ["by_cell", "by_size"]

CELLS = Path(__file__).resolve().parents[1] / "docs" / "coverage.csv"
LOW, HIGH = 0.93, 0.97  # what counts as right, of intervals at 95 %
LEAST = 0.5  # where the axis begins; cells below are counted
STEP = 0.01


@dataclass(frozen=True)
class Method:
    """The coverages of a method in the dense cells, with the number of problems of each."""

    name: str
    over: str
    cells: list[tuple[int, float]]
    role: str

    def right(self, problems: int | None = None) -> float:
        """Return the share of cells within 93-97 %."""
        chosen = [share for size, share in self.cells if problems in (None, size)]
        return sum(LOW <= share <= HIGH for share in chosen) / len(chosen)


def methods() -> list[Method]:
    """Read the four methods; over trials, of cells that have more than one trial."""
    with CELLS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dense"] == "True"]
    found = []
    for over, other in (("problems", "Student's t"), ("trials", "uniform prior")):
        chosen = [row for row in rows if row["over"] == over]
        chosen = [row for row in chosen if over == "problems" or int(row["trials"]) > 1]
        for name, column, role in (
            ("passband", "coverage", "blue"),
            (other, "other_coverage", "muted"),
        ):
            cells = [(int(row["problems"]), float(row[column])) for row in chosen]
            found.append(Method(name, over, cells, role))
    return found


# -- a column for every hundredth ------------------------------------------------------------


def by_cell() -> str:
    """Draw how many cells have which coverage, a row for each method."""
    rows = methods()
    drawing = canvas(58 + 96 * len(rows))
    scale = AxisScale(LEAST, 1.0, 16, WIDTH - 16)
    _axis(drawing, scale)
    for index, method in enumerate(rows):
        _columns(drawing, scale, method, 44 + 96 * index)
    words = [
        f"{m.name} over {m.over}: {_percent(m.right())} of {len(m.cells):,} cells" for m in rows
    ]
    title = "Coverage of 95 % intervals, cell by cell"
    return picture(drawing, title, f"Within 93-97 %: {'; '.join(words)}.")


def _axis(drawing: Canvas, scale: AxisScale) -> None:
    bottom = drawing.height - 10
    drawing.rect(scale(LOW), 24, scale(HIGH) - scale(LOW), bottom - 24, "panel")
    for share in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        drawing.line(scale(share), 24, scale(share), bottom, "rule")
        anchor = "end" if share == 1 else "start" if share == LEAST else "middle"
        drawing.text(scale(share), 16, f"{_percent(share)}", 13, fill="muted", anchor=anchor)
    drawing.line(scale(0.95), 24, scale(0.95), bottom, "text")


def _columns(drawing: Canvas, scale: AxisScale, method: Method, top: float) -> None:
    """Draw the columns of a method; four tenths of its cells are 60 pixels high."""
    counts = Counter(int((share + 1e-9) / STEP) for _, share in method.cells)
    base, tallest = top + 84, 0.4 * len(method.cells)
    drawing.text(16, top + 14, f"{method.name}, over {method.over}", 15, bold=True)
    right = f"{_percent(method.right())} of {len(method.cells):,} cells within 93–97 %"
    drawing.text(16, top + 34, right, 14, fill="muted")
    for step, count in sorted(counts.items()):
        if step * STEP >= LEAST - 1e-9:
            width = scale(LEAST + STEP) - scale(LEAST) - 1.5
            height = max(60 * count / tallest, 1)
            left = min(scale(step * STEP), scale(1.0) - width)
            drawing.rect(left, base - height, width, height, method.role)
    below = sum(count for step, count in counts.items() if step * STEP < LEAST - 1e-9)
    if below:
        share = below / len(method.cells)
        drawing.text(
            16, base - 8, f"← {_percent(share)} of cells below {_percent(LEAST)}", 14, bold=True
        )
    drawing.line(16, base, WIDTH - 16, base, "rule")


# -- by the number of problems ---------------------------------------------------------------


def by_size() -> str:
    """Draw the share of cells within 93-97 % against the number of problems, a panel per target."""
    drawing = canvas(300)
    ours_and_others = methods()
    for index, left in enumerate((50.0, 370.0)):
        _panel(drawing, left, ours_and_others[2 * index : 2 * index + 2])
    lines = [f"{m.name} over {m.over} {_percent(m.right(1000))}" for m in ours_and_others]
    title = "Share of cells whose coverage is within 93-97 %, by the number of problems"
    return picture(drawing, title, f"With 1,000 problems: {'; '.join(lines)}.")


def _panel(drawing: Canvas, left: float, pair: list[Method]) -> None:
    """Draw the two methods of a target."""
    across = {size: left + 16 + 56.0 * index for index, size in enumerate(_sizes(pair[0]))}
    up = AxisScale(0, 1, 242, 40)
    drawing.text(left, 20, f"over {pair[0].over}", 15, bold=True)
    for share in (0, 0.25, 0.5, 0.75, 1):
        drawing.line(left, up(share), left + 256, up(share), "rule")
        drawing.text(
            left - 6, up(share) + 5, f"{_percent(share)}", 12.5, fill="muted", anchor="end"
        )
    for size, x in across.items():
        drawing.text(x, 262, f"{size:,}", 13, fill="muted", anchor="middle")
    drawing.text(left + 128, 284, "problems", 13, fill="muted", anchor="middle")
    for method in pair:
        points = [(x, up(method.right(size))) for size, x in across.items()]
        drawing.polyline(points, method.role, 2.5)
        for x, y in points:
            drawing.circle(x, y, 4, method.role)
        x, y = _label(method, pair, across, up)
        drawing.text(x, y, method.name, 14, fill=method.role, bold=True, anchor="end")


def _label(
    method: Method, pair: list[Method], across: dict[int, float], up: AxisScale
) -> tuple[float, float]:
    """Return the place of a name: at the end, above the upper line or below the lower one."""
    size, x = max(across.items())
    is_upper = method.right(size) == max(each.right(size) for each in pair)
    return x + 4, up(method.right(size)) + (-13 if is_upper else 25)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _sizes(method: Method) -> list[int]:
    return sorted({size for size, _ in method.cells})
