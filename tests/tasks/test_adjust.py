import pytest

from passband.errors import InvalidInput
from passband.generate.problem import Problem
from passband.generate.provider import Message, Sampling
from passband.score.scorer import Reference
from passband.tasks.file.loader import load_task
from passband.tasks.overrides import Overrides, override_tasks
from passband.tasks.task import Task

SHOTS = """
description: "Add. "
num_fewshot: 1
fewshot_config:
  sampler: first_n
"""


def turns(task, place=0):
    return [(message.role, message.content) for message in task.load(None)[place].messages]


def ready_made(*messages, **more):
    problems = [Problem("a", messages, Reference(("2",), None, {}))]
    return Task("own", None, Sampling(), 1, (), (), lambda limit: problems, **more)


def test_no_change_is_the_same_task(task):
    loaded = load_task(task())
    assert Overrides().apply(loaded) is loaded
    assert Overrides(num_fewshot=0, system="").apply(loaded) is loaded


def test_a_system_prompt(task):
    changed = Overrides(system="Be brief.").apply(load_task(task()))
    assert turns(changed) == [("system", "Be brief."), ("user", "1+1")]
    assert changed.spec == {"system": "Be brief."}


def test_a_system_prompt_of_the_file(task):
    loaded = load_task(task("system: Be kind."))
    assert turns(loaded) == [("system", "Be kind."), ("user", "1+1")]
    assert loaded.spec == {"system": "Be kind."}
    assert turns(Overrides(system="Be brief.").apply(loaded))[0] == ("system", "Be brief.")
    without = Overrides(system="").apply(loaded)
    assert turns(without) == [("user", "1+1")]
    assert without.spec == {}


def test_the_number_of_examples(task):
    loaded = load_task(task(SHOTS))
    changed = Overrides(num_fewshot=2).apply(loaded)
    assert turns(changed) == [("user", "Add. 2+2 4\n\n3+3 6\n\n1+1")]
    assert (changed.num_fewshot, changed.spec) == (2, {"num_fewshot": 2})
    assert turns(Overrides(num_fewshot=0).apply(loaded)) == [("user", "Add. 1+1")]
    with pytest.raises(InvalidInput, match="there are only 2 examples"):
        Overrides(num_fewshot=3).apply(loaded).load(None)


def test_examples_as_turns(task):
    changes = Overrides(system="Be brief.", num_fewshot=2, fewshot_as_turns=True)
    changed = changes.apply(load_task(task(SHOTS)))
    assert turns(changed) == [
        ("system", "Be brief.\n\nAdd. "),
        ("user", "2+2"),
        ("assistant", "4"),
        ("user", "3+3"),
        ("assistant", "6"),
        ("user", "1+1"),
    ]
    assert changed.spec == {"num_fewshot": 2, "fewshot_as_turns": True, "system": "Be brief."}


def test_a_prefix_of_the_answer_begins_the_turns(task):
    loaded = load_task(task(SHOTS + "gen_prefix: 'It is'\n"))
    changed = Overrides(fewshot_as_turns=True).apply(loaded)
    assert turns(changed)[2:] == [("assistant", "It is 4"), ("user", "1+1 It is")]


def test_turns_need_answers(task, write):
    path = task(SHOTS)
    write("rows.jsonl", '{"question": "1+1", "answer": "2"}\n{"question": "2+2", "answer": ""}\n')
    with pytest.raises(InvalidInput, match="no target"):
        Overrides(fewshot_as_turns=True).apply(load_task(path)).load(1)


def test_the_digest_of_the_problems_tells_prompts_apart(task):
    loaded = load_task(task(SHOTS))
    changes = [
        Overrides(),
        Overrides(system="Be brief."),
        Overrides(num_fewshot=2),
        Overrides(fewshot_as_turns=True),
    ]
    digests = {change.apply(loaded).load.digest(None) for change in changes}  # type: ignore[attr-defined]
    assert len(digests - {None}) == 4


def test_a_task_with_prompts_of_its_own_gets_a_system_prompt():
    own = ready_made(Message("system", "Old."), Message("user", "1+1"))
    changed = Overrides(system="New.").apply(own)
    assert turns(changed) == [("system", "New."), ("user", "1+1")]
    assert changed.spec == {"system": "New."}
    assert turns(Overrides(system="").apply(own)) == [("user", "1+1")]


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        (Overrides(num_fewshot=2), {}),
        (Overrides(fewshot_as_turns=True), {}),
        (Overrides(system="x"), {"subject": lambda model, connection: None}),
        (Overrides(system="x"), {"config": {"adaptive": {}}}),
    ],
)
def test_what_cannot_be_written_anew_is_refused(changes, more):
    with pytest.raises(InvalidInput, match="ready-made"):
        changes.apply(ready_made(Message("user", "1+1"), **more))


@pytest.mark.parametrize(
    ("gen", "expected"),
    [
        ({"temperature": None}, Sampling(None, 0.9, 64, ("\n",), {"top_k": 5})),
        ({"temperature": 0.5}, Sampling(0.5, 0.9, 64, ("\n",), {"top_k": 5})),
        ({"do_sample": False}, Sampling(0.0, 0.9, 64, ("\n",), {"top_k": 5})),
        ({"do_sample": True}, Sampling(1.0, 0.9, 64, ("\n",), {"top_k": 5})),
        ({"top_p": None, "top_k": None}, Sampling(1.0, None, 64, ("\n",), {})),
        ({"until": None}, Sampling(1.0, 0.9, 64, (), {"top_k": 5})),
        ({"stop": ["a", "b"]}, Sampling(1.0, 0.9, 64, ("a", "b"), {"top_k": 5})),
        ({"max_tokens": None}, Sampling(1.0, 0.9, None, ("\n",), {"top_k": 5})),
        (
            {"max_completion_tokens": 9, "min_p": 0.1},
            Sampling(1.0, 0.9, 9, ("\n",), {"top_k": 5, "min_p": 0.1}, "max_completion_tokens"),
        ),
    ],
)
def test_fields_of_requests(gen, expected):
    sampling = Sampling(1.0, 0.9, 64, ("\n",), {"top_k": 5})
    own = Task("own", None, sampling, 1, (), (), lambda limit: [])
    assert Overrides(gen=gen).apply(own).sampling == expected


@pytest.mark.parametrize(
    ("gen", "told"),
    [
        ({"temperature": -1}, "temperature must be"),
        ({"max_tokens": 0}, "max_tokens must be a whole number"),
        ({"max_tokens": 5, "max_gen_toks": 6}, "same setting with different values"),
        ({"seed": 1}, "the same"),
        ({"top_kk": None}, "no task here sends top_kk. Did you mean 'top_k'?"),
    ],
)
def test_wrong_fields(gen, told):
    own = Task("own", None, Sampling(extra={"top_k": 5}), 1, (), (), list)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput) as error:
        override_tasks([own], Overrides(gen=gen))
    assert told in str(error.value)


def test_a_field_that_inspect_sets_cannot_be_left_out():
    own = ready_made(Message("user", "1+1"), subject=lambda model, connection: None)
    with pytest.raises(InvalidInput, match="not left out"):
        override_tasks([own], Overrides(gen={"temperature": None}))


def test_turns_without_examples_are_refused(task):
    with pytest.raises(InvalidInput, match="Add --num-fewshot N"):
        override_tasks([load_task(task())], Overrides(fewshot_as_turns=True))


@pytest.mark.parametrize("number", [-1, 1.5, "two"])
def test_a_wrong_number_of_examples(number):
    with pytest.raises(InvalidInput, match="num-fewshot must be a whole number"):
        Overrides(num_fewshot=number)
