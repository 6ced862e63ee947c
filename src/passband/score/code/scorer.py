"""Score programs: 1 if the program in an answer passes the tests of its problem, else 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from passband.errors import PassbandError, describe
from passband.score.code.check import Rules, check_program, rules_of
from passband.score.code.outcome import detail_of
from passband.score.code.problem_tests import FunctionTests, Tests, read_tests, solution_of
from passband.score.code.program import find_program, header_of
from passband.score.extract.rules import Extracted
from passband.score.filtering import FilterStep, apply_steps
from passband.score.sandbox.protocol import ProgramVerdict
from passband.score.sandboxed import SandboxedScorer
from passband.score.scorer import Options, Reference, Score, ScoredTrial
from passband.score.workers.worker_pool import pool

_SECONDS = 10.0  # to read one test


class CodeScorer(SandboxedScorer):
    """Runs programs in a sandbox; see `passband.score.builtin.made`."""

    function = "code"
    runs_tests = True

    def __init__(self, name: str, options: Options, steps: Sequence[FilterStep] = ()) -> None:
        super().__init__(name, options, steps)
        self._rules = rules_of(**options)

    def score(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one answer; a sandbox or tests that failed are an error and never a 0."""
        return self._scored(text, reference, self._rules, 0)

    def score_again(
        self, text: str | None, reference: Reference, *, hash_seed: int, times: float = 1.0
    ) -> Score:
        """Score an answer once more, under another hash seed, perhaps with more time.

        A program that passes only beyond the limits of the first time has not passed.
        """
        limits = self._rules.limits
        longer = replace(limits, wall=limits.wall * times, cpu=limits.cpu * times)
        return self._scored(text, reference, replace(self._rules, limits=longer), hash_seed)

    def fault_of(self, reference: Reference) -> str | None:
        """Return why the tests of a problem can score nothing; None if they look right."""
        try:
            tests = read_tests(reference.doc)
            if isinstance(tests, FunctionTests):
                return _test_fault(tests)
        except PassbandError as error:
            return str(error)
        return None

    def solution_fault(self, reference: Reference) -> str | None:
        """Return how the reference solution fails its own tests; None if it passes, or is not."""
        tests = read_tests(reference.doc)
        solution = solution_of(reference.doc, tests)
        if solution is None:
            return None
        try:
            verdict = check_program(self.sandbox, solution, tests, self._rules)
        except PassbandError as error:
            return describe(error)
        return detail_of(verdict.status, verdict.detail)

    def close(self) -> None:
        """End the processes that wait for work; they start again when needed."""
        super().close()
        pool.close()

    def _scored(
        self, text: str | None, reference: Reference, rules: Rules, hash_seed: int
    ) -> Score:
        program = rule = None
        try:
            tests = read_tests(reference.doc)
            program, rule = self._program(text, reference, tests)
            if program is None:
                return Score(0.0, "no_answer", None, rule)
            verdict = check_program(self.sandbox, program, tests, rules, hash_seed)
        except PassbandError as error:
            return Score(None, "error", program, rule, describe(error))
        return self._score(verdict, program, rule)

    def _score(self, verdict: ProgramVerdict, program: str, rule: str | None) -> Score:
        limits = self._rules.limits
        if not verdict.passed:
            return Score(0.0, "ok", program, rule, detail_of(verdict.status, verdict.detail))
        if verdict.seconds > limits.wall or verdict.cpu_seconds > limits.cpu + 1:
            late = f"passed after {verdict.seconds:.3g} s, beyond its time"
            return Score(0.0, "ok", program, rule, detail_of("timed_out", late))
        return Score(1.0, "ok", program, rule)

    def _program(self, text: str | None, reference: Reference, tests: Tests) -> Extracted:
        text = apply_steps(self._steps, text, reference).answer
        if text is None or not text.strip():
            return Extracted(None, None)
        return find_program(text, tests.prompt, tests.entry_point)


def _test_fault(tests: FunctionTests) -> str | None:
    """Return the fault of a test that shows without running it, if there is one."""
    texts = {"test": tests.test, "prompt": header_of(tests.prompt, tests.entry_point)}
    for name, text in texts.items():
        if (fault := _fault(text)) is not None:
            return f"its {name} is no Python: {fault}."
    if not _uses(tests.test, tests.entry_point):
        return f"its test never calls {tests.entry_point}, so that every program would pass."
    return None


@lru_cache(maxsize=4096)
def _fault(text: str) -> str | None:
    """Return why a text is no Python, found in a process that can be killed."""
    fault: str | None = pool.call("fault", [text], seconds=_SECONDS)
    return fault


@lru_cache(maxsize=4096)
def _uses(test: str, name: str) -> bool:
    return bool(pool.call("uses", [test, name], seconds=_SECONDS))
