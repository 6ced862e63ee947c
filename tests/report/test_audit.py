"""The lines of an audit."""

from passband.report.audit import audit_lines


def test_an_intact_store() -> None:
    (line,) = audit_lines("run", {"trial": 1000}, [])
    assert line.startswith("run: 1,000 trials, 0 completions")
    assert line.endswith("0 failed attempts: all as written.")


def test_a_file_that_cannot_be_opened() -> None:
    assert list(audit_lines("bad", {}, ["file is not a database"])) == [
        "bad: nothing could be read; DAMAGED:",
        "  file is not a database",
        "passband salvage bad NEW copies what can be read.",
    ]
