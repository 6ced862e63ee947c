"""The seam between values and what draws them."""

import pickle

import pytest

import passband
from passband import display


def test_the_last_module_that_was_named_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "_drawing", ["passband.report.html.notebook"])
    display.draw_with("test_display_drawing")
    assert display._drawing[-1] == "test_display_drawing"


def test_displayed_values_travel_and_compare() -> None:
    outcomes = passband.Outcomes.from_counts([3, 0, 8], 8)
    estimate = passband.estimate(outcomes, "pass@1")
    assert pickle.loads(pickle.dumps(estimate)) == estimate
    assert isinstance(estimate, display.Displayed)
    assert not repr(estimate).startswith("<")
