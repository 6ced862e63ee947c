import pytest

from passband.generate.provider import Sampling
from passband.tasks.file.schema import read_keys
from passband.tasks.file.yaml_file import read_yaml
from passband.tasks.sampling import read_sampling


def read(path):
    file = read_yaml(path)
    keys = read_keys(file)
    assert keys is not None
    return read_sampling(file, keys), file.diagnostics


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Sampling(stop=("\n\n",))),
        ("fewshot_delimiter: '###'", Sampling(stop=("###",))),
        ("generation_kwargs: {temperature: 0.7}", Sampling(temperature=0.7, stop=("\n\n",))),
        ("generation_kwargs: {until: []}", Sampling()),
        ("generation_kwargs: {until: 'Q:'}", Sampling(stop=("Q:",))),
        ("generation_kwargs: {until: ['Q:', 'x', 'Q:', '']}", Sampling(stop=("Q:", "x"))),
        ("generation_kwargs: {until: [], do_sample: false}", Sampling(temperature=0.0)),
        ("generation_kwargs: {until: [], do_sample: true}", Sampling()),
        (
            "generation_kwargs: {until: [], do_sample: false, temperature: 0.5}",
            Sampling(temperature=0.5),
        ),
        ("generation_kwargs: {until: [], temperature: 1e-3}", Sampling(temperature=0.001)),
        ("generation_kwargs: {until: [], top_p: 0.9}", Sampling(top_p=0.9)),
        ("generation_kwargs: {until: [], max_gen_toks: 64}", Sampling(max_tokens=64)),
        ("generation_kwargs: {until: [], max_new_tokens: 64}", Sampling(max_tokens=64)),
        ("generation_kwargs: {until: [], max_tokens: 9, max_gen_toks: 9}", Sampling(max_tokens=9)),
        (
            "generation_kwargs: {until: [], max_completion_tokens: 64}",
            Sampling(max_tokens=64, length_name="max_completion_tokens"),
        ),
        (
            "generation_kwargs: {until: [], top_k: 20, chat_template_kwargs: {thinking: true}}",
            Sampling(extra={"top_k": 20, "chat_template_kwargs": {"thinking": True}}),
        ),
    ],
)
def test_generation_kwargs(task, text, expected):
    assert read(task(text)) == (expected, [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed: 1", "would make all repeats of a problem the same"),
        ("n: 4", "repeats"),
        ("model: another", "the model is that of the run"),
        ("messages: []", "prompts are written by doc_to_text"),
        ("random_seed: 3", "would make all repeats of a problem the same"),
        ("generationConfig: {seed: 3}", "generationConfig.seed: one seed"),
        ("temperature: hot", "temperature must be a number, 0 or more; got 'hot'."),
        ("temperature: -1", "temperature must be"),
        ("temperature: true", "temperature must be"),
        ("top_p: 1.5", "top_p must be a number from 0 to 1; got 1.5."),
        ("do_sample: 'no'", "do_sample must be true or false"),
        ("max_gen_toks: 0", "max_gen_toks must be a whole number"),
        ("max_gen_toks: many", "max_gen_toks must be a whole number"),
        ("max_tokens: 5, max_gen_toks: 6", "are the same setting with different values"),
        ("until: 5", "until must be text or a list of texts"),
        ("until: [5]", "until must be text or a list of texts"),
    ],
)
def test_wrong_generation_kwargs(task, text, told):
    _, problems = read(task(f"generation_kwargs: {{{text}}}"))
    assert [problem.level for problem in problems] == ["error"]
    assert told in problems[0].message


def test_greedy_repeats_are_warned_of(task):
    _, problems = read(task("repeats: 5\ngeneration_kwargs: {do_sample: false}"))
    assert [(problem.level, problem.line) for problem in problems] == [("warning", 2)]
    assert read(task("generation_kwargs: {do_sample: false}"))[1] == []
