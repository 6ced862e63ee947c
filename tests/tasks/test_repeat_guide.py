"""Every task of the guide to repeat metrics, with a data set and templates added."""

import pytest

from passband.score.repeats import aggregations, register_repeat_aggregation
from passband.tasks.file.loader import load_task
from support.samples.repeat_guide import GUIDE

pytest.importorskip("sacrebleu")

EXPECTED = {
    "majority voting": [("exact_match", "majority")],
    "best of k": [("bleu", "max")],
    "pass at k": [("exact_match", "any_correct")],
    "several": [
        ("exact_match", "majority"),
        ("bleu", "max"),
        ("exact_match_1", "any_correct"),
    ],
    "migrated": [("exact_match", "any_correct")],
    "custom": [("exact_match", "custom_weighted")],
    "question answering": [("exact_match", "majority")],
    "code generation": [("exact_match", "any_correct")],
    "text generation": [("bleu", "max"), ("bleu_1", "mean")],
    "mathematics": [("exact_match", "majority"), ("exact_match_1", "any_correct")],
}


@pytest.fixture
def custom_weighted():
    @register_repeat_aggregation("custom_weighted")
    def custom_weighted_agg(scores, predictions=None, **kwargs):
        """Weight later repeats more heavily."""
        weights = [i + 1 for i in range(len(scores))]
        return sum(s * w for s, w in zip(scores, weights, strict=True)) / sum(weights)

    yield
    aggregations.remove("custom_weighted")


@pytest.mark.usefixtures("custom_weighted")
@pytest.mark.parametrize("name", GUIDE)
def test_the_guide(task, name):
    loaded = load_task(task(GUIDE[name]))
    assert [(m.name, m.repeat_aggregation) for m in loaded.metrics] == EXPECTED[name]
    assert {m.aggregation for m in loaded.metrics} == {"mean"}
    assert all(m.higher_is_better for m in loaded.metrics)
    assert loaded.repeats == loaded.config.get("repeats", 1)
    assert len({scorer.name for scorer in loaded.scorers}) == len({*dict(_functions(loaded))})
    assert len(loaded.load(None)) == 3


def _functions(loaded):
    return [(m.name.removesuffix("_1"), None) for m in loaded.metrics]


def test_the_old_way_needs_trust(task, write):
    code = """
        def build_predictions(resps, docs):
            return [[doc["question"] + r for r in resp] for resp, doc in zip(resps, docs)]

        def pass_at_k(references, predictions, k=None):
            return {f"pass@{n}": float(references[0] in predictions[0]) for n in k}
    """
    write("utils.py", code)
    text = """
        task: humaneval
        repeats: 10
        filter_list:
          - name: "create_test"
            filter:
              - function: "custom"
                filter_fn: !function utils.build_predictions
        metric_list:
          - metric: !function utils.pass_at_k
            aggregation: mean
            k: [1, 10]
    """
    loaded = load_task(task(text), trust=True)
    assert [(m.name, m.scorer, m.filter, m.repeat_aggregation) for m in loaded.metrics] == [
        ("pass@1", "pass_at_k", "create_test", "pass@1"),
        ("pass@10", "pass_at_k", "create_test", "pass@10"),
    ]
    reference = loaded.load(1)[0].reference
    (scorer,) = loaded.scorers
    assert scorer.score("?", reference).value == 0
