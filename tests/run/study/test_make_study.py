"""Making a study: whose setting wins, and where each model is recorded."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.run.study.build import study_of_file, study_of_models
from passband.run.study.file import read_study
from passband.tasks.overrides import Overrides
from passband.trials.file.schema import STORE_FILE

STUDY = """\
tasks: [arithmetic]
n: 4
temperature: 0.7
system: Be brief.
gen: {top_k: 20, min_p: 0.1}
models:
  - tiny
  - model: python:os.path:basename
    name: guesser
    temperature: 0.2
    gen: {top_k: 5}
    price: {prompt: 1, completion: 2}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_wins_over_the_study_and_the_command_over_both() -> None:
    Path("study.yaml").write_text(STUDY)
    file = read_study(Path("study.yaml"))
    tiny, guesser = study_of_file(file, n=None, temperature=None).requests
    assert (tiny.settings.n, tiny.settings.temperature) == (4, 0.7)
    assert (guesser.settings.temperature, guesser.settings.name) == (0.2, "guesser")
    assert tiny.tasks[0].sampling.extra == {"top_k": 20, "min_p": 0.1}
    assert guesser.tasks[0].sampling.extra == {"top_k": 5, "min_p": 0.1}
    assert tiny.tasks[0].spec["system"] == "Be brief."
    assert guesser.price is not None
    assert guesser.price.completion == 2
    command = Overrides(system="Think.", gen={"top_k": 1})
    given = ("n", "temperature", "system", "gen")
    made = study_of_file(file, n=8, temperature=1.0, adjustments=command, given=given)
    for request in made.requests:
        assert (request.settings.n, request.settings.temperature) == (8, 1.0)
        assert request.tasks[0].spec["system"] == "Think."
        assert request.tasks[0].sampling.extra["top_k"] == 1


def test_each_model_has_a_directory() -> None:
    models = ["tiny", "python:os.path:basename"]
    names = ["tiny", "python-os.path-basename"]
    for out, parent in ((None, Path("runs")), (Path("there"), Path("there"))):
        made = study_of_models(["arithmetic"], models, out=out)
        assert [request.directory for request in made.requests] == [parent / n for n in names]
    Path("study.yaml").write_text(STUDY + "out: kept\n")
    (guesser,) = study_of_file(read_study(Path("study.yaml")), ["guesser"]).requests
    assert guesser.directory == Path("kept/guesser")


def test_a_run_directory_cannot_hold_others() -> None:
    Path("one").mkdir()
    (Path("one") / STORE_FILE).touch()
    with pytest.raises(InvalidInput, match="one is a run directory, and several models get"):
        study_of_models(["arithmetic"], ["tiny", "openai:a"], out=Path("one"))


def test_a_name_is_for_one_model() -> None:
    with pytest.raises(InvalidInput, match="--name is for one model; there are 2"):
        study_of_models(["arithmetic"], ["tiny", "openai:a"], name="step100")


def test_headers_are_for_servers() -> None:
    headers = {"X-Team": "secret"}
    tiny, server = study_of_models(
        ["arithmetic"], ["tiny", "openai:a"], ["http://localhost:1/v1"], headers=headers
    ).requests
    assert (tiny.connection.headers, server.connection.headers) == ({}, headers)
    assert (tiny.connection.base_urls, server.connection.base_urls) == (
        (),
        ("http://localhost:1/v1",),
    )
    with pytest.raises(InvalidInput, match="--header is for servers"):
        study_of_models(["arithmetic"], ["tiny", "python:os.path:basename"], headers=headers)
