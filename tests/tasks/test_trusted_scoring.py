import pytest

from passband.errors import InvalidInput
from passband.score.scorer import Reference
from passband.tasks.loader import load_task

CODE = """
    calls = []

    def build(resps, docs):
        return [[doc["prefix"] + r for r in resp] for resp, doc in zip(resps, docs)]

    def first_letter(resps, docs):
        return [resp[0][:1] for resp in resps]

    def equal(references, predictions, strict=True):
        one, other = references[0], predictions[0]
        return float(one == other or (not strict and one.lower() == other.lower()))

    def of_items(items):
        return items[0] == items[1]

    def pass_at_k(references, predictions, k=None):
        assert isinstance(predictions[0], list)
        right = references[0] in predictions[0]
        return {f"pass@{n}": right for n in k}

    def several(references, predictions):
        return {"x": 1, "y": 2}

    def fails(references, predictions):
        raise RuntimeError("no")

    def results(doc, results):
        calls.append(results)
        return {"long": len(results[0]), "same": results[0] == doc["answer"], "bad": (1, 2)}

    class Upper:
        def __init__(self, mark=""):
            self.mark = mark

        def apply(self, resps, docs):
            return [[r.upper() + self.mark for r in resp] for resp in resps]
"""
REFERENCE = Reference(("yes",), doc={"prefix": "y", "answer": "yes"})


@pytest.fixture
def scorers(task, write):
    def load(text):
        write("utils.py", CODE)
        return load_task(task(text), trust=True).scorers

    return load


def value(scorer, text, reference=REFERENCE):
    score = scorer.score(text, reference)
    return score.value if score.status == "ok" else (score.status, score.detail)


def test_a_metric_gets_references_predictions_and_options(scorers):
    strict, loose, items = scorers("""
        metric_list:
          - metric: !function utils.equal
          - metric: !function utils.equal
            strict: false
          - metric: !function utils.of_items
    """)
    assert [strict.name, loose.name, items.name] == ["equal", "equal_1", "of_items"]
    assert [value(strict, text) for text in ("yes", "YES", "no")] == [1, 0, 0]
    assert value(loose, "YES") == 1
    assert [value(items, text) for text in ("yes", "no")] == [1, 0]
    assert value(strict, "b", Reference(("a", "b"))) == 1  # the best target counts
    assert strict.slow
    assert len({strict.identity, loose.identity, items.identity}) == 3


def test_the_migration_example_of_pass_at_k(scorers):
    (scorer,) = scorers("""
        repeats: 10
        filter_list:
          - name: create_test
            filter:
              - function: custom
                filter_fn: !function utils.build
        metric_list:
          - metric: !function utils.pass_at_k
            aggregation: mean
            k: [1, 10]
    """)
    assert value(scorer, "es") == 1
    assert value(scorer, "no") == 0


def test_filters_of_the_task(scorers):
    letter, upper = scorers("""
        filter_list:
          - name: letter
            filter: [{function: custom, filter_fn: !function utils.first_letter}]
          - name: upper
            filter: [{function: !function utils.Upper, mark: "!"}, {function: take_first}]
    """)
    assert letter.score("yes", REFERENCE).answer == "y"
    assert upper.score("yes", REFERENCE).answer == "YES!"


def test_process_results_gives_every_metric(scorers):
    length, same, bad, gone = scorers("""
        process_results: !function utils.results
        metric_list: [{metric: long}, {metric: same}, {metric: bad}, {metric: gone}]
    """)
    assert (value(length, "yes"), value(same, "yes"), value(same, "no")) == (3, 1, 0)
    assert value(bad, "yes")[0] == value(gone, "yes")[0] == "error"
    assert "gives no 'gone', only long, same, bad" in value(gone, "yes")[1]


def test_one_call_does_for_all_metrics_of_a_trial(scorers):
    import passband.tasks.trusted as trusted

    first, second, *_ = scorers("""
        process_results: !function utils.results
        metric_list: [{metric: long}, {metric: same}]
    """)
    calls = [module.calls for module in trusted._modules.values() if hasattr(module, "calls")][-1]
    calls.clear()
    first.score("abc", REFERENCE)
    second.score("abc", REFERENCE)
    assert calls == [["abc"]]
    second.score("abc", Reference(("abc",), doc={"prefix": "", "answer": "abc"}))
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("function", "told"), [("fails", "RuntimeError: no"), ("several", "several values, x, y")]
)
def test_a_metric_that_fails_is_an_error_and_no_zero(scorers, function, told):
    (scorer,) = scorers(f"metric_list: [{{metric: !function utils.{function}}}]")
    status, detail = value(scorer, "yes")
    assert status == "error"
    assert told in detail


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("{function: custom, filter_fn: build}", "filter_fn"),
        ("{function: custom, filter_fn: !function utils.build, k: 1}", "nothing else"),
        ("{function: !function utils.Upper, other: 1}", "cannot be made: TypeError"),
    ],
)
def test_wrong_filters(scorers, step, told):
    with pytest.raises(InvalidInput, match=told):
        scorers(f"filter_list: [{{name: x, filter: [{step}]}}]")
