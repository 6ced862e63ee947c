"""The viewer in a real browser: nothing is wrong in its console, keys work, numbers move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from passband.trials.reader import Trials
from passband.trials.rows import ScoreRow, TrialRow
from support.samples.stores import filled, writing
from support.servers.browser import Browser
from support.servers.viewing import Viewing, viewing

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewing]:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("a", "b" * 90):
        filled(folder / name, [[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 1]] * 8, model=f"model-{name}")
    with viewing(folder) as viewer:
        yield viewer


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_pages_fit_and_nothing_is_wrong(
    browser: Browser, viewer: Viewing, width: int, dark: bool
) -> None:
    paths = ["", "runs/a/1", "runs/a/1/trials?show=wrong", "runs/a/1/problem/1/trial/1",
             "runs/a/1/problem/1/diff/0/1", "runs/a/1/search?q=answer",
             f"compare?a=a/1&b={'b' * 90}/1"]  # fmt: skip
    with browser.open(viewer.address, width=width, dark=dark) as page:
        for path in paths:
            page.go(viewer.address + path)
            assert page.messages == [], path
            assert not page.scrolls_sideways, path
        page.go(f"{viewer.address}runs/a/1")
        box = "document.querySelector({!r}).getBoundingClientRect().{}"
        assert page.evaluate(box.format(".strip svg", "height")) == (170 if width > 760 else 130)
        picks, strip = (page.evaluate(box.format(s, "width")) for s in (".picks", ".strip svg"))
        assert abs(picks - strip) < 1
        assert {address.split("/")[2] for address in page.requests} == {f"127.0.0.1:{viewer.port}"}


def test_keys_follow_the_wrong_trials(browser: Browser, viewer: Viewing) -> None:
    with browser.open(f"{viewer.address}runs/a/1/problem/0/trial/0") as page:
        for key, end in (("n", "/problem/1/trial/1"), ("n", "/problem/1/trial/3"),
                         ("p", "/problem/1/trial/1"), ("j", "/problem/1/trial/2"),
                         ("k", "/problem/1/trial/1")):  # fmt: skip
            page.press(key)
            page.wait_for(f"location.pathname.endsWith({end!r}) && document.readyState !== "
                          "'loading' && document.querySelector('a[data-key]')")  # fmt: skip
        page.go(f"{viewer.address}runs/a/1")
        page.click(".picks a:last-child")
        page.wait_for("location.pathname.includes('/problem/')")


def test_a_bar_narrows_while_the_run_is_written(
    browser: Browser, viewer: Viewing, tmp_path: Path
) -> None:
    directory = filled(tmp_path / "live", [[1, 0], [0, 1], [1, 1], [0, 0]])
    with viewing(tmp_path) as own, browser.open(f"{own.address}runs/live/1") as page:
        page.wait_for("document.documentElement.dataset.seen >= 1")
        width = "+document.querySelector('[data-live=\"bar pass@1\"] rect').getAttribute('width')"
        before = page.evaluate(width)
        with Trials(directory) as trials:
            scorer = trials.run().scorers[0].number
        with writing(directory) as store:
            score = [ScoreRow(scorer, 1.0, "ok", "1", "x")]
            store.append(1, [TrialRow(p, t, "ok", "1", scores=score)
                             for p in range(4) for t in range(2, 30)])  # fmt: skip
        page.wait_for("document.querySelector('[data-live=done]').textContent === '120 trials'")
        page.wait_for(f"{width} < {before}")
        assert page.messages == []
