"""Help texts: words for people, whole sentences, examples that parse, exit codes."""

import re
import shlex
from importlib.metadata import version

import pytest
from typer.main import get_command

from passband.cli.app import app
from passband.cli.help import EXAMPLES
from passband.errors import ExitCode
from support.runs.commands import run

TYPER = tuple(int(part) for part in version("typer").split(".")[:2])
VERBS = sorted(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb(verb: str) -> None:
    done = run(verb, "--help")
    assert done.code == 0
    assert not re.search(r"list\[|<(str|int|float|path)( range)?>|Usage:.*[{}]", done.out)
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    assert all(getattr(parameter, "help", None) for parameter in command.params)


@pytest.mark.parametrize("verb", VERBS)
def test_many_options_are_shown_in_part_and_on_request_in_full(verb: str) -> None:
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    short = run(verb, "--help").out
    if len([each for each in command.params if each.param_type_name == "option"]) <= 18:
        assert "--help-all" not in short
        return
    shown, more, _ = short.partition("more: --help-all")
    assert more
    assert len(shown.splitlines()) <= (24 if TYPER >= (0, 29) else 36)  # older: wider columns
    full = run(verb, "--help-all")
    assert full.code == 0
    for name in (name for parameter in command.params for name in parameter.opts):
        assert name in full.out or not name.startswith("-"), name
    assert "more: --help-all" not in full.out


def test_the_help_of_the_command() -> None:
    done = run("--help")
    assert "..." not in done.out.partition("Commands:")[2]
    for verb in VERBS:
        assert re.search(rf"^  {verb} ", done.out, re.MULTILINE)
    for code in (0, 1, 2, 5, 6, 130, 143):
        assert code in list(ExitCode)
        assert str(code) in done.out.partition("Exit codes:")[2]


@pytest.mark.parametrize("verb", sorted(EXAMPLES))
def test_examples_are_commands(verb: str) -> None:
    command = get_command(app).commands[verb]  # type: ignore[attr-defined]
    assert all(len(line) <= 76 for line in EXAMPLES[verb])  # and two blanks before each
    for line in "\n".join(EXAMPLES[verb]).replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        assert words[:2] == ["passband", verb]
        command.make_context(verb, words[2:])  # raises where an option is not there


def test_without_a_verb_the_help_is_shown() -> None:
    done = run()
    assert (done.code, done.err) == (0, "")
    assert done.out == run("--help").out
    assert "\n" in done.out
    assert "\\n" not in done.out


def test_a_shell_completes_verbs_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PASSBAND_COMPLETE", "complete_bash")
    for words, number, completed in (
        ("passband comp", 1, "compare"),
        ("passband stats --lev", 2, "--level"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(number))
        done = run()
        assert (done.code, done.out.split()) == (0, [completed])


@pytest.mark.parametrize("verb", ["plan", "show", "merge", "export"])
def test_verbs_that_print_notes_can_be_quiet(verb: str) -> None:
    assert "--quiet" in run(verb, "--help").out
