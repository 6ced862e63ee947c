"""Gates on the terminal: rows, words and bars."""

from passband.report.gate.bars import difference_bars
from passband.report.gate.text import gate_notes, gate_text
from passband.report.style import Style
from support.samples.gates import NASTY, every_verdict, named


def test_every_line_is_a_row_and_the_headline_says_why() -> None:
    text = gate_text(every_verdict())
    assert text.splitlines()[0] == "REGRESSION: lost pass@1 lost more than chance explains"
    rows = [line.split() for line in text.splitlines()[6:]]
    assert [row[-1] for row in rows] == [
        "regression", "pass", "worse-within-tolerance", "undecided", "not-certified",
        "not-certified", "regression", "undecided",
    ]  # fmt: skip
    notes = gate_notes(every_verdict())
    assert "these very problems" in notes[0]
    assert "false regression among 5 comparisons" in notes[0]
    assert any("more trials of each problem" in note for note in notes)
    assert "absent / pass@1: required, but missing in BASE and NEW" in notes
    assert any("1 of 8" not in note and "max_failed" in note for note in notes)


def test_numbers_can_be_percentages_in_table_and_words() -> None:
    assert " -9.38 " in gate_text(every_verdict(), Style(percent=True))


def test_control_characters_are_not_printed() -> None:
    for text in (gate_text(named(NASTY)), *difference_bars(named(NASTY).lines)):
        assert "\x1b" not in text
        assert "\x00" not in text


def test_bars_have_zero_in_the_middle_and_the_tolerance() -> None:
    """The scale goes to 0.1 or 0.2; the tolerance of 0.03 is between."""
    head, *bars = difference_bars(every_verdict().lines)
    zero = head.index(" 0 ") + 1
    lost = bars[0]
    assert lost.index("●") < lost.index("╎") < zero
    assert len({len(bar) for bar in bars}) == 1
    assert difference_bars([]) == []
