"""The process of the tests: kept while they leave nothing behind."""

import re

import pytest

from passband.score.sandbox.zygotes import Zygotes
from support.sandboxes.sandboxes import AMPLE, square

pytestmark = pytest.mark.process

LEAVING = {
    "a module": "import this",
    "a name in builtins": "import builtins\nbuiltins.left = 1",
    "a patched function": "import math\nmath.floor = round",
    "a variable": "import os\nos.environ['LEFT'] = '1'",
    "a file": "open('left', 'w').close()",
    "a folder": "import os\nos.chdir('/')",
    "a recursion limit": "import sys\nsys.setrecursionlimit(5000)",
    "a seeded generator": "import random\nrandom.seed(1)",
    "a search path": "import sys\nsys.path.append('/left')",
    "a decimal context": "import decimal\ndecimal.getcontext().prec = 3",
    "a signal handler": "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)",
}
CALL = "square(2)\n"  # without which it would be no test
LOOK = CALL + (
    "import builtins, decimal, math, os, signal, sys\n"
    "assert not hasattr(builtins, 'left') and math.floor(1.9) == 1 and 'LEFT' not in os.environ\n"
    "assert not os.path.exists('left') and sys.getrecursionlimit() < 5000\n"
    "assert '/left' not in sys.path\n"
    "assert not {'this', 'random'} & set(sys.modules) and decimal.getcontext().prec == 28\n"
    "assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL and os.getcwd() != '/'"
)


@pytest.mark.parametrize("leave", LEAVING.values(), ids=LEAVING.keys())
def test_what_tests_leave_is_gone_for_the_next(anywhere: Zygotes, leave: str) -> None:
    assert anywhere.check(square(test=CALL + leave), AMPLE).passed
    after = anywhere.check(square(test=LOOK), AMPLE)
    assert after.passed, after.detail


def test_the_process_is_kept_while_nothing_is_left(anywhere: Zygotes) -> None:
    """A list that nobody compares counts the trials of the process."""
    test = "import sys\nsys.argv.append('')\nassert square(2) == 5, f'{len(sys.argv)} trials'"
    details = [anywhere.check(square(test=test), AMPLE).detail for _ in range(2)]
    anywhere.check(square(test=CALL + "import this"), AMPLE)
    details.append(anywhere.check(square(test=test), AMPLE).detail)
    counts = [int(re.findall(r"AssertionError: (\d+)", str(detail))[0]) for detail in details]
    assert counts[1] == counts[0] + 1
    assert counts[2] <= counts[0]


def test_tests_that_die_are_replaced(anywhere: Zygotes) -> None:
    verdict = anywhere.check(square(test="import os\nos._exit(3)"), AMPLE)
    assert (verdict.status, verdict.detail) == ("crashed", "the tests ended with status 3")
    assert anywhere.check(square(), AMPLE).passed
