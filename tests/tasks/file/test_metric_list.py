import pytest

from passband.errors import InvalidInput
from passband.score.repeats import aggregations, register_repeat_aggregation
from passband.score.scorer import Reference
from passband.tasks.file.loader import load_task, read_task
from passband.tasks.task import MetricEntry

REGEX = "{function: regex, regex_pattern: '#### ([0-9]+)'}"


def errors(path):
    reading = read_task(path)
    return [(problem.line, problem.message) for problem in reading.diagnostics]


def test_without_any_lists(task):
    loaded = load_task(task())
    assert loaded.metrics == (MetricEntry("exact_match", "exact_match", higher_is_better=True),)
    assert [scorer.name for scorer in loaded.scorers] == ["exact_match"]


def test_the_same_metric_again_shares_its_scorer(task):
    text = """
        repeats: 4
        metric_list:
          - {metric: exact_match, repeat_aggregation: majority}
          - {metric: f1, repeat_aggregation: max}
          - {metric: exact_match, repeat_aggregation: any_correct}
    """
    loaded = load_task(task(text))
    assert [(m.name, m.scorer, m.repeat_aggregation) for m in loaded.metrics] == [
        ("exact_match", "exact_match", "majority"),
        ("f1", "f1", "max"),
        ("exact_match_1", "exact_match", "any_correct"),
    ]
    assert [scorer.name for scorer in loaded.scorers] == ["exact_match", "f1"]


def test_other_options_need_another_scorer(task):
    text = """
        metric_list:
          - {metric: exact_match}
          - {metric: exact_match, ignore_case: true}
    """
    loaded = load_task(task(text))
    assert [(m.name, m.scorer) for m in loaded.metrics] == [
        ("exact_match", "exact_match"),
        ("exact_match_1", "exact_match_1"),
    ]
    plain, ignoring = loaded.scorers
    assert plain.score("PARIS", Reference(("Paris",))).value == 0
    assert ignoring.score("PARIS", Reference(("Paris",))).value == 1


def test_filters_of_repeats_become_aggregations(task):
    text = f"""
        repeats: 64
        filter_list:
          - name: score-first
            filter: [{REGEX}, {{function: take_first}}]
          - name: maj@64
            filter: [{REGEX}, {{function: majority_vote}}, {{function: take_first}}]
          - name: maj@8
            filter:
              - {{function: take_first_k, k: 8}}
              - {REGEX}
              - {{function: majority_vote}}
              - {{function: take_first}}
          - name: raw
            filter: [{{function: take_first}}]
    """
    loaded = load_task(task(text))
    found = [(m.name, m.filter, m.scorer, m.repeat_aggregation, m.first) for m in loaded.metrics]
    assert found == [
        ("exact_match", "score-first", "exact_match,score-first", "first", None),
        ("exact_match", "maj@64", "exact_match,score-first", "majority", None),
        ("exact_match", "maj@8", "exact_match,score-first", "majority", 8),
        ("exact_match", "raw", "exact_match,raw", "first", None),
    ]
    extracting, raw = loaded.scorers
    assert extracting.score("so #### 12", Reference(("12",))).value == 1
    assert raw.score("so #### 12", Reference(("12",))).value == 0


def test_one_pipeline_is_not_in_the_name(task):
    text = f"filter_list: [{{name: strict, filter: [{REGEX}, {{function: take_first}}]}}]"
    loaded = load_task(task(text))
    assert [(m.scorer, m.filter) for m in loaded.metrics] == [("exact_match", "strict")]


def test_what_a_metric_says_of_repeats_wins(task):
    text = """
        repeats: 8
        filter_list:
          - name: x
            filter: [{function: take_first_k, k: 4}, {function: take_first}]
        metric_list: [{metric: exact_match, repeat_aggregation: mean}]
    """
    assert [(m.repeat_aggregation, m.first) for m in load_task(task(text)).metrics] == [("mean", 4)]


def test_take_first_ends_the_choice(task):
    text = "filter_list: [{name: x, filter: [{function: take_first}, {function: majority_vote}]}]"
    assert load_task(task(text)).metrics[0].repeat_aggregation == "first"


@pytest.mark.parametrize(
    "name", ["pass@8", "pass^4", "maj@8", "g-pass@8:0.75", "avg", "max@4", "first", "all_correct"]
)
def test_metrics_of_the_statistics_reduce_repeats(task, name):
    text = f"repeats: 8\nmetric_list: [{{metric: exact_match, repeat_aggregation: '{name}'}}]"
    reading = read_task(task(text))
    assert reading.diagnostics == []
    assert reading.task is not None
    assert reading.task.metrics[0].repeat_aggregation == name


def test_registered_aggregations_are_known(task):
    text = """
        metric_list:
          - {metric: exact_match, repeat_aggregation: by_hand, repeat_options: {weight: 2}}
    """
    assert "by_hand" in errors(task(text))[0][1]
    register_repeat_aggregation("by_hand")(lambda scores, weight: scores[0] * weight)
    try:
        entry = load_task(task(text)).metrics[0]
        assert (entry.repeat_aggregation, entry.repeat_options) == ("by_hand", {"weight": 2})
    finally:
        aggregations.remove("by_hand")


def test_a_direction_that_contradicts_the_scorer_is_refused(task):
    text = "metric_list: [{metric: exact_match, higher_is_better: false}]"
    with pytest.raises(InvalidInput, match="exact_match, of which higher scores are better"):
        load_task(task(text))


def test_translation_metrics_are_of_the_whole_corpus_unless_repeats_are_reduced(task):
    pytest.importorskip("sacrebleu")
    text = """
        metric_list:
          - {metric: bleu}
          - {metric: bleu, repeat_aggregation: max}
          - {metric: bleu, aggregation: bleu}
          - {metric: ter}
          - {metric: chrf, aggregation: mean}
    """
    loaded = load_task(task(text))
    assert [(m.name, m.aggregation, m.higher_is_better) for m in loaded.metrics] == [
        ("bleu", "bleu", True),
        ("bleu_1", "mean", True),
        ("bleu_2", "bleu", True),
        ("ter", "ter", False),
        ("chrf", "mean", True),
    ]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{metric: exact_mach}", "'exact_mach'. Did you mean 'exact_match'?"),
        ("{metric: exact_match, ignore_cas: true}", "Did you mean 'ignore_case'?"),
        ("{metric: exact_match, regexes_to_ignore: ['(']}", "is not a regular expression"),
        ("{metric: exact_match, aggregation: meen}", "Did you mean 'mean'?"),
        ("{metric: exact_match, aggregation: perplexity}", "Known: mean, bleu, chrf, ter."),
        ("{metric: exact_match, aggregation: bleu}", "cannot be used for 'exact_match'"),
        ("{metric: exact_match, hf_evaluate: true}", "evaluate package"),
        ("{metric: exact_match, repeat_aggregation: majorty}", "Did you mean 'majority'?"),
        ("{metric: exact_match, repeat_aggregation: pas@8}", "Did you mean 'pass@8'?"),
        ("{metric: exact_match, repeat_aggregation: pass}", "pass"),
        ("{metric: exact_match, repeat_aggregation: 'pass@1,2'}", "several metrics; give one k"),
        ("{metric: exact_match, repeat_aggregation: 'pass@*'}", "several metrics; give one k"),
        ("{metric: exact_match, repeat_aggregation: '???'}", "no repeat aggregation named '???'"),
        ("{metric: exact_match, repeat_options: {a: 1}}", "'first' has no option 'a'"),
        (
            "{metric: exact_match, repeat_aggregation: pass@2, repeat_options: {a: 1}}",
            "'pass@2' has no repeat_options",
        ),
    ],
)
def test_wrong_metrics(task, entry, told):
    found = errors(task(f"repeats: 8\nmetric_list:\n  - {entry}"))
    assert len(found) == 1
    assert found[0][0] == 3
    assert told in found[0][1]


def test_a_corpus_metric_cannot_be_of_reduced_repeats(task):
    pytest.importorskip("sacrebleu")
    text = "metric_list:\n  - {metric: bleu, aggregation: bleu, repeat_aggregation: max}"
    assert "use aggregation mean" in errors(task(text))[0][1]


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ("{function: regx}", "no filter named 'regx'. Did you mean 'regex'?"),
        ("{function: regex, pattern: x}", "has no option 'pattern'"),
        ("{function: regex, regex_pattern: '('}", "is not a regular expression"),
        ("{function: take_first_k}", "take_first_k needs k"),
        ("{function: custom}", "filter_fn"),
        ("{function: extract, rules: [{a: b}]}", "extract"),
        ("{function: regex, regex_pattern: 5}", "regex"),
        ("{function: majority_vote}, {function: lowercase}", "must come before majority_vote"),
    ],
)
def test_wrong_filters(task, filters, told):
    found = errors(task(f"filter_list:\n  - name: x\n    filter: [{filters}]"))
    assert len(found) == 1
    assert found[0][0] == 3
    assert told in found[0][1]


def test_two_pipelines_of_one_name(task):
    text = "filter_list:\n  - {name: x, filter: []}\n  - {name: x, filter: []}"
    assert errors(task(text)) == [(3, "two pipelines of filter_list are named 'x'.")]


def test_too_few_repeats_are_a_warning(task):
    text = "repeats: 4\nmetric_list:\n  - {metric: exact_match, repeat_aggregation: pass@8}"
    reading = read_task(task(text))
    assert reading.task is not None
    assert [str(p).split(": ", 1)[1] for p in reading.diagnostics] == [
        "warning: pass@8 looks at 8 repeats of a problem; repeats is 4."
    ]
