"""The rig that drives a browser sees what a page does, and leaves nothing behind."""

from pathlib import Path

import pytest

from support.servers import browser as rig
from support.servers.browser import Browser, NoBrowser, PageError

pytestmark = pytest.mark.process
PAGE = """<!doctype html><meta charset=utf-8><title>A page</title>
<style>p { color: rgb(1, 2, 3) } @media (prefers-color-scheme: dark) { p { color: rgb(4, 5, 6) } }
#wide { width: 600px }</style>
<p>text</p><div id=wide>.</div><button onclick="document.title = 'clicked'">go</button>
<script>addEventListener("keydown", (event) => { window.key = event.key; })</script>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a page.html"
    path.write_text(PAGE)
    return path


def test_a_page_is_read_clicked_and_typed_at(browser: Browser, path: Path) -> None:
    with browser.open(path) as page:
        page.click("button")
        page.press("n")
        assert page.evaluate("[document.title, window.key]") == ["clicked", "n"]
        page.press("Enter")
        page.wait_for("window.key === 'Enter'")
        assert page.requests == [path.as_uri()]
        assert page.messages == []


def test_width_and_colour_scheme_are_the_readers(browser: Browser, path: Path) -> None:
    colour = "getComputedStyle(document.querySelector('p')).color"
    with browser.open(path, width=390, dark=True) as page:
        assert page.evaluate(colour) == "rgb(4, 5, 6)"
        assert page.scrolls_sideways
        page.resize(1280)
        page.prefer(dark=False)
        assert page.evaluate(colour) == "rgb(1, 2, 3)"
        assert not page.scrolls_sideways


def test_errors_and_requests_are_seen(browser: Browser, path: Path) -> None:
    path.write_text(PAGE + "<img src=missing.png><script>console.warn('so', 1); x.y</script>")
    with browser.open(path) as page:
        assert page.requests == [path.as_uri(), path.with_name("missing.png").as_uri()]
        missing, exception, warning = sorted(page.messages)
        assert warning == "warning: so 1"
        assert exception.startswith("exception: ReferenceError: x is not defined")
        assert "ERR_FILE_NOT_FOUND" in missing


def test_a_page_is_drawn_and_printed(browser: Browser, path: Path, tmp_path: Path) -> None:
    with browser.open(path, width=320) as page:
        assert page.screenshot(tmp_path / "page.png").startswith(b"\x89PNG")
        assert page.pdf().startswith(b"%PDF")
    assert (tmp_path / "page.png").exists()


def test_what_cannot_be_done_is_an_error(browser: Browser, path: Path) -> None:
    with pytest.raises(PageError, match="ERR_FILE_NOT_FOUND"):
        browser.open(path.with_name("other.html"))
    with browser.open(path) as page:
        with pytest.raises(PageError, match="nothing is not defined"):
            page.evaluate("nothing")
        with pytest.raises(PageError, match=r"not true after 0\.05 s"):
            page.wait_for("false", seconds=0.05)


def test_no_browser_is_told_from_one_that_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rig, "PROGRAMS", ("no-such-program",))
    with pytest.raises(NoBrowser, match="apt install no-such-program"):
        Browser()
    monkeypatch.setattr(rig, "PROGRAMS", ("false",))
    with pytest.raises(NoBrowser, match="/false does not start"):
        Browser()
