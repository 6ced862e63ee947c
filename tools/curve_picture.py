"""Draw the curve of the README: `passband run arithmetic --model tiny -n 16`, every k at once."""

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import passband
from passband.cli.app import app
from passband.report.charts.theme import DARK, LIGHT
from passband.report.charts.tries_curve import TriesCurve, TriesLine
from passband.report.notebook.estimates import tries_line
from passband.report.style import PLAIN
from passband.report.table_line import table_lines

__all__ = ["curve", "curves"]

COMMAND = ("run", "arithmetic", "--model", "tiny", "-n", "16", "-q", "--out")


def curves() -> dict[str, str]:
    """Return the drawings by the names of their files, on the background of the page."""
    chart = curve()
    themes = {"curve-light.svg": LIGHT, "curve-dark.svg": DARK}
    return {
        name: chart.svg(replace(theme, background="none")) + "\n" for name, theme in themes.items()
    }


def curve() -> TriesCurve:
    """Run the command, and return the curve of what it recorded, rounded as its table is."""
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
