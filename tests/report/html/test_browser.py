"""Reports in a real browser: drawn, quiet, inert, usable by mouse, keyboard, phone and printer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from passband.report.html.report import report_page
from passband.summary.compare.models import ComparisonOptions
from passband.summary.findings.several import compared_findings
from passband.summary.findings.sources import read_findings
from passband.trials.encoding import canonical_json
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from support.runs.commands import run
from support.samples.stores import writing
from support.servers.browser import Browser, Page

pytestmark = pytest.mark.process
EVIL = "</script><img src=x onerror=planted=1><svg onload=planted=1>"
SIZES = [(1280, False), (390, True)]
KINDS = ("one", "two", "three", "adaptive")


@dataclass(frozen=True)
class Pages:
    folder: Path

    def __getitem__(self, name: str) -> Path:
        return self.folder / f"{name}.html"


def stored(directory: Path, model: str, rate: float) -> Path:
    """Make a run whose every text, name and id is markup."""
    right = np.random.default_rng(7).random((24, 6)) < rate
    with writing(directory) as store:
        number = store.begin(f"t {EVIL}", model, spec={}, config={"metrics": []}, name=f"n {EVIL}")
        record = {"messages": [["user", f"Q {EVIL}"]], "targets": [EVIL], "choices": []}
        store.add_problems(
            number,
            [
                ProblemRow(
                    at, f"p{at} {EVIL}", canonical_json(record | {"doc": {"kind": EVIL}}), None
                )
                for at in range(len(right))
            ],
        )
        (scorer,) = store.set_scorers(number, [ScorerEntry("exact", "exact 1")])
        store.append(
            number,
            [
                TrialRow(
                    at, trial, "ok", f"because {EVIL} it is {EVIL}", reasoning=EVIL,
                    scores=[ScoreRow(scorer, float(value), answer=EVIL, rule="last_number")],
                )
                for at, row in enumerate(right)
                for trial, value in enumerate(row)
            ],
        )  # fmt: skip
    return directory


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    folder = tmp_path_factory.mktemp("pages")
    names = {"a": 0.3, f"b {EVIL}": 0.7, "c": 0.5}
    runs = [stored(folder / model[:1], model, rate) for model, rate in names.items()]
    adaptive = folder / "adaptive"
    assert run("run", "arithmetic:adaptive", "--model", "tiny", "--out", adaptive).code == 0
    chosen = {"one": runs[1:2], "two": runs[:2], "three": runs, "adaptive": [adaptive]}
    for name, paths in chosen.items():
        compared = None if len(paths) == 1 else compared_findings(paths, ComparisonOptions())
        page = report_page(read_findings(paths), compared=compared)
        (folder / f"{name}.html").write_text(page, "utf-8")
    return Pages(folder)


def check_quiet(page: Page, path: Path) -> None:
    """Check that nothing was planted, said or fetched."""
    assert page.evaluate("window.planted") is None
    assert page.messages == []
    assert page.requests == [path.as_uri()]
    assert page.evaluate("document.querySelectorAll('img:not([src^=\"data:\"])').length") == 0
    assert not page.scrolls_sideways


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_a_page_is_drawn_and_asks_for_nothing(
    browser: Browser, pages: Pages, name: str, width: int, dark: bool
) -> None:
    with browser.open(pages[name], width=width, dark=dark) as page:
        check_quiet(page, pages[name])
        sizes = page.evaluate("""[...document.querySelectorAll("svg")]
            .filter((svg) => svg.checkVisibility())
            .map((svg) => [svg.getBoundingClientRect().width, svg.childElementCount])""")
        assert len(sizes) >= 2
        assert all(wide > 10 and children for wide, children in sizes)
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(20, 23, 26)" if dark else "rgb(255, 255, 255)")
        if name in ("two", "three"):
            assert "Differences" in page.evaluate("document.body.innerText")


def test_the_heat_map_opens_a_transcript(browser: Browser, pages: Pages) -> None:
    with browser.open(pages["one"], width=390) as page:
        assert page.evaluate("document.querySelector('#panel-0').hidden")
        page.click(".problems")
        assert not page.evaluate("document.querySelector('#panel-0').hidden")
        page.evaluate("document.querySelectorAll('#panel-0 details').forEach((d) => d.open = true)")
        text = page.evaluate("document.querySelector('#panel-0').innerText")
        assert text.count(EVIL) >= 6
        assert "because" in text
        check_quiet(page, pages["one"])
        page.click("#panel-0 .panel-close")
        assert page.evaluate("document.querySelector('#panel-0').hidden")


def test_a_flipped_problem_opens_by_key_with_the_trials_of_both(
    browser: Browser, pages: Pages
) -> None:
    with browser.open(pages["two"]) as page:
        page.evaluate("document.querySelector('.changes a').focus()")
        page.press("Enter")
        page.wait_for("!document.querySelector('#panel-2').hidden")
        names = page.evaluate(
            "[...document.querySelectorAll('#panel-2 .label')].map((one) => one.textContent)"
        )
        assert {"a", f"b {EVIL}"} <= set(names)
        assert page.evaluate("document.querySelectorAll('#panel-2 .trials').length") == 2
        check_quiet(page, pages["two"])


def test_every_problem_can_be_reached_by_keyboard(browser: Browser, pages: Pages) -> None:
    with browser.open(pages["one"]) as page:
        page.evaluate("document.querySelector('details[data-problems] summary').focus()")
        page.press("Enter")
        page.wait_for("document.querySelector('details[data-problems] button')")
        for _ in range(2):
            page.press("Tab")
        assert page.evaluate("document.activeElement.dataset.problem") == "1"
        page.press("Enter")
        page.wait_for("!document.querySelector('#panel-0').hidden")
        assert page.evaluate("document.querySelector('#panel-0 h3 span').textContent").endswith(
            EVIL
        )


def test_stacked_and_as_asked_are_two_states_of_the_strip(browser: Browser, pages: Pages) -> None:
    shown = (
        "document.querySelector('.problems > .asked').checkVisibility({visibilityProperty: true})"
    )
    with browser.open(pages["one"]) as page:
        assert not page.evaluate(shown)
        page.click(".to-asked")
        assert page.evaluate(shown)


def test_the_policy_stops_what_might_slip_through(browser: Browser, pages: Pages) -> None:
    plant = f"""new Promise((done) => {{
        const stopped = new Set();
        document.addEventListener("securitypolicyviolation", (event) => {{
            stopped.add(event.effectiveDirective);
            if (stopped.size === 2) done([...stopped].sort());
        }});
        document.body.insertAdjacentHTML("beforeend", {EVIL!r});
    }})"""
    with browser.open(pages["one"]) as page:
        assert page.evaluate(plant) == ["img-src", "script-src-attr"]
        assert page.evaluate("window.planted") is None


def test_a_page_prints(browser: Browser, pages: Pages) -> None:
    with browser.open(pages["two"], dark=True) as page:
        assert page.pdf().startswith(b"%PDF")
        page.send("Emulation.setEmulatedMedia", media="print")
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"
        assert not page.scrolls_sideways
