"""Assertions on the success rate of stochastic code, with three outcomes: pass, fail, undecided.

>>> from passband.pytest import assert_pass_rate
>>> result = assert_pass_rate(lambda: True, at_least=0.9)
>>> result.verdict, result.trials
('pass', 47)

`passband.pytest.plugin` is the plug-in of pytest; nothing of passband is loaded before an assertion
is used. docs/pytest.md has the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passband.pytest.check import assert_no_worse, assert_pass_rate
    from passband.pytest.result import RateResult
    from passband.pytest.trial import Trial

__all__ = ["RateResult", "Trial", "assert_no_worse", "assert_pass_rate"]

_HOMES = {
    "RateResult": "passband.pytest.result",
    "Trial": "passband.pytest.trial",
    "assert_no_worse": "passband.pytest.check",
    "assert_pass_rate": "passband.pytest.check",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'passband.pytest' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
