"""Three plug-ins that pip installs into a fresh environment, used by name from its command line."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import passband
from support.sandboxes.wheels import write_wheel

pytestmark = pytest.mark.process

METRIC = """
    import passband

    @passband.register_metric("two-of", summary="at least two of k succeed")
    def two_of(k):
        return [successes >= 2 for successes in range(k + 1)]
"""
SCORER = """
    import os
    import passband

    print(os.getpid(), file=open("imported.txt", "a"))

    @passband.register_scorer("digits", bounds=(0, 1))
    def digits(answer, target):
        return sum(a == b for a, b in zip(answer, target)) / len(target)
"""
READER = """
    import passband
    from passband.readers import Group, Groups

    @passband.register_reader("acme")
    class AcmeLog:
        def sniff(self, path):
            return path.suffix == ".acme"

        def read(self, path, options):
            rows = dict(line.split() for line in path.read_text().splitlines())
            scores = [[int(score) for score in row] for row in rows.values()]
            outcomes = passband.Outcomes.from_array(scores, problems=list(rows))
            return Groups(str(path), by=(), groups=(Group((), outcomes),))
"""
BROKEN = "import a_package_that_is_not_there"
TRIALS = "problem,trial,score\na,0,1\na,1,1\nb,0,0\nb,1,1\n"
TASK = """\
task: sums
dataset_path: rows.csv
doc_to_text: "{{ question }}="
doc_to_target: answer
repeats: 2
filter_list: [{name: slow, filter: [{function: regex, regex_pattern: "((?:[0-9]+)+)$"}]}]
metric_list: [{metric: digits, repeat_aggregation: mean}]
"""


class Environment:
    """A virtual environment with passband in it, and the folder in which its commands run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "env" / "bin" / "python"
        venv.create(folder / "env", symlinks=True)
        # passband and its dependencies are those of the tests; only plug-ins are installed here.
        here = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        paths = [str(Path(passband.__file__).parents[1]), *here]
        (own,) = (folder / "env" / "lib").glob("python*/site-packages")
        (own / "tests.pth").write_text("".join(f"{path}\n" for path in paths))

    def pip(self, *arguments: object) -> None:
        """Run the pip of the tests on this environment."""
        options = ["--python", str(self.python), "--disable-pip-version-check"]
        command = [sys.executable, "-m", "pip", *options, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr

    def passband(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command, which sees only what is installed in this environment."""
        hidden = ("PYTHONPATH", "PASSBAND_IMPORT", "PASSBAND_TASKS")
        return subprocess.run(
            [self.python, "-m", "passband", *arguments],
            cwd=self.folder,
            env={name: value for name, value in os.environ.items() if name not in hidden},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
        )


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment with three plug-ins, and one that is broken."""
    folder = tmp_path_factory.mktemp("fresh")
    environment = Environment(folder)
    plugins = {
        "acme_broken": BROKEN,
        "acme_metric": METRIC,
        "acme_scorer": SCORER,
        "acme_reader": READER,
    }
    wheels = [write_wheel(folder, module, source) for module, source in plugins.items()]
    environment.pip("install", "--quiet", "--no-index", "--no-deps", *wheels)
    (folder / "trials.csv").write_text(TRIALS)
    (folder / "log.acme").write_text("p01 11\np02 01\n")
    (folder / "sums.yaml").write_text(TASK)
    (folder / "rows.csv").write_text("question,answer\n1+2,3\n10+20,30\n")
    return environment


def test_a_metric(fresh: Environment) -> None:
    done = fresh.passband("stats", "trials.csv", "-m", "two-of@2", "-q")
    assert done.returncode == 0, done.stderr
    assert "two-of@2  0.50" in done.stdout
    assert done.stderr == (
        "warning: plug-in 'acme_broken' (acme_broken) is not used: "
        "ModuleNotFoundError: No module named 'a_package_that_is_not_there'\n"
    )


def test_a_scorer_in_a_task_file_and_in_score(fresh: Environment) -> None:
    (fresh.folder / "imported.txt").unlink(missing_ok=True)
    done = fresh.passband("run", "sums.yaml", "--model", "tiny", "--out", "sums", "-q")
    assert done.returncode == 0, done.stderr
    assert "digits (mean)" in done.stdout
    # The pattern runs in worker processes, and none of them has loaded a plug-in.
    assert len((fresh.folder / "imported.txt").read_text().split()) == 1
    done = fresh.passband("score", "sums", "--scorer", "digits", "--extract", "last_number")
    assert done.returncode == 0, done.stderr


def test_a_reader(fresh: Environment) -> None:
    done = fresh.passband("stats", "log.acme", "-m", "pass@1", "-q")
    assert done.returncode == 0, done.stderr
    assert "pass@1  0.75" in done.stdout


def test_names_that_passband_has_load_nothing(fresh: Environment) -> None:
    (fresh.folder / "imported.txt").unlink(missing_ok=True)
    done = fresh.passband("validate", "arithmetic")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (fresh.folder / "imported.txt").exists()


def test_all_names_are_listed(fresh: Environment) -> None:
    done = fresh.passband("metrics", "--all")
    assert done.returncode == 0
    assert "two-of@K" in done.stdout
    assert "digits" in done.stdout
    assert "acme" in done.stdout
    done = fresh.passband("stats", "trials.csv", "-m", "unheard-of@2")
    assert done.returncode == 2
    assert "no metric named 'unheard-of@'" in done.stderr
    assert "Plug-ins that could not be imported: acme_broken (ModuleNotFoundError" in done.stderr
