"""Charts to be drawn by tests: one of each kind, and strange ones."""

import math

from passband.report.charts.ability_path import AbilityPath, AbilityStep
from passband.report.charts.bar import Bar
from passband.report.charts.chart import Chart
from passband.report.charts.difference_forest import DifferenceForest
from passband.report.charts.interval_bars import IntervalBars, KindBars
from passband.report.charts.problem_strip import ProblemStrip, problem_strip
from passband.report.charts.rank_bars import Rank, RankBars
from passband.report.charts.split_bar import SplitBar, SplitPart
from passband.report.charts.tries_curve import TriesCurve, TriesLine

LONG = "a label that goes on and on " * 20
HEBREW = "שלום עולם"
HOSTILE = "</svg><script>alert(1)</script>\x00\ud800\"'&"


def tries_line(metric: str, first: float, last: float, hue: str = "blue", n: int = 16) -> TriesLine:
    """Return a line from the first value to the last one, with bands."""
    k = list(range(1, n + 1))
    steps = [math.log2(tries) / (math.log2(n) or 1) for tries in k]
    value = [first + (last - first) * step for step in steps]
    edges = [([v - w for v in value], [v + w for v in value]) for w in (0.06, 0.02)]
    words = {"blue": "at least one right", "orange": "all right"}[hue]
    return TriesLine(metric, k, value, edges[0], edges[1], hue, words)  # type: ignore[arg-type]


def marks(problems: int, trials: int) -> dict[str, str]:
    """Return marks of problems that get harder; the trials of each are shifted."""
    rows = {}
    for index in range(problems):
        right = round(trials * (1 - index / problems))
        row = "1" * right + "0" * (trials - right)
        shift = index * 7 % trials
        rows[f"p{index}"] = row[shift:] + row[:shift]
    return rows


BARS = (
    Bar("pass@1", 0.42, (0.365, 0.477), (0.41, 0.43), words="solved in one try"),
    Bar("pass^16", 0.185, (0.137, 0.245), (0.16, 0.21), "orange", "all 16 tries right"),
)
STEPS = tuple(
    AbilityStep(f"i{i}", 1 + math.sin(9 * i) / 2, i % 2, 1 + 1 / i, 1 - 3 / i, 1 + 5 / i)
    for i in range(1, 21)
)
CHARTS: dict[str, Chart] = {
    "intervals": IntervalBars(BARS),
    "tries": TriesCurve(
        (tries_line("pass@*", 0.42, 0.72), tries_line("pass^*", 0.42, 0.185, "orange"))
    ),
    "problems": problem_strip(marks(200, 16)),
    "problems as asked": problem_strip(marks(200, 16), order="asked"),
    "uncertainty": SplitBar((SplitPart("which problems", 0.97), SplitPart("sampling", 0.03))),
    "kinds": KindBars((Bar("add", 0.9, (0.8, 0.95), count=20),), "pass@1"),
    "differences": DifferenceForest((Bar("pass@1", 0.03, (0.01, 0.05)),), "a", "b", (-0.02, 0.0)),
    "ranks": RankBars((Rank("x", 1, 2, 1), Rank("y", 1, 3, 2), Rank("z", 2, 3, 3))),
    "ability": AbilityPath(STEPS),
}
STRANGE: dict[str, Chart] = {
    "no rows": IntervalBars(()),
    "no interval": IntervalBars((Bar("pass@1", 0.4), Bar("pass@2", None))),
    "one end": IntervalBars((Bar("theta", 2.0, (None, 3.0)), Bar("x", 1.0, (0.0, math.inf)))),
    "not a number": IntervalBars((Bar("x", math.nan, (math.nan, math.nan)),)),
    "constant": IntervalBars((Bar("mean", 7.0, (7.0, 7.0), (7.0, 7.0)),)),
    "another scale": IntervalBars((Bar("mean", -412.5, (-500.0, -300.0)),)),
    "tiny scale": IntervalBars((Bar("loss", 3e-12, (2e-12, 4e-12)), Bar("x", 2.0))),
    "labels": IntervalBars([Bar(x, 0.5, (0.4, 0.6), words=x) for x in (LONG, HEBREW, HOSTILE)]),
    "many rows": IntervalBars(tuple(Bar(f"m{i}", 0.5, (0.4, 0.6)) for i in range(1000))),
    "no lines": TriesCurve(()),
    "one trial": TriesCurve((tries_line("pass@*", 0.4, 0.4, n=1),)),
    "one k": TriesCurve((TriesLine("pass@*", [1], [0.4]),)),
    "lines that meet": TriesCurve(
        (tries_line("pass@*", 0.97, 0.98), tries_line("pass^*", 0.97, 0.96, "orange"))
    ),
    "lines at the floor": TriesCurve(
        (tries_line("pass@*", 0.01, 0.02), tries_line("pass^*", 0.01, 0.0, "orange"))
    ),
    "thousands of trials": TriesCurve((tries_line("pass@*", 0.1, 0.9, n=5000),)),
    "large scores": TriesCurve((tries_line("max@*", 10.0, 80.0, n=100),)),
    "no problems": ProblemStrip((), (), ()),
    "one problem": problem_strip({"p": "1"}),
    "no scores": problem_strip({"p": "...", "q": ""}),
    "ragged": problem_strip({"p": "1", "q": "0110", "r": "1.0"}, order="asked"),
    "10,000 problems": problem_strip(marks(10_000, 4), order="asked"),
    "graded": ProblemStrip(("p",), ("0",), (0.371,)),
    "all of one kind": SplitBar((SplitPart("which problems", 1.0), SplitPart("sampling", 0.0))),
    "no variance": SplitBar((SplitPart("which problems", 0.0), SplitPart("sampling", 0.0))),
    "no parts": SplitBar(()),
    "many kinds": KindBars(tuple(Bar(f"{i}", 0.5, (0.4, 0.6), count=i) for i in range(99)), "x"),
    "no difference": DifferenceForest((Bar(LONG, 0.0, (0.0, 0.0)),), HOSTILE, HEBREW),
    "difference without interval": DifferenceForest((Bar("x", None), Bar("y", 1.5)), "a", "b"),
    "one model": RankBars((Rank("x", 1, 1),)),
    "no models": RankBars(()),
    "many models": RankBars(tuple(Rank(LONG, 1, 300) for _ in range(300))),
    "no items": AbilityPath(()),
    "one item": AbilityPath(STEPS[:1]),
    "no ability": AbilityPath((AbilityStep(HOSTILE, 0.0, None, None),)),
}  # fmt: skip
