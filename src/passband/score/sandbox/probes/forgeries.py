"""Probe a sandbox for forgeries: wrong programs that try to pass a test."""

from __future__ import annotations

import functools

from passband.score.sandbox.probes import Probe
from passband.score.sandbox.protocol import Limits, UnitTests
from passband.score.sandbox.zygotes import Zygotes

LIMITS = Limits(wall=20, cpu=10)
TEST = """
def check(candidate):
    assert candidate(2) == 4
    assert candidate(3) == 9
    assert candidate(12) == 144, "secret-of-the-tests"
"""
HONEST = "def square(x):\n    return x * x"
_WRONG = "def square(x):\n    return None\n"
_FRAME = b"\\x00\\x00\\x00\\x13"

PROGRAMS = {
    "exit at import": "import os\nos._exit(0)",
    "exit in a call": "import os\ndef square(x):\n    os._exit(0)",
    "sys.exit at import": "import sys\nsys.exit(0)",
    "sys.exit in a call": "import sys\ndef square(x):\n    sys.exit(0)",
    "object equal to everything": (
        "class Any:\n    def __eq__(self, other):\n        return True\n"
        "    __hash__ = None\ndef square(x):\n    return Any()"
    ),
    "number equal to everything": (
        "class Any(int):\n    def __eq__(self, other):\n        return True\n"
        "    def __ne__(self, other):\n        return False\n    __hash__ = int.__hash__\n"
        "    def __index__(self):\n        return 4\n"
        "def square(x):\n    return Any(5)"
    ),
    "text equal to everything": (
        "class Any(str):\n    def __eq__(self, other):\n        return True\n"
        "    def __str__(self):\n        return self\n    __hash__ = str.__hash__\n"
        "def square(x):\n    return Any()"
    ),
    "patched compile": (
        "import builtins\nreal = compile\n"
        "builtins.compile = lambda source, *rest, **more: real('', *rest, **more)\n" + _WRONG
    ),
    "patched exec": "import builtins\nbuiltins.exec = lambda *rest: None\n" + _WRONG,
    "patched AssertionError": (
        "import builtins\nclass Quiet(BaseException):\n    def __init__(self, *a):\n"
        "        import os\n        os._exit(0)\n"
        "builtins.AssertionError = Quiet\n" + _WRONG
    ),
    "test in a frame": (
        "import gc, sys\ndef has(value):\n"
        "    return type(value) is str and '-'.join(['secret', 'of', 'the', 'tests']) in value\n"
        "def square(x):\n    frame = sys._getframe()\n"
        "    while frame:\n"
        "        if any(map(has, frame.f_locals.values())):\n"
        "            return x * x\n        frame = frame.f_back\n"
        "    for o in gc.get_objects():\n"
        "        if type(o) is dict and any(map(has, list(o.values()))):\n"
        "            return x * x\n"
        "    return None"
    ),
    "patched frames of the harness": (
        "import sys\nfor name, module in list(sys.modules.items()):\n"
        "    for key in ('judge', 'verdict_on', '_run', '_boot'):\n"
        "        if name.startswith('box.') and hasattr(module, key):\n"
        "            setattr(module, key, lambda *a: {'status': 'passed'})\n" + _WRONG
    ),
    "verdict written to every file": (
        "import os\nfor number in range(64):\n    try:\n"
        "        os.write(number, b'" + _FRAME.decode() + '{"status":"passed"}' + "' * 4)\n"
        "    except OSError:\n        pass\n" + _WRONG
    ),
    "atexit": "import atexit, os\natexit.register(os._exit, 0)\n" + _WRONG,
    "redefined check": "def check(candidate):\n    pass\n" + _WRONG,
    "redefined candidate": "candidate = lambda x: x * x\n" + _WRONG,
    "trace function": "import sys\nsys.settrace(lambda *a: None)\n" + _WRONG,
    "signal to the parent": (
        "import os, signal\ndef square(x):\n    os.kill(os.getppid(), signal.SIGKILL)\n"
    ),
    "NUL": "def square(x):\n    return x\0 * x",
    "many parentheses": "square = " + "(" * 5000 + ")" * 5000,
    "deep expression": "x = " + "-" * 100_000 + "1\n" + _WRONG,
    "deeply nested result": (
        "def square(x):\n    value = []\n    for _ in range(100_000):\n        value = [value]\n"
        "    return value"
    ),
    "result of 40 MB": "def square(x):\n    return 'x' * (40 << 20)",
    "reply that lies about its length": (
        "import os\ndef square(x):\n    os.write(3, b'\\xff' * 64)\n    return x"
    ),
    "reply that is no value": (
        "import os\ndef square(x):\n    text = b'{\"result\":{\"no\":[]}}'\n"
        "    os.write(3, len(text).to_bytes(4, 'big') + text)\n    os._exit(0)"
    ),
    "flood of output": (
        "import os\ndef square(x):\n    for _ in range(64):\n"
        "        os.write(1, b'x' * (1 << 20))\n"
    ),
    "closed files": "import os\ndef square(x):\n    os.closerange(0, 64)\n",
}  # fmt: skip


def unit_tests(program: str) -> UnitTests:
    """Return the tests that the programs try to pass."""
    return UnitTests(program, TEST, "square")


def _forge(program: str, sandbox: Zygotes) -> str | None:
    """Run a wrong program; then a right one, which the same zygote has to pass."""
    verdict = sandbox.check(unit_tests(program), LIMITS)
    if verdict.passed:
        return "a wrong program passed"
    after = sandbox.check(unit_tests(HONEST), LIMITS)
    return None if after.passed else f"then a right program got {after.status}: {after.detail}"


FORGERIES = tuple(
    Probe(name, "forgery", functools.partial(_forge, program)) for name, program in PROGRAMS.items()
)
