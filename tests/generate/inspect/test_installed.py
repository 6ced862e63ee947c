"""What is said where inspect_ai is missing or too old."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import inspect_ai
import pytest

from passband.errors import InvalidInput
from passband.generate.inspect.installed import message_of, require_inspect
from passband.run.tasks import load_tasks


def test_where_it_is_missing_the_command_to_install_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"pip install inspect-ai"):
        load_tasks("inspect:any")


def older(samples: Any) -> None:
    """Stand for `enqueue_sample` of versions before 0.3.278."""


@pytest.mark.parametrize("function", [None, older])
def test_where_it_is_too_old_the_version_needed_is_given(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_ai, "enqueue_sample", function)
    with pytest.raises(InvalidInput, match=r"0\.3\.278 or newer"):
        require_inspect()


def test_messages_for_a_terminal_are_made_plain() -> None:
    class Prerequisite(Exception):
        message = "[bold]ERROR[/bold]: set\n\n[blue]OPENAI_API_KEY[/blue]"

    assert message_of(Prerequisite()) == "set OPENAI_API_KEY"
    assert message_of(ValueError("no")) == "ValueError: no"


@pytest.mark.process
def test_inspect_is_imported_for_its_own_tasks_alone() -> None:
    script = (
        "import sys; from passband.run.tasks import load_tasks; load_tasks('arithmetic');"
        "import passband.generate.inspect.engine, passband.tasks.inspect;"
        "sys.exit('inspect_ai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
