"""Digits and percentages: alike within a column, apart between scales."""

from passband.report.style import Figure, Style
from passband.stats.interval.rounding import Rounding


def places(style: Style, *figures: Figure | None) -> list[int]:
    return [rounding.places for rounding in style.roundings(figures)]


def test_a_column_has_one_number_of_decimals() -> None:
    wide, narrow = Figure(0.51, 0.39, 0.63, True), Figure(0.9695, 0.9612, 0.9778, True)
    assert places(Style(), wide) == [2]
    assert places(Style(), narrow) == [4]
    assert places(Style(), wide, narrow, None) == [3, 3, 3]


def test_a_value_without_an_interval_follows_its_column() -> None:
    """100.0000 beside 96.7 is what it must not look like."""
    bleu, perfect = Figure(96.7, 94.1, 99.2), Figure(100.0)
    assert places(Style(), bleu, perfect) == [1, 1]
    assert places(Style(), perfect) == [1]
    assert places(Style(), Figure(0.5)) == [4]


def test_scales_are_rounded_apart() -> None:
    share, bleu = Figure(0.62, 0.55, 0.69, True), Figure(34.2, 31.5, 36.9)
    assert places(Style(), share, bleu) == [3, 1]


def test_percentages_are_of_shares_alone() -> None:
    share, bleu = Figure(0.62, 0.55, 0.69, True), Figure(34.2, 31.5, 36.9)
    first, second = Style(percent=True).roundings([share, bleu])
    assert first.text(*share.numbers) == "62.0 [55.0, 69.0]"
    assert second.text(*bleu.numbers) == "34.2 [31.5, 36.9]"


def test_digits_as_asked() -> None:
    figure = Figure(0.27333, 0.2, 0.35, True)
    (rounding,) = Style(digits=3).roundings([figure])
    assert rounding == Rounding(3)
    (rounding,) = Style(digits=1, percent=True).roundings([figure])
    assert rounding.text(*figure.numbers) == "27.3 [20.0, 35.0]"
    assert Style(digits=0, percent=True).roundings([figure])[0].value(0.275) == "28"


def test_numbers_for_programs() -> None:
    assert Style().number(0.123456789, Rounding(2)) == 0.123456789
    assert Style(percent=True).number(0.25, Rounding(2, percent=True)) == 25.0
    assert Style(digits=2).number(0.123456789, Rounding(2)) == "0.12"
    assert Style(digits=2).number(None, Rounding(2)) is None
