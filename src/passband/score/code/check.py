"""Run a program against its tests in a sandbox, by the options of the scorer `code`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

from passband.errors import InvalidInput
from passband.score.code.output import Comparison, first_difference
from passband.score.code.problem_tests import Case, FunctionTests, ProgramTests, Tests
from passband.score.code.program import SOLUTION, header_of
from passband.score.sandbox.protocol import (
    Limits,
    ProgramExit,
    ProgramVerdict,
    Sandbox,
    UnitTests,
    VerdictMode,
    VerdictStatus,
    is_number,
)

_MARK = "result of the call: "
_CALL = """

import json as _json, sys as _sys
_result = {call}(*_json.loads(_sys.stdin.read()))
print()
print({mark!r} + _json.dumps(_result))
"""


@dataclass(frozen=True)
class Rules:
    """How programs are run and outputs compared: the options of the scorer."""

    limits: Limits
    mode: VerdictMode = "split"
    comparison: Comparison = "lines"
    tolerance: float | None = 0.0


def check_program(
    sandbox: Sandbox, program: str, tests: Tests, rules: Rules, hash_seed: int = 0
) -> ProgramVerdict:
    """Run a program against its tests, up to the first that fails."""
    if isinstance(tests, FunctionTests):
        helpers = header_of(tests.prompt, tests.entry_point)  # which the test may use
        job = UnitTests(program, tests.test, tests.entry_point, helpers, rules.mode)
        return sandbox.check(job, rules.limits, hash_seed)
    source = program if tests.entry_point is None else program + _call(tests)
    worst = ProgramVerdict("passed")
    for number, case in enumerate(tests.cases, 1):
        room = max(rules.limits.output, 2 * len(case.expected.encode("utf-8", "replace")))
        limits = replace(rules.limits, output=room)
        finished = sandbox.run_program(source, case.stdin, limits, hash_seed)
        worst = replace(
            worst,
            seconds=max(worst.seconds, finished.seconds),
            cpu_seconds=max(worst.cpu_seconds, finished.cpu_seconds),
            memory=max(worst.memory, finished.memory),
        )
        for status, reason in _faults(finished, case, tests, rules):
            where = f"test {number} of {len(tests.cases)}"
            return replace(worst, status=status, detail=f"{where}: {reason}")
    return worst


def _call(tests: ProgramTests) -> str:
    """Return the lines that call the function and print its result."""
    is_method = f"class {SOLUTION}" in tests.prompt
    call = f"{SOLUTION}().{tests.entry_point}" if is_method else str(tests.entry_point)
    return _CALL.format(call=call, mark=_MARK)


def _faults(
    finished: ProgramExit, case: Case, tests: ProgramTests, rules: Rules
) -> Iterator[tuple[VerdictStatus, str]]:
    """Yield the faults of an ended program, the gravest first."""
    if not finished.compiled:
        yield "did_not_compile", _last_line(finished.stderr)
    if finished.timed_out:
        yield "timed_out", f"stopped after {finished.seconds:.3g} s"
    if finished.exit < 0:
        yield "crashed", f"ended by signal {-finished.exit}"
    if finished.exit:
        yield "failed", f"exit status {finished.exit}: {_last_line(finished.stderr)}"
    if finished.is_cut:
        yield "failed", "it wrote too much"
    if tests.entry_point is not None:
        difference = _different_result(finished.stdout, case.expected, tests.is_wrapped)
    else:
        difference = first_difference(
            finished.stdout, case.expected, rules.comparison, rules.tolerance
        )
    if difference is not None:
        yield "failed", difference


def _different_result(stdout: str, expected: str, is_wrapped: bool) -> str | None:
    """Return how the result of a call differs from the expected one, both in JSON."""
    _, mark, result = stdout.rpartition(_MARK)
    if not mark:
        return "the call printed no result"
    try:
        value, expected_value = json.loads(result), json.loads(expected)
    except (ValueError, RecursionError):
        return f"the result {result.strip()!r:.120} cannot be compared with {expected!r:.120}"
    if value == expected_value or (is_wrapped and [value] == expected_value):
        return None
    return f"the result is {result.strip():.120}, expected {expected:.120}"


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2][:500]


_MEGABYTE = 1 << 20


def rules_of(
    timeout: float = 3.0,
    memory: float = 1024,
    verdict: str = "split",
    compare: str = "lines",
    tolerance: float | None = 0.0,
) -> Rules:
    """Return how programs are run; raise `InvalidInput` for options that cannot be.

    >>> rules_of(timeout=5).limits.wall
    10.0
    """
    _check_number("timeout", timeout, "seconds of processor time", 0, 3600)
    _check_number("memory", memory, "megabytes", 16, 1 << 20)
    _check_name("verdict", verdict, get_args(VerdictMode))
    _check_name("compare", compare, get_args(Comparison))
    if tolerance is not None and not (is_number(tolerance) and 0 <= tolerance < 1):
        raise InvalidInput(f"tolerance must be a number from 0 to 1, or null; got {tolerance!r}.")
    limits = Limits(wall=2.0 * timeout, cpu=timeout, memory=int(memory * _MEGABYTE))
    return Rules(limits, verdict, compare, tolerance)  # type: ignore[arg-type]  # checked above


def _check_number(name: str, value: object, unit: str, least: float, most: float) -> None:
    if not (is_number(value) and least < value <= most):
        raise InvalidInput(
            f"{name} must be {unit}, above {least} and at most {most}; got {value!r}."
        )


def _check_name(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidInput(f"{name} must be {' or '.join(known)}; got {value!r:.60}.")
