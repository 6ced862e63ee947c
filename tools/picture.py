"""A picture for the documentation: one SVG file, light or dark as the reader's system is.

Colours are CSS variables inside the file, so that one image serves GitHub and the site.
"""

from passband.report.charts.canvas import FONT, Canvas
from passband.report.charts.theme import PAGE, chart_rules, colour_rules

__all__ = ["WIDTH", "canvas", "picture"]

WIDTH = 640.0  # narrow enough for its text to be read on a phone


def canvas(height: float) -> Canvas:
    """Return an empty drawing with a background of its own."""
    drawing = Canvas(PAGE, WIDTH, height)
    drawing.rect(0, 0, WIDTH, height, "background")
    return drawing


def picture(drawing: Canvas, title: str, description: str) -> str:
    """Return the file: the drawing, and the rules that colour it."""
    frame, _, shapes = drawing.svg(title, description).partition(">")
    style = f"<style>{colour_rules()}{chart_rules()}</style>"
    return f'{frame} font-family="{FONT}">{style}{shapes}\n'
