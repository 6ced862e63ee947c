"""Corpus metrics: sacrebleu's numbers, and a bootstrap over problems."""

import pytest
import sacrebleu

from passband.errors import InvalidInput, UnknownName
from passband.score.translation import corpus_interval, corpus_value

PREDICTIONS = [
    "the cat sat on the mat",
    "there is a dog in the garden",
    "it rains a lot here in winter",
    "nobody knows the way home",
]
REFERENCES = [
    ["the cat sat on a mat", "a cat was sitting on the mat"],
    ["there is a dog in the yard", "a dog is in the garden"],
    ["in winter it rains a lot here", "it rains much here in the winter"],
    ["nobody knows the way home", "no one knows how to get home"],
]
STREAMS = [list(stream) for stream in zip(*REFERENCES, strict=True)]


def test_values_are_those_of_sacrebleu() -> None:
    bleu = sacrebleu.corpus_bleu(PREDICTIONS, STREAMS).score
    assert corpus_value("bleu", PREDICTIONS, REFERENCES) == pytest.approx(bleu, abs=1e-9)
    chrf = sacrebleu.corpus_chrf(PREDICTIONS, STREAMS).score
    assert corpus_value("chrf", PREDICTIONS, REFERENCES) == pytest.approx(chrf, abs=1e-9)
    ter = sacrebleu.corpus_ter(PREDICTIONS, STREAMS).score
    assert corpus_value("ter", PREDICTIONS, REFERENCES) == pytest.approx(ter, abs=1e-9)


def test_problems_may_have_different_numbers_of_references() -> None:
    ragged = [REFERENCES[0], REFERENCES[1][:1], REFERENCES[2], REFERENCES[3][:1]]
    repeated = [group if len(group) == 2 else group * 2 for group in ragged]
    for metric in ("bleu", "chrf", "ter"):
        found = corpus_value(metric, PREDICTIONS, ragged)
        assert found == pytest.approx(corpus_value(metric, PREDICTIONS, repeated), abs=1e-9)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
def test_intervals(metric: str) -> None:
    value = corpus_value(metric, PREDICTIONS, REFERENCES)
    low, high = corpus_interval(metric, PREDICTIONS, REFERENCES, seed=1)
    assert low <= value <= high
    assert (low, high) == corpus_interval(metric, PREDICTIONS, REFERENCES, seed=1)
    few = [corpus_interval(metric, PREDICTIONS, REFERENCES, seed=s, replicates=5) for s in (1, 2)]
    assert few[0] != few[1]
    narrow = corpus_interval(metric, PREDICTIONS, REFERENCES, seed=1, level=0.5)
    assert low <= narrow[0] <= narrow[1] <= high


def test_a_replicate_is_the_value_of_the_problems_drawn() -> None:
    # With two problems a replicate is one of them twice, or both; the extremes are known.
    ends = [corpus_value("bleu", [PREDICTIONS[i]] * 2, [REFERENCES[i]] * 2) for i in (0, 1)]
    low, high = corpus_interval("bleu", PREDICTIONS[:2], REFERENCES[:2], level=0.999, seed=3)
    assert (low, high) == (pytest.approx(min(ends)), pytest.approx(max(ends)))


def test_one_problem_has_no_spread() -> None:
    value = corpus_value("chrf", PREDICTIONS[:1], REFERENCES[:1])
    found = corpus_interval("chrf", PREDICTIONS[:1], REFERENCES[:1], replicates=150)
    assert found == (pytest.approx(value), pytest.approx(value))


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'bleu'"):
        corpus_value("bleus", PREDICTIONS, REFERENCES)
    with pytest.raises(InvalidInput, match="1 predictions, but 4 references"):
        corpus_value("bleu", PREDICTIONS[:1], REFERENCES)
    with pytest.raises(InvalidInput, match="at least one reference"):
        corpus_value("bleu", ["a"], [[]])
    with pytest.raises(InvalidInput, match="at least one reference"):
        corpus_value("bleu", [], [])
    with pytest.raises(InvalidInput, match="level"):
        corpus_interval("bleu", PREDICTIONS, REFERENCES, level=95)
    with pytest.raises(InvalidInput, match="replicates"):
        corpus_interval("bleu", PREDICTIONS, REFERENCES, replicates=1)
