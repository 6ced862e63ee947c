from pathlib import Path

import pytest

from passband.tasks.file.schema import IGNORED, REFUSED, TaskKeys, read_keys
from passband.tasks.file.yaml_file import read_yaml

# Every key of a generate_until task of lm-evaluation-harness 0.4.13, and of its few-shot settings.
_NAMES = """
    task task_alias tag custom_dataset dataset_path dataset_name dataset_kwargs training_split
    validation_split test_split fewshot_split process_docs doc_to_text doc_to_target doc_to_image
    doc_to_audio unsafe_code doc_to_choice process_results use_prompt description target_delimiter
    fewshot_delimiter fewshot_config num_fewshot metric_list output_type generation_kwargs repeats
    filter_list should_decontaminate doc_to_decontamination_query gen_prefix metadata
"""
LM_EVAL = set(_NAMES.split())


def problems(path: Path) -> list[str]:
    file = read_yaml(path)
    read_keys(file)
    return [f"{problem.line}: {problem.message}" for problem in file.diagnostics]


def test_every_key_of_lm_eval_is_known():
    known = {*TaskKeys.model_fields, *IGNORED, *REFUSED}
    assert not LM_EVAL - known
    assert not set(IGNORED) & set(TaskKeys.model_fields)


def test_defaults_are_those_of_lm_eval(task):
    keys = read_keys(read_yaml(task()))
    assert keys is not None
    assert (keys.target_delimiter, keys.fewshot_delimiter, keys.description) == (" ", "\n\n", "")
    assert (keys.repeats, keys.num_fewshot, keys.output_type) == (1, 0, "generate_until")
    assert keys.fewshot_config.sampler == "default"


def test_null_is_not_given(task):
    keys = read_keys(read_yaml(task("repeats:\nfilter_list: null\nfewshot_config: {split: null}")))
    assert keys is not None
    assert (keys.repeats, keys.filter_list, keys.fewshot_config.split) == (1, None, None)


def test_keys_without_effect_are_accepted(task):
    text = "\n".join(f"{key}: x" for key in IGNORED)
    assert problems(task(text)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("metric_lst: []", "unknown key 'metric_lst'. Did you mean 'metric_list'?"),
        ("repeat: 5", "unknown key 'repeat'. Did you mean 'repeats'?"),
        ("zzzz: 5", "unknown key 'zzzz'."),
        ("class: x", "class: a task that is a Python class cannot be read"),
        ("use_prompt: x", "promptsource"),
        ("doc_to_image: [x]", "images"),
        ("doc_to_audio: x", "sound"),
        ("output_type: multiple_choice", "output_type 'multiple_choice' needs likelihoods"),
        ("repeats: many", "repeats must be a whole number, 1 or more; got 'many'."),
        ("repeats: 0", "repeats must be a whole number, 1 or more; got 0."),
        ("repeats: 2.5", "repeats must be"),
        ("repeats: true", "repeats must be"),
        ("num_fewshot: -1", "num_fewshot must be a whole number, 0 or more; got -1."),
        ("task: [a]", "task must be text; got ['a']."),
        ("gen_prefix: 5", "gen_prefix must be text"),
        ("description: 5", "description must be a column, a template or a !function; got 5."),
        ("doc_to_choice: 5", "doc_to_choice must be a list"),
        ("process_docs: utils.f", "process_docs must be a !function; got 'utils.f'."),
        ("process_results: utils.f", "process_results must be a !function"),
        ("generation_kwargs: [a]", "generation_kwargs must be a mapping; got ['a']."),
        ("metadata: 5", "metadata must be a mapping"),
        ("truncated: drop", "truncated must be leave or score; got 'drop'."),
        ("metric_list: exact_match", "metric_list must be a list; got 'exact_match'."),
        ("metric_list: [exact_match]", "metric_list must be a mapping; got 'exact_match'."),
        ("metric_list: [{aggregation: mean}]", "metric_list: the key 'metric' is missing."),
        ("metric_list: []", "metric_list is empty"),
        ("metric_list: [{metric: x, 5: y}]", "a key must be text"),
        ("metric_list: [{metric: x, higher_is_better: 1}]", "higher_is_better must be true or"),
        ("filter_list: [{name: x}]", "filter_list: the key 'filter' is missing."),
        ("filter_list: [{name: x, filter: [regex]}]", "filter_list.filter must be a mapping"),
        ("filter_list: [{name: x, filter: [{k: 1}]}]", "the key 'function' is missing"),
        ("filter_list: [{name: x, filter: [], fliter: 1}]", "unknown key 'fliter' in filter_list"),
        ("fewshot_config: {sampler: random}", "sampler must be default or first_n"),
        ("fewshot_config: {sampels: []}", "unknown key 'sampels' in fewshot_config. Did you mean"),
        ("fewshot_config: {samples: [x]}", "fewshot_config.samples must be a list of mappings"),
        ("fewshot_config: {fewshot_indices: [-1]}", "fewshot_indices must be a list of row"),
    ],
)
def test_what_is_wrong_is_told(task, text, told):
    found = problems(task(text))
    assert len(found) == 1
    assert found[0].startswith("1: ")
    assert told in found[0]


def test_what_is_missing_is_told(write):
    found = problems(write("t.yaml", "task: x\n"))
    assert [told.split(" is missing")[0] for told in found] == [
        "1: dataset_path",
        "1: doc_to_text",
        "1: doc_to_target",
    ]


def test_everything_is_told_at_once(task):
    text = """
        metric_lst: []
        repeats: 0
        class: x
        metric_list:
          - aggregation: mean
          - metric: 5
    """
    assert [told.split(":")[0] for told in problems(task(text))] == ["1", "3", "2", "5", "6"]
