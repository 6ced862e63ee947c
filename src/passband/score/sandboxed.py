"""The base of scorers that run programs in a sandbox."""

from __future__ import annotations

import json
from collections.abc import Sequence

from passband.score.filtering import FilterStep
from passband.score.sandbox.find import find_sandbox
from passband.score.sandbox.protocol import Sandbox
from passband.score.scorer import Options, Scorer


class SandboxedScorer(Scorer):
    """A scorer of 0 to 1 whose verdicts come out of a sandbox.

    The sandbox is no part of its identity: it is recorded with the run. Unless it is given one, the
    scorer looks for one, and never for one that isolates nothing.
    """

    slow = True
    needs_sandbox = True
    function: str  # that it is registered as
    version = 1  # goes up when an answer may get another score

    def __init__(self, name: str, options: Options, steps: Sequence[FilterStep] = ()) -> None:
        self.name = name
        self._options, self._steps = dict(options), tuple(steps)
        self._sandbox: Sandbox | None = None
        self.identity = self._identity()

    @property
    def spec(self) -> Options | None:
        """The arguments of `make_scorer` for this scorer; None if it has a task's own code."""
        steps = [step.spec for step in self._steps]
        if None in steps:
            return None
        return {
            "name": self.name,
            "function": self.function,
            "options": self._options,
            "steps": steps,
            "bounds": [0.0, 1.0],
        }

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox that everything runs in; raises `InvalidInput` where none holds."""
        if self._sandbox is None:
            self._sandbox = find_sandbox()
        return self._sandbox

    def use_sandbox(self, sandbox: Sandbox) -> None:
        """Run everything in this sandbox from now on."""
        self._sandbox = sandbox

    def prepare(self) -> None:
        """Find a sandbox; raise `InvalidInput` where none holds."""
        _ = self.sandbox

    def close(self) -> None:
        """End the processes that wait for work; they start again when needed."""
        if self._sandbox is not None:
            self._sandbox.close()

    def _identity(self) -> str:
        parts = {
            "passband": self.version,
            "steps": [step.identity for step in self._steps],
            "function": self.function,
            "options": self._identity_options(),
        }
        return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def _identity_options(self) -> Options:
        return self._options
