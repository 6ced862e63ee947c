"""Values in notebooks: what they show, that nothing is markup that should be text, and layers."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import passband
from passband import display
from passband.report.html.notebook import html_of

ROOT = Path(__file__).resolve().parents[3]
OUTCOMES = passband.Outcomes.from_counts([3, 0, 8, 5] * 10, 8)
OTHER = passband.Outcomes.from_counts([4, 1, 8, 6] * 10, 8)
MODELS = {"<b>x</b>": OUTCOMES, "y": OTHER}
VALUES = {
    "estimate": passband.estimate(OUTCOMES, "pass@1"),
    "estimate over trials": passband.estimate(OUTCOMES, "pass^4", over="trials"),
    "one problem": passband.estimate(passband.Outcomes.from_counts([3], 8), "pass@1"),
    "comparison": passband.compare(OUTCOMES, OTHER, "pass@1", margin=0.05),
    "curve": passband.curve(OUTCOMES, "pass@*"),
    "band": passband.band(OUTCOMES, "pass^*"),
    "band over trials": passband.band(OUTCOMES, "pass@*", over="trials"),
    "extrapolation": passband.extrapolate(OUTCOMES, "pass@16"),
    "combined": passband.combine(MODELS, "pass@1"),
    "ranking": passband.compare_all(MODELS, "pass@1"),
    "abilities": passband.rank_models(MODELS, "pass@1"),
    "variance": passband.split_variance(OUTCOMES, "pass@1"),
    "summary": passband.summarize([[1, 0, 1], [0, 0, None], [1, 1, 1]] * 5),
    "graded summary": passband.summarize([[7.5, 3.0], [1.0, 12.0], [4.0, 4.0]] * 5),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_one_figure_without_script(name: str) -> None:
    html = VALUES[name]._repr_html_()
    root = ElementTree.fromstring(html.replace("&nbsp;", " "))  # well-formed
    assert (root.tag, root.get("class")) == ("figure", "passband")
    assert not re.search(r"<script|<b>|javascript:|prefers-color-scheme| style=", html)
    assert "currentColor" in html or "<table>" in html


@pytest.mark.parametrize("name", VALUES)
def test_every_rule_is_scoped(name: str) -> None:
    style = re.findall("<style>(.*?)</style>", VALUES[name]._repr_html_())
    selectors = re.findall(r"(?:^|})([^{}]+){", "".join(style))
    assert selectors
    assert all(part.startswith(".passband") for one in selectors for part in one.split(","))


def test_digits_are_those_of_the_text() -> None:
    for name in ("estimate", "estimate over trials", "comparison"):
        text = str(VALUES[name]).partition(",  p")[0].partition(", p ")[0]
        words = ElementTree.fromstring(VALUES[name]._repr_html_()).itertext()
        shown = " ".join(words)
        for number in re.findall(r"\d\.\d+", text):
            assert number in shown


def test_a_summary_has_a_bar_for_every_share_and_its_notes() -> None:
    html = VALUES["summary"]._repr_html_()
    assert html.count("<svg") == 1 + len(list(VALUES["summary"].lines()))  # type: ignore[attr-defined]
    assert "5 of 45 trials have no score" in html
    assert "problems like these" in html
    assert "<svg" not in VALUES["graded summary"]._repr_html_()


def test_what_cannot_be_drawn_stays_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert html_of(object()) is None
    monkeypatch.setattr(display, "_drawing", [])
    assert VALUES["estimate"]._repr_html_() is None


def test_drawing_is_imported_only_when_a_notebook_asks() -> None:
    code = "import sys, passband; passband.Estimate; print('passband.report' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_example_notebook_is_what_its_cells_show(tmp_path: Path) -> None:
    script = ROOT / "examples" / "make_notebook.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "new.ipynb")], check=True)
    kept, new = (
        path.read_text("utf-8")
        for path in (ROOT / "examples" / "notebook.ipynb", tmp_path / "new.ipynb")
    )
    assert words_of(kept) == words_of(new), "run python examples/make_notebook.py"


def words_of(notebook: str) -> list[object]:
    """Return the cells, and what they show without coordinates, which differ by a rounding."""
    cells = json.loads(notebook)["cells"]
    drawn = r'\b(?:x|y|x1|x2|y1|y2|cx|cy|width|height|points|rx)="[^"]*"'
    shown = [
        "".join(line for output in cell.get("outputs", []) for line in output["data"]["text/html"])
        for cell in cells
    ]
    return [
        (cell["source"], re.sub(drawn, "", html)) for cell, html in zip(cells, shown, strict=True)
    ]


def test_a_band_that_the_data_forbid_is_not_drawn() -> None:
    counts = passband.Outcomes.from_counts([0, 1, 2, 10] * 15, [1, 2, 3, 10] * 15)
    tried = passband.band(counts, "pass@*")
    assert tried.is_refused
    html = html_of(tried)
    assert html is not None
    assert "nan" not in html
    assert "warning: " in html
