"""Score by a command: a program in the sandbox reads a trial as JSON and writes its score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from passband.errors import InvalidInput, PassbandError, describe
from passband.score.command_files import check_files, file_bytes
from passband.score.extract.rules import Extracted
from passband.score.filtering import INVALID, FilterStep, apply_steps
from passband.score.sandbox.protocol import CommandJob, Limits, ProgramExit, is_number
from passband.score.sandboxed import SandboxedScorer
from passband.score.scorer import Options, Reference, Score, ScoredTrial

_MEGABYTE = 1 << 20
_SHOWN = 160  # characters of a reply or an error


class CommandScorer(SandboxedScorer):
    """Asks a command for every score; see `passband.score.builtin.made`."""

    takes_trial = True
    function = "command"

    def __init__(self, name: str, options: Options, steps: Sequence[FilterStep] = ()) -> None:
        self._command = _words(options.get("command"))
        self._files = check_files(options.get("files") or {})
        self._limits = _limits(options.get("timeout", 10.0), options.get("memory", 4096))
        super().__init__(name, options, steps)

    def score(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one answer; a command that fails is an error, and never a 0."""
        answer = rule = None
        try:
            answer, rule = self._extracted(text, reference)
            if answer is None:
                return Score(0.0, "no_answer", None, rule)
            finished = self._ran(request(answer, reference, trial or ScoredTrial(text)))
            if finished.timed_out:
                detail = f"the command took longer than {self._limits.cpu:g} s"
                return Score(None, "timeout", answer, rule, detail)
            value, detail_of_reply = read_reply(finished)
        except PassbandError as error:
            return Score(None, "error", answer, rule, describe(error))
        return Score(value, "ok", answer, rule, detail_of_reply)

    def _extracted(self, text: str | None, reference: Reference) -> Extracted:
        answer, rule = apply_steps(self._steps, text, reference)
        is_none = answer is None or not answer.strip() or answer.casefold() == INVALID
        return Extracted(None if is_none else answer, rule)

    def _ran(self, stdin: str) -> ProgramExit:
        files = {name: file_bytes(content) for name, content in self._files.items()}
        return self.sandbox.run(CommandJob(self._command, files, stdin, self._limits))

    def _identity_options(self) -> Options:
        digests = {
            name: hashlib.sha256(file_bytes(content)).hexdigest()
            for name, content in self._files.items()
        }
        return {**self._options, "files": digests}


def request(answer: str, reference: Reference, trial: ScoredTrial) -> str:
    """Return the input of the command: one JSON object."""
    return json.dumps(
        {
            "answer": answer,
            "targets": list(reference.targets),
            "choices": list(reference.choices),
            "doc": dict(reference.doc),
            "text": trial.text,
            "reasoning": trial.reasoning,
            "status": trial.status,
        },
        default=str,
    )


def read_reply(finished: ProgramExit) -> tuple[float, str | None]:
    """Return the score and the detail that a command wrote; raise if they are invalid.

    >>> read_reply(ProgramExit(0, stdout='{"score": true, "detail": "as expected"}'))
    (1.0, 'as expected')
    """
    if finished.exit != 0:
        last = finished.stderr.strip().splitlines()[-1:] or ["it wrote no error"]
        how = f"status {finished.exit}" if finished.exit > 0 else f"signal {-finished.exit}"
        raise InvalidInput(f"the command ended with {how}: {last[0][:_SHOWN]}")
    if finished.is_cut:
        raise InvalidInput("the command wrote more than is read")
    try:
        reply = json.loads(finished.stdout)
    except (ValueError, RecursionError):
        reply = None
    score = reply.get("score") if isinstance(reply, dict) else None
    if not (isinstance(score, (bool, int, float)) and 0 <= score <= 1):  # which no NaN is
        shown = finished.stdout.strip()[:_SHOWN] or "nothing"
        raise InvalidInput(f'the command must write {{"score": a number from 0 to 1}}; got {shown}')
    detail = reply.get("detail")
    return float(score), None if detail is None else str(detail)[:1000]


def _words(command: object) -> tuple[str, ...]:
    words = tuple(command) if isinstance(command, (list, tuple)) else ()
    if not words or not all(isinstance(word, str) and word for word in words):
        raise InvalidInput(
            f"command must be a list of words, such as [python3, check.py]; got {command!r:.80}."
        )
    return words


def _limits(timeout: object, memory: object) -> Limits:
    """Return limits that interpreters and virtual machines of other languages get along with."""
    seconds, megabytes = _positive("timeout", timeout, 3600), _positive("memory", memory, 1 << 20)
    return Limits(
        wall=2 * seconds, cpu=seconds, memory=int(megabytes * _MEGABYTE), disk=64 * _MEGABYTE,
        processes=64, files=256,
    )  # fmt: skip


def _positive(name: str, value: object, most: int) -> float:
    if not (is_number(value) and 0 < value <= most):
        raise InvalidInput(f"{name} must be a number above 0, at most {most}; got {value!r}.")
    return value
