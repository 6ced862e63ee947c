"""A Python function as a model: what it is given, what it may return, how it may fail."""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.generate.function import Function, function_named
from passband.generate.provider import (
    Completion,
    Crashed,
    InvalidReply,
    Message,
    Request,
    Sampling,
    TimedOut,
)
from support.runs.commands import finish

ASKED = Request(
    (Message("system", "Be short."), Message("user", "Hi")),
    Sampling(temperature=0.5, max_tokens=9, stop=("\n",), extra={"min_p": 0.1}),
    (7,),
)


def called(function: Callable[..., Any], **options: Any) -> Completion:
    async def ask() -> Completion:
        model = Function(function, **options)
        try:
            (found,) = await model.generate(ASKED)
            return found
        finally:
            await model.close()

    return asyncio.run(ask())


def seen(function: Callable[..., Any]) -> Any:
    """What a function that says what it was given says."""
    return eval(called(function).text or "")


# --- what it is given ------------------------------------------------------------------------


def test_a_function_gets_what_it_has_parameters_for() -> None:
    assert called(lambda prompt: prompt.upper()).text == "BE SHORT.\n\nHI"
    assert seen(lambda prompt, seed, temperature: repr((seed, temperature))) == (7, 0.5)
    assert seen(lambda prompt, *, stop, min_p: repr((stop, min_p))) == (["\n"], 0.1)
    assert seen(lambda prompt, *rest: repr(rest)) == ()


def test_a_function_that_takes_anything_gets_everything() -> None:
    found = seen(lambda prompt, **rest: repr(rest))
    assert set(found) == {
        "messages", "temperature", "top_p", "max_tokens", "stop", "seed", "min_p",
    }  # fmt: skip
    assert found["messages"][0] == {"role": "system", "content": "Be short."}


def test_a_built_in_function_gets_the_prompt_alone() -> None:
    assert called(str).text == "Be short.\n\nHi"


def test_async_functions_and_objects_are_awaited() -> None:
    async def answer(prompt: str, seed: int) -> str:
        await asyncio.sleep(0)
        return f"{seed}"

    class Model:
        async def __call__(self, prompt: str) -> str:
            return "object"

    def later(prompt: str) -> Awaitable[str]:
        return answer(prompt, 8)

    assert called(answer).text == "7"
    assert called(Model()).text == "object"
    assert called(later).text == "8"


def test_plain_functions_do_not_hold_each_other_up() -> None:
    together = threading.Barrier(4, timeout=30)

    def answer(prompt: str) -> str:
        together.wait()
        return "here"

    async def ask() -> list[Any]:
        model = Function(answer, threads=4)
        return await asyncio.gather(*(model.generate(ASKED) for _ in range(4)))

    assert len(asyncio.run(ask())) == 4


def test_no_more_threads_run_than_allowed_and_all_calls_are_made() -> None:
    running, most, lock = 0, 0, threading.Lock()
    three = threading.Barrier(3)  # none goes on before three run at once

    def answer(prompt: str) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        three.wait(30)
        with lock:
            running -= 1
        return "here"

    async def ask() -> list[Any]:
        model = Function(answer, threads=3)
        try:
            return await asyncio.gather(*(model.generate(ASKED) for _ in range(42)))
        finally:
            await model.close()

    assert len(asyncio.run(ask())) == 42
    assert most == 3


# --- what it may return ----------------------------------------------------------------------


def test_a_forgotten_return_is_no_answer() -> None:
    with pytest.raises(InvalidReply, match="returned nothing, not text"):
        called(lambda prompt: None)
    assert called(lambda prompt: Completion(None)).text is None


def test_a_completion_is_taken_as_it_is() -> None:
    given = Completion("4", "length", completion_tokens=3)
    assert called(lambda prompt: given) is given


@pytest.mark.parametrize("answer", [4, b"4", ["4"], object()])
def test_anything_else_is_no_answer(answer: Any) -> None:
    with pytest.raises(InvalidReply, match=type(answer).__name__):
        called(lambda prompt: answer)


# --- how it may fail -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ValueError("half \ud800"), StopIteration("over"), SystemExit(3), KeyError("x")]
)
def test_an_error_is_one_failed_attempt(error: BaseException) -> None:
    def answer(prompt: str) -> str:
        raise error

    with pytest.raises(Crashed, match=type(error).__name__):
        called(answer, timeout=30)


def test_the_key_is_taken_out_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    def answer(prompt: str) -> str:
        raise PermissionError("Incorrect API key provided: sk-secret.")

    with pytest.raises(Crashed, match=r"provided: \[redacted\]\.") as caught:
        called(answer)
    assert "sk-secret" not in str(caught.value)


def test_an_error_of_an_async_function_too() -> None:
    async def answer(prompt: str) -> str:
        raise ValueError("no")

    with pytest.raises(Crashed, match="ValueError: no"):
        called(answer)


def test_a_function_that_takes_too_long_times_out() -> None:
    async def answer(prompt: str) -> str:
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(TimedOut, match=r"0\.01 s"):
        called(answer, timeout=0.01)


def test_a_function_that_never_returns_does_not_hold_the_program(tmp_path: Path) -> None:
    program = tmp_path / "stuck.py"
    program.write_text(
        "import asyncio, threading\n"
        "from passband.generate.function import Function\n"
        "from passband.generate.provider import *\n"
        "async def ask():\n"
        "    model = Function(lambda prompt: threading.Event().wait(), timeout=0.01)\n"
        "    try:\n"
        "        await model.generate(Request((Message('user', 'Hi'),), Sampling()))\n"
        "    except TimedOut:\n"
        "        print('timed out')\n"
        "    await model.close()\n"
        "asyncio.run(ask())\n"
    )
    import subprocess

    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "timed out\n")
    assert done.stderr.count("is late, and cannot be stopped") == 1


# --- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", ":", "json", ":loads", "json:"])
def test_a_name_has_two_parts(name: str) -> None:
    with pytest.raises(InvalidInput, match="python:module:function"):
        function_named(name)


def test_names_that_are_not_there() -> None:
    with pytest.raises(InvalidInput, match="No module named 'no_such_module'"):
        function_named("no_such_module:f")
    with pytest.raises(InvalidInput, match="Did you mean 'load'"):
        function_named("json:load5")
    with pytest.raises(InvalidInput, match="has no function"):
        function_named("json:__doc__")
    with pytest.raises(InvalidInput, match=r"os has no function named 'O_TRUNK'.$"):
        function_named("os:O_TRUNK")  # O_TRUNC is a number


@pytest.mark.process
def test_a_module_here_is_found(tmp_path: Path) -> None:
    (tmp_path / "sums.yaml").write_text(
        "task: sums\ndataset_path: json\ndataset_kwargs: {data_files: rows.jsonl}\n"
        'doc_to_text: "{{ q }}"\ndoc_to_target: a\nmetric_list: [{metric: exact_match}]\n'
    )
    (tmp_path / "rows.jsonl").write_text('{"q": "2+2", "a": "4"}\n')
    (tmp_path / "mine.py").write_text("def four(prompt):\n    return '4'\n")
    words = ["run", "sums.yaml", "--model", "python:mine:four", "-n", 1, "--out", "here", "-q"]
    done = inside(tmp_path, *words)
    assert done.code == 0, done.err
    assert "1" in done.out


def inside(folder: Path, *words: object) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2] / "src"))
        return finish(*words)
