"""What a log says of its trials beyond scores."""

from pathlib import Path
from typing import Any

import pytest

from passband.errors import InvalidInput
from passband.readers import read
from passband.readers.log import Log, Source
from passband.readers.log_builder import LogBuilder


def built(tmp_path: Path, text: Any, *, problems: int = 20, **settings: Any) -> Log:
    path = tmp_path / "x.json"
    path.write_text("{}")
    builder = LogBuilder("t", "m", Source.of("test", path), ("s",))
    for problem in range(problems):
        for trial in range(4):
            builder.add(
                f"p{problem}",
                trial,
                scores={"s": float((problem * 7 + trial * 3) % 5 < 2)},
                text=text(problem, trial),
                targets=[str(problem + 50)],
                messages=[("user", f"What is {problem // 2}?")],
            )
    builder.problem("never asked", messages=[("user", "What else?")])
    return builder.log(settings=settings)


def codes(log: Log, **options: Any) -> set[str]:
    (group,) = read(log, **options).groups
    return {finding.code for finding in group.outcomes.found.findings}


def test_texts_prompts_and_problems_without_trials(tmp_path: Path) -> None:
    log = built(tmp_path, lambda p, t: f"The same long words about the problem {p} each time.")
    assert codes(log) == {
        "identical-answers", "copied-draws", "copied-problems", "unasked-problems",
    }  # fmt: skip
    assert "identical-answers" in codes(log, first=2)
    greedy = built(tmp_path, lambda p, t: f"The same words about {p}, as always.", temperature=0)
    assert "greedy-decoding" in codes(greedy)
    assert "identical-answers" not in codes(greedy)


def test_right_answers_that_are_scored_wrong(tmp_path: Path) -> None:
    log = built(tmp_path, lambda p, t: f"Thought {t}: the answer is {p + 50} apples")
    assert "looks-misread" in codes(log)
    assert "looks-misread" not in codes(built(tmp_path, lambda p, t: f"It is {t}, not {p}"))


def test_first_trials(tmp_path: Path) -> None:
    log = built(tmp_path, lambda p, t: None)
    (group,) = read(log, first=1).groups
    assert group.outcomes.trials.tolist() == [1] * 20 + [0]
    assert group.outcomes.required_successes().tolist()[:4] == [1, 0, 0, 1]
    with pytest.raises(InvalidInput, match="problem 'p0' has 4"):
        read(log, first=5)


def test_clusters_by_prompt(tmp_path: Path) -> None:
    (group,) = read(built(tmp_path, lambda p, t: None), columns={"cluster": "prompt"}).groups
    assert group.outcomes.n_units(1) == 10
