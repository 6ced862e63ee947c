"""The lines of an audit."""

from passband.report.audit import audit_lines


def test_a_file_of_version_1_is_not_called_as_written() -> None:
    (line,) = audit_lines("old", 1, {"trial": 1000}, [])
    assert line.startswith("old: 1,000 trials, 0 completions")
    assert line.endswith("readable; layout 1 has no checksums.")


def test_a_file_that_cannot_be_opened() -> None:
    assert list(audit_lines("bad", 0, {}, ["file is not a database"])) == [
        "bad: nothing could be read; DAMAGED:",
        "  file is not a database",
        "passband salvage bad NEW copies what can be read.",
    ]
