import pytest

from passband.errors import InvalidInput
from passband.tasks.overrides import read_gen


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("top_k=20", 20),
        ("min_p=0.05", 0.05),
        ("reasoning_effort=low", "low"),
        ('reasoning_effort="low"', "low"),
        ('chat_template_kwargs={"enable_thinking": false}', {"enable_thinking": False}),
        ("temperature=", None),
        ("temperature=null", None),
        ("until=Question:", "Question:"),
        ("until=5", "5"),
        ('until=["a", "b"]', ["a", "b"]),
        ("guided_regex=a=b", "a=b"),
        ("stop_regex=x+", "x+"),
        ("logprobs=true", True),
        ("logprobs=5", 5),
        ("my_own_field=yes please", "yes please"),
        ("min_new_tokens=4", 4),
    ],
)
def test_values(word, value):
    assert read_gen([word]) == {word.partition("=")[0]: value}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["top_k"], "takes key=value"),
        (["=5"], "takes key=value"),
        (["top_k=many"], "'many' is not JSON"),
        (["temperature=hot"], "It must be a number."),
        (["temperature=true"], "must be a number; got 'true'"),
        (["temperature=NaN"], "not JSON"),
        (["my_field=1e999"], "got '1e999'"),
        (["do_sample=no"], "true or false"),
        (["include_reasoning=False"], "Write false."),
        (["my_field=True"], "Write true."),
        (["chat_template_kwargs={enable_thinking: false}"], "is not JSON"),
        (["chat_template_kwargs=false"], "must be an object or a list in JSON"),
        (["my_field={a"], "is not JSON"),
        (["temprature=0.5"], "Did you mean 'temperature'?"),
        (["top-k=5"], "Did you mean 'top_k'?"),
        (["seed=5"], "--no-seed"),
        (["stream=true"], "--stream"),
        (["n=5"], "--batch"),
        (['extra_body={"top_k": 5}'], "fields one by one"),
        (["top_k=5", "top_k=6"], "given twice"),
        (["my_field=" + "x" * 200_000], "longer than"),
        (["my_field=" + "[" * 90_000], "not JSON"),
    ],
)
def test_mistakes(words, told):
    with pytest.raises(InvalidInput) as error:
        read_gen(words)
    assert told in str(error.value)
    assert len(str(error.value)) < 500
