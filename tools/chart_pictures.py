"""Draw the curve of the README, bars of estimates, and what intervals and verdicts mean."""

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import example_pictures
import target_pictures

import passband
from passband.cli.app import app
from passband.report.charts.bar import Bar
from passband.report.charts.interval_bars import IntervalBars
from passband.report.charts.theme import DARK, LIGHT
from passband.report.charts.tries_curve import TriesCurve, TriesLine
from passband.report.html.notebook import hue_of, tries_line
from passband.report.style import PLAIN
from passband.report.table_line import table_lines

__all__ = ["bars", "curve", "pictures"]

ROOT = Path(__file__).resolve().parents[1]
COMMAND = ("run", "arithmetic", "--model", "tiny", "-n", "16", "-q", "--out")


def pictures() -> dict[str, str]:
    """Return the drawings by the names of their files; the curve has no background of its own."""
    chart = curve()
    light, dark = (chart.svg(replace(theme, background="none")) for theme in (LIGHT, DARK))
    drawn = {"curve-light.svg": light, "curve-dark.svg": dark, "intervals.svg": bars().svg(LIGHT)}
    drawn |= {"targets.svg": target_pictures.targets(), "verdicts.svg": target_pictures.verdicts()}
    drawn |= {"labels.svg": example_pictures.labels(), "looks.svg": example_pictures.looks()}
    return {name: f"{svg.rstrip()}\n" for name, svg in drawn.items()}


def bars() -> IntervalBars:
    """Return the bars of three estimates, each with both intervals."""
    outcomes = passband.Outcomes.from_file(ROOT / "examples" / "trials.csv")
    drawn = []
    for metric in ("pass@1", "pass@4", "pass^4"):
        like = passband.estimate(outcomes, metric)
        same = passband.estimate(outcomes, metric, over="trials")
        ends = (like.low, like.high), (same.low, same.high)
        drawn.append(Bar(metric, like.value, *ends, hue_of(metric)))
    return IntervalBars(drawn)


def curve() -> TriesCurve:
    """Run what the README runs, and return its curve, rounded as the table is."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "tiny"
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            app([*COMMAND, str(run)], standalone_mode=False)
        outcomes = passband.Outcomes.from_file(run)
        figures = [line.figure for line in table_lines(passband.summarize(run))]
    lines = [line_of(outcomes, metric) for metric in ("pass@*", "pass^*")]
    title = "pass@k and pass^k of the built-in model on arithmetic"
    return TriesCurve(lines, rounding=PLAIN.roundings(figures)[0], title=title)


def line_of(outcomes: passband.Outcomes, metric: str) -> TriesLine:
    """Return a metric at every k with both of its bands."""
    outer, inner = (passband.band(outcomes, metric, over=over) for over in ("problems", "trials"))
    edges = [(band.low.tolist(), band.high.tolist()) for band in (outer, inner)]
    return tries_line(outer, *edges)
