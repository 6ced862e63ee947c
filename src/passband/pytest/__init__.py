"""Assertions on the success rate of stochastic code, with three outcomes: pass, fail, undecided.

>>> from passband.pytest import assert_pass_rate
>>> result = assert_pass_rate(lambda: True, at_least=0.9)
>>> result.verdict, result.trials
('pass', 47)

`passband.pytest.plugin` is the plug-in of pytest; nothing of passband is loaded before an assertion
is used. docs/pytest.md has the whole.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
