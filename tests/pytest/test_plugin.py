"""The plug-in in a session of pytest: marker, fixture, options, the table at the end."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import random, unittest
import pytest
from passband.pytest import assert_pass_rate

@pytest.mark.pass_rate(at_least=0.8)
def test_good(trial, tmp_path):
    assert random.Random(trial.seed).random() < 0.99

@pytest.mark.pass_rate(0.8)
async def test_bad(trial):
    assert trial.number % 2

def test_undecided():
    assert_pass_rate([True] * 18 + [False] * 2, at_least=0.7, name="answers")

@pytest.mark.pass_rate(at_leas=0.8)
def test_typo(): ...

class TestOld(unittest.TestCase):
    @pytest.mark.pass_rate(0.8)
    def test_method(self): ...

@pytest.mark.pass_rate(0.8)
def test_error(trial):
    if trial.number == 2:
        raise OSError("no server")
"""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    known = any(one.name == "passband" for one in entry_points(group="pytest11"))
    plugin = [] if known else ["-p", "passband.pytest.plugin"]
    return pytester.runpytest_inprocess(*plugin, "-p", "no:randomly", *arguments)


def test_three_outcomes_and_a_table(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_rates=TESTS)
    result = run(pytester, "-rs")
    result.assert_outcomes(passed=1, failed=4, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*marker pass_rate: got an unexpected keyword argument 'at_leas'",
            "*marker pass_rate: it repeats plain test functions*",
            "E * in trial 2 (seed *",
            "*= pass rates =*",
            "test  *verdict  *wanted  *value  *95% interval  *trials",
            "test_rates.py::test_bad * fail * >= 0.8 *",
            "test_rates.py::test_good * pass * >= 0.8 *",
            "test_rates.py::test_undecided answers * undecided * >= 0.7 *",
            "SKIPPED *undecided whether answers is at least 0.7: *",
        ]
    )


def test_undecided_may_fail_and_seeds_may_change(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_rates="""
        import pytest
        from passband.pytest import assert_pass_rate

        def test_undecided():
            assert_pass_rate([True] * 18 + [False] * 2, at_least=0.7)

        def test_seed(trial):
            with open("seeds", "a") as file:
                file.write(f"{trial.seed} ")
        """
    )
    pytester.makeini("[pytest]\npassband_undecided = fail")
    run(pytester).assert_outcomes(passed=1, failed=1)
    result = run(pytester, "--passband-undecided=xfail", "--passband-seed=1")
    result.assert_outcomes(passed=1, xfailed=1)
    first, second = (pytester.path / "seeds").read_text().split()
    assert first != second
    pytester.makeini("[pytest]\npassband_undecided = skp")
    assert run(pytester).ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.process
def test_an_unused_plugin_loads_nothing() -> None:
    code = "import passband.pytest.plugin, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("passband")}
    light = {"passband", "passband.door", "passband.version", "passband.display"}
    assert loaded == {*light, "passband.pytest", "passband.pytest.plugin"}
    assert "numpy" not in done.stdout.split()
