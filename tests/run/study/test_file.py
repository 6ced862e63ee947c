"""Study files: what they say, and mistakes with their lines."""

from pathlib import Path

import pytest

from passband.errors import InvalidInput
from passband.run.study.file import StudyFile, is_study_file, read_study
from passband.run.task_run import Price
from support.runs.commands import run

WHOLE = """\
tasks: [arithmetic, sums.yaml]
n: 4
temperature: 0.7
metrics: [pass@1, pass@4]
models:
  - tiny
  - model: openai:policy
    name: step100
    base_url: [http://one/v1, http://two/v1]
    temperature: 0
    gen: {top_k: 20, seedless: null}
    price: {prompt: 0.15, completion: 0.6}
"""


def study(folder: Path, text: str) -> StudyFile:
    path = folder / "study.yaml"
    path.write_text(text)
    return read_study(path)


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(InvalidInput) as error:
        study(folder, text)
    start = f"{folder / 'study.yaml'}:"
    lines = error.value.lines()
    assert all(line.startswith(start) for line in lines)
    return [line.removeprefix(start) for line in lines]


def test_a_whole_study(tmp_path: Path) -> None:
    (tmp_path / "sums.yaml").touch()
    made = study(tmp_path, WHOLE)
    assert made.tasks == ("arithmetic", str(tmp_path / "sums.yaml"))
    assert dict(made.settings) == {"n": 4, "temperature": 0.7, "metrics": ("pass@1", "pass@4")}
    tiny, policy = made.models
    assert (tiny.model, tiny.label, dict(tiny.settings), tiny.price) == ("tiny", "tiny", {}, None)
    assert (policy.model, policy.label, policy.price) == (
        "openai:policy",
        "step100",
        Price(0.15, 0.6),
    )
    assert policy.settings["base_url"] == ("http://one/v1", "http://two/v1")
    assert policy.settings["gen"] == {"top_k": 20, "seedless": None}
    assert policy.settings["temperature"] == 0


def test_models_are_picked_by_model_or_name(tmp_path: Path) -> None:
    made = study(tmp_path, WHOLE)
    assert made.chosen([]) == made.models
    assert made.chosen(["step100"]) == made.chosen(["openai:policy"]) == made.models[1:]
    with pytest.raises(InvalidInput, match="no such model"):
        made.chosen(["step10"])


SMALL = "tasks: [arithmetic]\nmodels: [tiny]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SMALL + "limt: 5\n", "3: unknown key 'limt'. Did you mean 'limit'?"),
        (SMALL + "name: a\n", "3: name is a key of a model, not of the study."),
        ("tasks: [a]\nmodles: [tiny]\n", "2: unknown key 'modles'. Did you mean 'models'?"),
        ("task: [a]\nmodels: [tiny]\n", "1: unknown key 'task'. Did you mean 'tasks'?"),
        (SMALL + "n: 0\n", "3: n must be a whole number, 1 or more; got 0."),
        (SMALL + "n: true\n", "3: n must be a whole number, 1 or more; got true."),
        (SMALL + "level: 95\n", "3: level must be a number between 0 and 1; got 95."),
        (SMALL + "gen: top_k\n", "3: gen must be a mapping of fields"),
        (SMALL + "gen: {n: 3}\n", "3: --gen n"),
        (SMALL + "n: 1\nn: 2\n", "4: duplicate key 'n'"),
        ("tasks: []\nmodels: [tiny]\n", "1: tasks must be a list, such as [gsm8k]; got []."),
        ("models: [tiny]\n", "1: tasks must be a list, such as [gsm8k]; there is none."),
        (
            "tasks: [a]\nmodels: tiny\n",
            "2: models must be a list, such as [openai:NAME]; got 'tiny'.",
        ),
        ("tasks: [a]\nmodels:\n- 3\n", "3: a model is a name or a mapping"),
        ("tasks: [a]\nmodels:\n- name: x\n", "3: model must be the name of a model; got None."),
        (
            "tasks: [a]\nmodels:\n- model: x\n  base-url: u\n",
            "4: unknown key 'base-url'. Did you mean 'base_url'?",
        ),
        (
            "tasks: [a]\nmodels:\n- model: x\n  n: 4\n",
            "4: n is a key of the whole study, not of a model.",
        ),
        (
            "tasks: [a]\nmodels:\n- model: x\n  price: 3\n",
            "4: a price is {input: 0.15, output: 0.60}",
        ),
        ("tasks: [a]\nmodels: [tiny, x,\n  tiny]\n", "3: the model tiny is named twice"),
        ("tasks: [a\nmodels: [tiny]\n", "2: is not YAML"),
    ],
)
def test_mistakes_have_lines(tmp_path: Path, text: str, expected: str) -> None:
    assert any(line.startswith(expected) for line in mistakes(tmp_path, text))


def test_validate_checks_studies(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(SMALL)
    (tmp_path / "bad.yaml").write_text(SMALL + "limt: 5\nn: x\n")
    done = run("validate", tmp_path / "good.yaml", tmp_path / "bad.yaml")
    assert done.code == 2
    good, *bad = done.out.splitlines()
    assert good == f"{tmp_path / 'good.yaml'}: ok"
    assert [line.removeprefix(f"{tmp_path / 'bad.yaml'}:")[0] for line in bad] == ["3", "4"]


def test_what_is_a_study(tmp_path: Path) -> None:
    cases = {
        "study.yaml": WHOLE,
        "typo.yml": "modles: [a]\ntasks: [b]\n",
        "cut.yaml": "models: [\n",
    }
    others = {"task.yaml": "task: models\ndoc_to_text: |\n  models: x\n", "study.json": WHOLE}
    for name, text in (cases | others).items():
        (tmp_path / name).write_text(text)
    assert all(is_study_file(str(tmp_path / name)) for name in cases)
    assert not any(is_study_file(str(tmp_path / name)) for name in (*others, "nowhere.yaml"))
