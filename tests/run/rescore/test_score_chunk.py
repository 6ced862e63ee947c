"""Scorers as they are sent to a node: rebuilt there, the same, and with the same scores."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from passband.errors import InvalidInput
from passband.run.loop.grader import Grader
from passband.run.rescore.cluster import (
    AgainChunk,
    Chunk,
    score_chunk,
    score_chunk_again,
    shipped,
    try_scorers,
)
from passband.score.pipeline import make_scorer
from passband.score.scorer import Reference, Score, Scorer
from passband.trials.rows import TrialRow

TEXTS = ("The answer is 42.", "It is 41", None, "\\boxed{42}")
REFERENCE = Reference(("42",))
STEPS = [{"function": "extract", "rules": ["boxed", "last_number"]}]


class Nameless(Scorer):
    """A scorer that a task brings as code."""

    name, identity, spec, slow = "nameless", "nameless 1", None, False

    def score(self, text: str | None, reference: Reference) -> Score:
        return Score(1.0)


def chunk(name: str = "numeric") -> tuple[Chunk, Grader]:
    """Return trials to be scored on a node, and what scores them here."""
    scorer = make_scorer(name, name, {}, STEPS)
    rows = [TrialRow(0, trial, "ok", text) for trial, text in enumerate(TEXTS)]
    rows.append(TrialRow(0, 9, "truncated", "42"))
    sent = Chunk(7, shipped(scorer), 3, "leave", rows, {0: REFERENCE})
    return sent, Grader([(3, scorer)], {0: REFERENCE})


@pytest.mark.parametrize("name", ["numeric", "math", "exact_match", "f1"])
def test_scores_are_those_of_this_process(name: str) -> None:
    sent, grader = chunk(name)
    number, scores = score_chunk(pickle.loads(pickle.dumps(sent)))
    assert number == 7
    assert scores == [grader.grade(row) for row in sent.rows]
    assert scores[-1] == []  # truncated, and so left out


def test_what_is_sent_are_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-this-machine")
    data = pickle.dumps(chunk()[0])
    assert b"sk-secret" not in data
    assert b"passband.score" not in data.replace(b"passband.score.scorer", b"")  # the reference


def test_a_scorer_without_a_name_cannot_be_sent() -> None:
    with pytest.raises(InvalidInput, match=r"'nameless' is code of its task.*without --on"):
        shipped(Nameless())


def test_another_scorer_of_the_name_is_refused() -> None:
    sent, _ = chunk()
    other = replace(sent.scorer, identity=sent.scorer.identity + " of another version")
    with pytest.raises(InvalidInput, match=r"node \S+: scorer 'numeric' is another one here"):
        score_chunk(replace(sent, scorer=other))
    with pytest.raises(InvalidInput, match="is another one here"):
        try_scorers([other])


def test_a_plug_in_that_a_node_lacks_is_named() -> None:
    sent, _ = chunk()
    lacking = replace(sent.scorer, modules=("no_such_module_here",))
    with pytest.raises(InvalidInput, match=r"node \S+: --import no_such_module_here"):
        try_scorers([lacking])


def test_scorers_without_programs_use_no_sandbox() -> None:
    assert try_scorers([chunk()[0].scorer]) == []


@pytest.mark.process
def test_programs_get_a_second_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSBAND_SANDBOX", "none")
    scorer = make_scorer("code", "code", {"timeout": 5}, [])
    doc = {
        "prompt": "def f(x):\n", "entry_point": "f",
        "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    }  # fmt: skip
    programs = [
        (f"```python\ndef f(x):\n    return x {sign} 1\n```", Reference((), (), doc))
        for sign in "+-"
    ]
    sent = shipped(scorer, unsafe=True)
    scores = score_chunk_again(AgainChunk(sent, programs, 1, 1.0))
    assert [score.value for score in scores] == [1.0, 0.0]
