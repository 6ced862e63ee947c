import pytest

from passband.errors import InvalidInput
from passband.score.scorer import Reference
from passband.tasks.file.loader import load_task

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

    def empty(references, predictions):
        return {}

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


HUMANEVAL_64 = """
    repeats: 64
    filter_list:
      - name: create_test
        filter: [{function: custom, filter_fn: !function utils.build}]
    metric_list:
      - metric: !function utils.pass_at_k
        aggregation: mean
        higher_is_better: true
        k: [2, 8, 64]
"""


def test_pass_at_k_of_all_repeats_is_estimated_from_single_trials(task, write):
    # As code_eval does, the function leaves out every k above the number of answers it sees.
    write(
        "utils.py",
        """
        def build(resps, docs):
            return resps

        def pass_at_k(references, predictions, k=None):
            right = references[0] in predictions[0]
            return {f"pass@{n}": float(right) for n in k if n <= len(predictions[0])}
        """,
    )
    loaded = load_task(task(HUMANEVAL_64), trust=True)
    assert [(m.name, m.scorer, m.repeat_aggregation) for m in loaded.metrics] == [
        (f"pass@{k}", "pass_at_k", f"pass@{k}") for k in (2, 8, 64)
    ]
    (scorer,) = loaded.scorers
    assert [scorer.score(text, REFERENCE).value for text in ("yes", "no")] == [1.0, 0.0]
    assert scorer.spec is None


@pytest.mark.parametrize(
    ("metric", "names"),
    [
        ("k: 4", ["pass@4"]),
        ("k: [1, 1, 4]", ["pass@1", "pass@4"]),
        ("k: [1], repeat_aggregation: mean", ["pass_at_k"]),
    ],
)
def test_the_names_of_pass_at_k(task, write, metric, names):
    write("utils.py", "def pass_at_k(references, predictions, k):\n    return 1.0\n")
    line = f"repeats: 8\nmetric_list: [{{metric: !function utils.pass_at_k, {metric}}}]"
    loaded = load_task(task(line), trust=True)
    assert [entry.name for entry in loaded.metrics] == names
    assert loaded.scorers[0].name == "pass_at_k"


@pytest.mark.parametrize("k", ["[]", "0", "[1, many]", "[true]"])
def test_a_k_that_is_none(task, write, k):
    write("utils.py", "def pass_at_k(references, predictions, k):\n    return 1.0\n")
    line = f"metric_list: [{{metric: !function utils.pass_at_k, k: {k}}}]"
    with pytest.raises(InvalidInput, match=r"sums.yaml:1: k must be a whole number"):
        load_task(task(line), trust=True)


SEVERAL = """
    calls = []

    def code(references, predictions, k=(1,)):
        calls.append(predictions)
        right = float(references[0] in predictions[0])
        # As often written by hand, it gives 1 for every k above the number of answers.
        passes = {f"pass@{n}": right if n == 1 else 1.0 for n in k}
        return {**passes, "length": float(len(predictions[0]))}

    def results(doc, results):
        return {"pass@1": float(results[0] == doc["answer"]), "pass@10": 1.0, "length": 3.0}
"""


def test_every_value_of_a_function_has_its_line(task, write):
    write("utils.py", SEVERAL)
    line = "{metric: !function utils.code, k: [1, 10], values: [length, pass@1, pass@10]}"
    loaded = load_task(task(f"repeats: 10\nmetric_list: [{line}]"), trust=True)
    assert [(m.name, m.scorer, m.repeat_aggregation) for m in loaded.metrics] == [
        ("length", "length", "first"),
        ("pass@1", "code", "pass@1"),
        ("pass@10", "code", "pass@10"),
    ]
    length, passed = loaded.scorers
    assert [scorer.score("yes", REFERENCE).value for scorer in (length, passed)] == [3, 1]
    assert [passed.score(text, REFERENCE).value for text in ("no", "yes")] == [0, 1]


def test_one_call_gives_all_values_of_a_trial(task, write):
    import passband.tasks.file.task_code as trusted

    write("utils.py", SEVERAL.replace('{**passes, "length"', '{**passes, "more": 1.0, "length"'))
    line = "{metric: !function utils.code, values: [length, more]}"
    scorers = load_task(task(f"metric_list: [{line}]"), trust=True).scorers
    calls = [module.calls for module in trusted._modules.values() if hasattr(module, "calls")][-1]
    calls.clear()
    assert [scorer.score("abcd", REFERENCE).value for scorer in scorers] == [4, 1]
    assert len(calls) == 1


def test_pass_at_k_of_process_results_is_estimated_from_single_trials(task, write):
    write("utils.py", SEVERAL)
    text = "metric_list: [{metric: pass@10}, {metric: pass@1}, {metric: length}]"
    text = f"repeats: 10\nprocess_results: !function utils.results\n{text}"
    loaded = load_task(task(text), trust=True)
    assert [(m.name, m.scorer, m.repeat_aggregation) for m in loaded.metrics] == [
        ("pass@10", "pass@1", "pass@10"),
        ("pass@1", "pass@1", "first"),
        ("length", "length", "first"),
    ]
    assert [scorer.score("no", REFERENCE).value for scorer in loaded.scorers] == [0, 3]


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("exact_match, values: [x]", "names what a metric that is a !function returns"),
        ("!function utils.code, values: []", "values is empty"),
        ("!function utils.code, values: 3", "values must be a list; got 3"),
    ],
)
def test_values_that_cannot_be(task, write, metric, told):
    write("utils.py", SEVERAL)
    with pytest.raises(InvalidInput, match=told):
        load_task(task(f"metric_list: [{{metric: {metric}}}]"), trust=True)


def test_a_value_that_is_not_returned(scorers):
    scored = scorers("metric_list: [{metric: !function utils.several, values: [x, z]}]")
    assert value(scored[0], "yes") == 1
    assert "several gives no 'z' for one trial, only x, y" in value(scored[1], "yes")[1]
    (number,) = scorers("metric_list: [{metric: !function utils.equal, values: [x]}]")
    assert "must return 'x' by its name; got 1.0" in value(number, "yes")[1]


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
    import passband.tasks.file.task_code as trusted

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
    ("function", "told"),
    [
        ("fails", "RuntimeError: no"),
        ("several", "returned several values (x, y), none named several or pass@1; name those"),
        ("empty", "empty returned no value for one trial"),
    ],
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
