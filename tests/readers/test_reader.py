"""Readers are registered by name, tried before plain tables, and their logs honour options."""

import json
from pathlib import Path

import pytest

from passband import InvalidInput, Outcomes, read, register_reader
from passband.errors import UnknownName
from passband.readers import Group, Groups, Log, Options, Source, readers
from passband.trials.rows import ProblemRow, ScoreRow, TrialRow
from support.runs.commands import run


def log(path: Path, task: str, model: str, wins: list[list[float]]) -> Log:
    problems = [
        ProblemRow(at, f"p{at}", json.dumps({"doc": {"half": at % 2}})) for at in range(len(wins))
    ]
    trials = [
        TrialRow(at, trial, "ok", "text", scores=[ScoreRow(0, value)])
        for at, values in enumerate(wins)
        for trial, value in enumerate(values)
    ]
    return Log(task, model, Source.of("scores", path), problems, trials, ("exact",))


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """A file of a format that only the test knows: scores by task and model."""

    @register_reader("scores")
    class Scores:
        def sniff(self, path: Path) -> bool:
            return path.name.endswith(".scores.json")

        def read(self, path: Path, options: Options) -> list[Log]:
            content = json.loads(path.read_text())
            return [
                log(path, task, model, wins)
                for task, models in content.items()
                for model, wins in models.items()
            ]

    path = tmp_path / "x.scores.json"
    path.write_text(json.dumps({"sums": {"M": [[1, 0], [1, 1]], "N": [[0, 0], [0, 1]]}}))
    yield path
    readers.remove("scores")


def test_a_registered_reader_comes_before_tables(scores: Path) -> None:
    groups = read(scores)
    assert (groups.reader, groups.by) == ("scores", ("model",))
    assert [group.key for group in groups.groups] == [("M",), ("N",)]
    assert groups.groups[0].outcomes.required_successes().tolist() == [1, 2]
    shown = run("stats", scores, "-m", "pass@1", "--format", "csv", "-q").out.splitlines()
    assert [line.split(",")[:3] for line in shown[1:]] == [
        ["M", "pass@1", "0.75"], ["N", "pass@1", "0.25"],
    ]  # fmt: skip
    assert run("compare", scores, "-m", "pass@1").code == 0


def test_options_apply_to_logs(scores: Path) -> None:
    assert [group.key for group in read(scores, by="half").groups] == [
        ("M", "0"), ("M", "1"), ("N", "0"), ("N", "1"),
    ]  # fmt: skip
    clustered = read(scores, columns={"cluster": "half"}).groups[0].outcomes
    assert clustered.clusters == ["0", "1"]
    with pytest.raises(InvalidInput, match=r"--trial\) does not apply to a log \(scores\)"):
        read(scores, columns={"trial": "x"})
    with pytest.raises(InvalidInput, match=r"no scorer named 'exakt'. Did you mean 'exact'\?"):
        read(scores, columns={"score": "exakt"})


def test_a_reader_can_be_named(scores: Path) -> None:
    plain = scores.with_name("x.json")
    plain.write_text(scores.read_text())
    assert len(read(plain, reader="scores").groups) == 2
    with pytest.raises(UnknownName, match=r"no reader named 'score'. Did you mean 'scores'\?"):
        read(plain, reader="score")


def test_a_reader_that_finds_nothing_is_named(scores: Path) -> None:
    scores.write_text("{}")
    with pytest.raises(InvalidInput, match="the reader 'scores' found no trials in it"):
        read(scores)


def test_options_that_a_reader_ignores_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.plain"
    path.write_text("10\n01\n")

    @register_reader("plain")
    class Plain:
        def sniff(self, path: Path) -> bool:
            return path.suffix == ".plain"

        def read(self, path: Path, options: Options) -> Groups:
            rows = [[int(score) for score in line] for line in path.read_text().split()]
            outcomes = Outcomes.from_array(rows)
            return Groups(str(path), (), (Group((), outcomes),))

    assert read(path).only().trials.tolist() == [2, 2]
    with pytest.raises(InvalidInput, match=r"by='model' \(in the shell, --by\) does not apply"):
        read(path, by="model")
    for role in ("problem", "score", "cluster"):
        with pytest.raises(InvalidInput, match=rf"--{role}\) does not apply to a file \(plain\)"):
            read(path, columns={role: "x"})
    assert run("stats", path, "--cluster", "x", "-q").code == 2


def test_two_logs_of_the_same_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.twice"
    path.write_text("x")

    @register_reader("twice")
    class Twice:
        def sniff(self, path: Path) -> bool:
            return path.suffix == ".twice"

        def read(self, path: Path, options: Options) -> list[Log]:
            return [log(path, "t", "M", [[1]])] * 2

    with pytest.raises(InvalidInput, match="holds two logs of t by M"):
        read(path)


def test_what_is_no_reader_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the reader 'half' has no method 'read'"):

        @register_reader("half")
        class Half:
            def sniff(self, path: Path) -> bool:
                return False

    with pytest.raises(InvalidInput, match="the reader 'export' is already registered"):
        register_reader("export")(type(readers.get("export")))


def test_a_log_has_outcomes_and_data(scores: Path) -> None:
    found = log(scores, "t", "M", [[0.5, 1], [0.25]])
    assert isinstance(found.outcomes(), Outcomes)
    assert found.outcomes().graded is not None
    assert read(found).only().trials.tolist() == [2, 1]
    assert (found.data_names(), found.data("half")) == (["half"], {"p0": 0, "p1": 1})
