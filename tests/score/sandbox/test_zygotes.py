"""Verdicts, ended programs and commands; a sandbox that fails is never a verdict."""

import os
import signal
import threading
from dataclasses import replace

import pytest

from passband.errors import InvalidInput
from passband.score.sandbox.find import unconfined
from passband.score.sandbox.protocol import (
    CommandJob,
    Limits,
    NeedsSameInterpreter,
    SandboxFailed,
    UnitTests,
)
from passband.score.sandbox.recipe import ZygoteRecipe
from passband.score.sandbox.zygotes import Zygotes
from support.sandboxes.sandboxes import AMPLE, SQUARE, square

pytestmark = pytest.mark.process
BOTH = pytest.mark.parametrize("mode", ["split", "same"])


@BOTH
@pytest.mark.parametrize(
    ("program", "status", "detail"),
    [
        (SQUARE, "passed", None),
        ("def square(x):\n    return 4", "failed", "line 3: assert candidate(3) == 9"),
        ("def square(x)\n    return 4", "did_not_compile", "SyntaxError"),
        ("def square(x):\n    return x\0", "did_not_compile", "null bytes"),
        ("square = 1 / 0", "failed", "line 1: ZeroDivisionError"),
        ("import sys\nsys.exit(0)", "failed", "SystemExit"),
        ("import os\ndef square(x):\n    os._exit(0)", "crashed", "ended with status 0"),
        ("other = 1", "failed", "defines no square"),
        ("def square(x):\n    raise KeyError('lost')", "failed", "KeyError"),
        ("\ud800", "did_not_compile", "surrogates"),
    ],
)
def test_every_way_to_end(
    anywhere: Zygotes, mode: str, program: str, status: str, detail: str | None
) -> None:
    verdict = anywhere.check(square(program, verdict=mode), AMPLE)
    assert verdict.status == status, verdict.detail
    assert (detail is None) == (verdict.detail is None)
    assert detail is None or detail in str(verdict.detail)


def test_a_failure_shows_the_call(anywhere: Zygotes) -> None:
    verdict = anywhere.check(square("def square(x):\n    return 5"), AMPLE)
    assert verdict.detail == "line 2: assert candidate(2) == 4; square(2) returned 5"


@BOTH
def test_a_crash_names_the_signal(anywhere: Zygotes, mode: str) -> None:
    program = "import ctypes\ndef square(x):\n    ctypes.string_at(0)"
    verdict = anywhere.check(square(program, verdict=mode), AMPLE)
    assert verdict.status == "crashed"
    assert "SIGSEGV" in str(verdict.detail)


def test_time_runs_out(anywhere: Zygotes) -> None:
    waiting = square("import signal\ndef square(x):\n    signal.pause()")
    assert anywhere.check(waiting, Limits(wall=0.3)).status == "timed_out"
    busy = square("def square(x):\n    while True:\n        pass")
    verdict = anywhere.check(busy, Limits(wall=60, cpu=1))
    assert (verdict.status, verdict.detail) == ("timed_out", "took more than 1 s of processor time")
    endless_test = square(test="while True:\n    pass")
    assert anywhere.check(endless_test, Limits(wall=0.5, cpu=0.1)).status == "timed_out"
    assert anywhere.check(square(), AMPLE).passed


def test_tests_without_a_check_function(anywhere: Zygotes) -> None:
    """As MBPP has them: assertions that name the function."""
    tests = UnitTests("def check(x):\n    return -x", "assert check(2) == -2", "check")
    assert anywhere.check(tests, AMPLE).passed
    assert not anywhere.check(replace(tests, test="assert check(2) == 2"), AMPLE).passed


def test_helpers_come_from_the_prompt(anywhere: Zygotes) -> None:
    prompt = "def double(x):\n    return 2 * x\n\ndef square(x):\n    '''Square.'''\n"
    test = "def check(candidate):\n    assert candidate(double(1)) == 4\n"
    assert anywhere.check(square(test=test, prompt=prompt), AMPLE).passed


def test_arguments_that_the_program_changes(anywhere: Zygotes) -> None:
    program = "def square(x):\n    x[:] = [n * n for n in x]\n    x.append({'of': (1, 2)})"
    test = "numbers = [2, 3]\nassert square(numbers) is None\n"
    test += "assert numbers == [4, 9, {'of': (1, 2)}], numbers"
    assert anywhere.check(square(program, test), AMPLE).passed


@pytest.mark.parametrize(
    ("program", "test"),
    [
        (
            "def square(x):\n    x.sort()\n    return x",
            "a = [2, 1]\nassert square(a) is a == [1, 2]",
        ),
        ("def square(x):\n    return sorted(x)", "a = [1, 2]\nassert square(a) is not a"),
        ("def square(x):\n    x.append(1)", "a = []\nsquare(x=a)\nassert a == [1]"),
        ("def square(x, y):\n    x.append(1)", "a = []\nsquare(a, a)\nassert a == [1]"),
    ],
)
def test_which_object_a_result_is(anywhere: Zygotes, program: str, test: str) -> None:
    assert anywhere.check(square(program, test), AMPLE).passed
    other = "a = [1, 2]\nassert square(a) is not a"
    in_place = square("def square(x):\n    x.sort()\n    return x", other)
    assert anywhere.check(in_place, AMPLE).status == "failed"


def test_calls_from_several_threads(anywhere: Zygotes) -> None:
    test = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as threads:\n"
        "    assert list(threads.map(square, range(40))) == [n * n for n in range(40)]"
    )
    assert anywhere.check(square(test=test), AMPLE).passed


@pytest.mark.parametrize("kind", ["Exception", "Own", "ZeroDivisionError"])
def test_the_text_of_an_exception(anywhere: Zygotes, kind: str) -> None:
    program = f"class Own(Exception):\n    pass\ndef square(x):\n    raise {kind}('negative')"
    test = "try:\n    square(-1)\nexcept Exception as error:\n    assert str(error) == 'negative'\n"
    assert anywhere.check(square(program, test + "else:\n    assert False"), AMPLE).passed
    decoding = "def square(x):\n    return b'\\xff'.decode()"
    test = "try:\n    square(1)\nexcept UnicodeError:\n    pass"
    assert anywhere.check(square(decoding, test), AMPLE).passed


@BOTH
@pytest.mark.parametrize("kind", ["StopIteration", "StopAsyncIteration", "Own"])
@pytest.mark.parametrize(
    "test",
    [
        "assert all(map(lambda x: candidate(x) == x * x, [2, 3]))",
        "for got, want in zip(map(candidate, [2, 3]), [4, 9]):\n    assert got == want",
        "assert list(map(candidate, [])) == []\nassert candidate(2) == 4",
    ],
)
def test_no_exception_of_a_program_ends_a_loop_of_its_tests(
    anywhere: Zygotes, mode: str, kind: str, test: str
) -> None:
    program = f"class Own(StopIteration):\n    pass\ndef square(x):\n    raise {kind}(4)"
    verdict = anywhere.check(square(program, test, verdict=mode), AMPLE)
    name = kind if kind.startswith("Stop") or mode == "same" else "StopIteration"
    assert verdict.status == "failed"
    assert f"RuntimeError: the program raised {name}" in str(verdict.detail)
    right = anywhere.check(square(test=test, verdict=mode), AMPLE)
    assert right.passed, right.detail


def test_exceptions_that_tests_expect(anywhere: Zygotes) -> None:
    program = "class Own(ValueError):\n    pass\ndef square(x):\n    raise Own('negative')"
    test = (
        "try:\n    square(-1)\nexcept ValueError as error:\n    assert str(error) == 'negative'\n"
    )
    assert anywhere.check(square(program, test + "else:\n    assert False"), AMPLE).passed


def test_tests_that_are_none(anywhere: Zygotes) -> None:
    with pytest.raises(InvalidInput, match="the test does not compile"):
        anywhere.check(square(test="assert ("), AMPLE)
    with pytest.raises(InvalidInput, match="the prompt does not run"):
        anywhere.check(square(prompt="Write a function."), AMPLE)
    with pytest.raises(NeedsSameInterpreter, match="function"):
        anywhere.check(square(test="try:\n    square(lambda: 1)\nexcept Exception: pass"), AMPLE)
    same = square("def square(f):\n    return f()", "assert square(lambda: 1) == 1", verdict="same")
    assert anywhere.check(same, AMPLE).passed


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("import no_such_module\nassert square(2) == 4", "No module named 'no_such_module'"),
        ("def check(candidate):\n    assert candidate(helper(2)) == 4", "name 'helper'"),
        ("def check(candidate):\n    pass", "never calls the program"),
    ],
)
def test_a_test_at_fault_is_no_verdict(anywhere: Zygotes, test: str, said: str) -> None:
    """No program could have done anything about it."""
    with pytest.raises(InvalidInput, match=said):
        anywhere.check(square(test=test), AMPLE)
    raising = square("def square(x):\n    import no_such_module")
    assert anywhere.check(raising, AMPLE).status == "failed"


def test_programs_with_input_and_output(anywhere: Zygotes) -> None:
    program = "import sys\nfor line in sys.stdin:\n    print(int(line) ** 2)\nprint('é', end='')\n"
    finished = anywhere.run_program(program + "sys.exit(3)", "2\n3\n", AMPLE)
    assert (finished.exit, finished.stdout, finished.stderr) == (3, "4\n9\né", "")
    assert not finished.timed_out
    assert finished.memory > 1 << 20
    main = "if __name__ == '__main__':\n    import atexit\n    atexit.register(print, 'last')"
    assert anywhere.run_program(main, "", AMPLE).stdout == "last\n"
    failed = anywhere.run_program("print('out')\n1 / 0", "", AMPLE)
    assert (failed.exit, failed.stdout) == (1, "out\n")
    assert failed.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert not anywhere.run_program("print(", "", AMPLE).compiled
    assert anywhere.run_program("import sys\nsys.exit(254)", "", AMPLE).compiled


def test_output_is_cut(anywhere: Zygotes) -> None:
    limits = replace(AMPLE, output=10)
    finished = anywhere.run_program("print('x' * 1_000_000)", "", limits)
    assert (finished.exit, finished.stdout, finished.is_cut) == (0, "x" * 10, True)


def test_commands(anywhere: Zygotes) -> None:
    files = {"sub/check.sh": b'cat\necho " $1"\nls sub\nexit 4', "data.bin": b"\xff"}
    finished = anywhere.run(CommandJob(("sh", "sub/check.sh", "word"), files, "read", AMPLE))
    assert (finished.exit, finished.stdout) == (4, "read word\ncheck.sh\n")
    killed = anywhere.run(CommandJob(("sh", "-c", "kill -9 $$"), limits=AMPLE))
    assert killed.exit == 128 + signal.SIGKILL
    missing = anywhere.run(CommandJob(("no-such-program",), limits=AMPLE))
    assert (missing.exit, missing.stderr) == (127, "no-such-program: No such file or directory")


def test_hash_seeds(anywhere: Zygotes) -> None:
    program = "print(hash('text'))"
    first, again, other = (
        anywhere.run_program(program, "", AMPLE, seed).stdout for seed in (0, 0, 1)
    )
    assert first == again != other


def test_trials_from_many_threads() -> None:
    sandbox = unconfined(size=2)
    verdicts = {}

    def check(number: int) -> None:
        program = f"def square(x):\n    return {number}"
        test = f"assert square(1) == {number}"
        verdicts[number] = sandbox.check(square(program, test), AMPLE).passed

    threads = [threading.Thread(target=check, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == dict.fromkeys(range(12), True)
    assert sandbox.pool.started <= 2
    sandbox.close()


# -- sandboxes that fail ---------------------------------------------------------------------


def test_a_zygote_that_is_killed_is_replaced(confined: Zygotes) -> None:
    confined.facts()
    ((_, worker),) = confined.pool._idle
    os.kill(worker._process.pid, signal.SIGKILL)
    started = confined.pool.started
    assert confined.check(square(), AMPLE).passed
    assert confined.pool.started == started + 1


def test_a_sandbox_that_does_not_start_is_no_verdict() -> None:
    sandbox = Zygotes("broken", lambda seed: ZygoteRecipe(("/bin/false",)))
    with pytest.raises(SandboxFailed, match="failed 3 times"):
        sandbox.check(square(), AMPLE)
    assert sandbox.pool.started == 3
    with pytest.raises(SandboxFailed, match="does not start"):
        _ = sandbox.identity
    sandbox.close()


def test_a_sandbox_that_vanishes_in_the_middle_is_no_verdict() -> None:
    good = unconfined(size=1)
    recipes = [good.pool._recipe(0), *[ZygoteRecipe(("/nowhere/bwrap",))] * 3]
    sandbox = Zygotes("vanishing", lambda seed: recipes.pop(0), size=1)
    assert sandbox.check(square(), AMPLE).passed
    ((_, worker),) = sandbox.pool._idle
    os.kill(worker._process.pid, signal.SIGKILL)
    with pytest.raises(SandboxFailed, match="No such file"):
        sandbox.check(square(), AMPLE)
    sandbox.close()
    good.close()


def test_words_of_a_sandbox_that_does_not_start() -> None:
    recipe = ZygoteRecipe(("/bin/sh", "-c", "echo bwrap: no permission >&2; echo more >&2; exit 1"))
    sandbox = Zygotes("broken", lambda seed: recipe)
    with pytest.raises(SandboxFailed, match="does not start: bwrap: no permission"):
        sandbox.facts()
    sandbox.close()
