"""Which notes are printed below a table, in which order, and what each is about."""

import pytest

from passband.notes import ACCEPTED, Note, Severity
from passband.report.noted import Noted, about, interval_cell, note_lines, parted, shown, warnings

TASKS = [f"t{number}" for number in range(1, 10)]
ROWS = [(task, metric) for task in TASKS for metric in ("pass@1", "pass@2", "pass@4")]


def note(code: str, severity: Severity = "remark") -> Note:
    return Note(code, f"it is {code}", severity)


def test_the_most_severe_come_first_and_two_are_printed() -> None:
    notes = [note("a"), note("b", "weak"), note("c"), note("d", "weak"), note("e")]
    lines = note_lines(map(Noted, notes))
    assert shown(lines) == ["it is b", "it is d", "3 more remarks: --notes"]
    assert shown(lines, every=True) == [f"it is {code}" for code in "bdace"]
    assert warnings(lines) == []


@pytest.mark.parametrize("count", [1, 2, 7])
def test_no_limit_hides_what_forbids_a_claim(count: int) -> None:
    notes = [note("remark"), *(note(f"x{number}", "invalid") for number in range(count))]
    lines = note_lines(map(Noted, notes))
    assert warnings(lines) == [f"warning: it is x{number}" for number in range(count)]
    others = ["it is remark"] if count == 1 else ["1 more remark: --notes"]
    assert shown(lines) == others


def test_reasons_for_missing_numbers_and_accepted_findings_are_always_printed() -> None:
    notes = [note(f"no-{number}") for number in range(3)]
    notes += [Note("drift", f"later trials score lower{ACCEPTED}"), note("a", "weak")]
    found = parted(note_lines(map(Noted, notes)))
    assert found.warnings == []
    assert len(found.first) == 4
    assert found.others == ["it is a"]


def test_a_note_is_printed_once_with_all_that_it_is_about() -> None:
    same = note("a")
    (line,) = note_lines((Noted(same, *row) for row in ROWS[:-3]), ROWS)
    assert line.text == "t1-t8: it is a"
    (line,) = note_lines((Noted(same, *row) for row in ROWS), ROWS)
    assert line.text == "all: it is a"
    (line,) = note_lines((Noted(same, task, "pass@2") for task in TASKS), ROWS)
    assert line.text == "t1-t9 / pass@2: it is a"
    (line,) = note_lines((Noted(same, "", f"pass@{k}") for k in (1, 2, 4)), ())
    assert line.text == "pass@1,2,4: it is a"


def test_notes_on_metrics_that_differ_in_numbers_are_one_with_their_ranges() -> None:
    texts = ["-0.2 of 1,200 (15%)", "-0.1 of 90 (8%)", "+0.1 of 1,000 (15%)"]
    noted = [Noted(Note("a", text), f"t{at}", "pass@1") for at, text in enumerate(texts)]
    (line,) = note_lines(noted)
    assert line.text.endswith(": -0.2 to +0.1 of 90-1,200 (8-15%)")


def test_other_words_other_severities_and_notes_on_trials_stay_apart() -> None:
    one, other = Note("a", "problem 1 is wrong"), Note("a", "problem 2 is wrong")
    assert len(note_lines([Noted(one, "t1"), Noted(other, "t2")])) == 2  # names of problems
    invalid = one._replace(severity="invalid")
    assert len(note_lines([Noted(one, "", "pass@1"), Noted(invalid, "", "pass@1")])) == 2
    first = [Noted(Note("a", f"--first {n} uses the first"), f"t{n}", "avg") for n in (1, 2)]
    assert len(note_lines(first)) == 2  # a command is no range


def test_a_long_list_is_cut() -> None:
    rows = [("t1", "avg"), ("t2", "pass@2"), ("t3", "pass@4"), ("t5", "geom@2")]
    assert about(rows, ROWS) == "t1 / avg; and 3 other rows"


def test_the_cell_of_an_interval_names_what_forbids_it() -> None:
    assert interval_cell("[0.1, 0.2]", [note("a", "weak")]) == "[0.1, 0.2]"
    assert interval_cell("-", [note("a", "invalid"), note("b", "invalid")]) == "none: a, b"


def test_one_sentence_is_one_line_with_the_worst_severity() -> None:
    remark, weak = Note("copied", "copies"), Note("copied-draws", "copies", "weak")
    rows = [("", "pass@1"), ("", "pass@2")]
    (line,) = note_lines([Noted(remark, *rows[0]), Noted(weak, *rows[1])], rows)
    assert (line.text, line.note) == ("all: copies", weak)
