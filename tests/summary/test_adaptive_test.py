"""The summary of an adaptive test, from the table alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passband.adaptive.bank import write_bank
from passband.adaptive.design import Design
from passband.adaptive.recorded import read_recorded
from passband.adaptive.test import AdaptiveTest
from passband.errors import InvalidInput
from passband.report.summary import meaning
from passband.run.request import make_request
from passband.run.settings import Patience
from passband.summary.adaptive_test import adaptive_group
from passband.summary.from_sources import summarize
from passband.summary.summary import Request, Summary
from passband.trials.reader import Trials
from passband.trials.records import RunRecord
from passband.trials.rows import TrialRow
from support.runs.runs import Notes
from support.samples.banks import bank


def answers(prompt: str, seed: int = 0) -> str:
    number = int(prompt.split("+")[0])
    return str(2 * number if number < 35 else 0)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A finished test of sums, whose bank is gone."""
    path = tmp_path / "sums.jsonl"
    write_bank(bank(60), path)
    design = {"max_items": 16, "random_share": 0.25, "se": 0.05}
    request = make_request(
        f"{path}:adaptive:test", answers, out=tmp_path / "out", n=2, seed="s", design=design
    )
    request.run(Notes())
    path.unlink()
    return tmp_path / "out"


def test_theta_and_accuracy_are_those_of_the_test(made: Path) -> None:
    design = Design(max_items=16, random_share=0.25, se=0.05, trials=2)
    test = AdaptiveTest(bank(60), design, "s")
    while choices := test.next():
        for choice in choices:
            score = float(bank(60).position[choice.key] < 35)
            test.answer(choice.key, [score, score])
    summary = summarize(made)
    (group,) = summary.groups
    assert group.adaptive is not None
    assert group.adaptive.path == tuple(test.history)
    assert group.adaptive.stop == "max_items"
    assert group.adaptive.n_bank == 60
    theta = summary.estimate("theta")
    ability = test.ability()
    assert (theta.value, theta.low, theta.high) == (ability.theta, ability.low, ability.high)
    model, random = test.accuracy(), test.random_accuracy()
    assert random is not None
    found = summary.estimate("bank accuracy")
    assert (found.value, found.low, found.high) == (model.value, None, None)
    assert [note.severity for note in found.notes] == ["invalid"]
    with Trials(made) as trials:
        request = Request(accept=("model-accuracy",))
        known = adaptive_group(trials, trials.run(), trials.run().scorer(), request, {})
    accepted = known.lines[1].estimate
    assert accepted is not None
    assert (accepted.value, accepted.low, accepted.high) == (model.value, model.low, model.high)
    assert accepted.notes[0].text.endswith("(accepted)")
    found = summary.estimate("bank accuracy (random items)")
    assert (found.value, found.n_problems, found.n_trials) == (random.value, 4, 8)
    assert 0.4 < model.value < 0.75  # 35 of 60 items are answered rightly


def test_the_level_can_be_chosen_later(made: Path) -> None:
    wide, narrow = (summarize(made, level=level).estimate("theta") for level in (0.99, 0.5))
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low < narrow.value == wide.value


def test_it_is_written_with_its_evidence_and_read_again(made: Path) -> None:
    summary = summarize(made)
    assert summary.as_json()["version"] == 4
    again = Summary.from_json(summary.to_json())
    assert again == summary
    jsonschema = pytest.importorskip("jsonschema")
    from passband.summary.json import schema

    jsonschema.validate(summary.as_json(), schema())


@pytest.mark.parametrize(
    "options", [{"over": "trials"}, {"method": "percentile"}, {"stopped_after": 1}]
)
def test_other_intervals_are_refused(made: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"is an adaptive test, whose intervals"):
        summarize(made, **options)


def test_metrics_by_name_have_a_reason(made: Path) -> None:
    summary = summarize(made, ["pass@1", "maj@2"])
    codes = [line.reason.code for _, line in summary.lines() if line.reason is not None]
    assert codes == ["no-estimate-adaptive"] * 2


def test_trials_without_a_score_are_counted_where_they_are(tmp_path: Path) -> None:
    write_bank(bank(40), tmp_path / "sums.jsonl")

    def fails_often(prompt: str, seed: int = 0) -> str:
        if int(prompt.split("+")[0]) % 5 == 4:
            raise ValueError("no")
        return answers(prompt)

    make_request(
        f"{tmp_path}/sums.jsonl:adaptive:test",
        fails_often,
        out=tmp_path / "out",
        seed="s",
        patience=Patience(attempts=1, first_pause=0.0),
        design={"max_items": 20, "random_share": 0.5, "se": 0.01},
    ).run(Notes())
    summary = summarize(tmp_path / "out")
    with Trials(tmp_path / "out") as trials:
        steps = read_recorded(trials, trials.run()).test.history
    for metric, some in (
        ("theta", steps),
        ("bank accuracy", steps),
        ("bank accuracy (random items)", [step for step in steps if step.is_random]),
    ):
        scored = sum(step.score is not None for step in some)
        found = summary.estimate(metric)
        assert (found.n_problems, found.n_trials) == (scored, scored)
        assert found.n_unscored == len(some) - scored > 0
    with pytest.raises(InvalidInput, match=r"cannot count as 0 later; policy='fail'"):
        summarize(tmp_path / "out", policy="fail")
    with pytest.raises(InvalidInput, match=r"trials have no score, and policy is 'error'"):
        summarize(tmp_path / "out", policy="error")


def test_an_unfinished_batch_is_no_other_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bank(bank(40), tmp_path / "sums.jsonl")
    design = {"max_items": 12, "se": 0.01, "batch": 4}
    name, out = f"{tmp_path}/sums.jsonl:adaptive:test", tmp_path / "out"
    make_request(name, answers, out=out, seed="s", design=design).run(Notes())
    whole = summarize(out).groups[0].adaptive
    read = Trials.trials

    def all_but_the_last(trials: Trials, run: RunRecord) -> list[TrialRow]:
        return [row for row in read(trials, run) if not str(row.reason).startswith("item 12:")]

    monkeypatch.setattr(Trials, "trials", all_but_the_last)
    (group,) = summarize(out).groups
    assert whole is not None
    assert group.adaptive is not None
    assert group.adaptive.path == whole.path[:8]  # what complete batches say
    assert "adaptive-unfinished" in [note.code for note in group.notes]


def test_intervals_of_both_kinds_are_explained(made: Path) -> None:
    test, plain = summarize(made), summarize([[1, 0], [0, 1]], "pass@1")
    assert "ability" in meaning(test)
    assert "ability" not in meaning(plain)
    both = meaning(replace(plain, groups=(*plain.groups, *test.groups)))
    assert both.startswith(meaning(plain))
    assert "of adaptive tests: for the model's ability" in both
