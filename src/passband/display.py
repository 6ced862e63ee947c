"""Values as HTML in notebooks: the seam between the statistics and the reports that draw them.

Jupyter and marimo ask a value for `_repr_html_`. Estimates and comparisons are made in low layers,
which know nothing of HTML; the drawings are in `passband.report`, which imports those layers, so
they cannot import it. A value therefore only says that it can be `Displayed`. The module that
draws it is named once, by the root package, which knows all modules by name anyway (that is how it
exports them). It is imported when a notebook first asks, and never otherwise.
"""

from __future__ import annotations

import importlib

_drawing: list[str] = []  # the module whose `html_of` draws values; the last one named counts


def draw_with(module: str) -> None:
    """Name the module whose function `html_of(value)` draws values; it is not yet imported."""
    _drawing.append(module)


class Displayed:
    """A value that notebooks show as HTML; everywhere else it is the text it always was."""

    def _repr_html_(self) -> str | None:
        """Return the value as HTML; None, so that the text is shown, if nothing draws it."""
        if not _drawing:
            return None
        html: str | None = importlib.import_module(_drawing[-1]).html_of(self)
        return html
