import pytest

from passband.generate.usage import Tokens, shared_usage


def counted(prompt=5, completion=7, total=None, **more):
    totals = {} if total is None else {"total_tokens": total}
    return {"prompt_tokens": prompt, "completion_tokens": completion, **totals, **more}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Tokens()),
        ([], Tokens()),
        ({}, Tokens()),
        (counted(), Tokens(5, 7)),
        (counted(completion_tokens_details={"reasoning_tokens": 3}), Tokens(5, 7, 3)),
        (counted(completion_tokens_details={"reasoning_tokens": 0}), Tokens(5, 7, 0)),
        (counted(completion_tokens_details=None), Tokens(5, 7)),
        (counted(reasoning_tokens=3), Tokens(5, 7, 3)),  # SGLang
        (counted(total=12), Tokens(5, 7)),
        (counted(total=20), Tokens(5, 15, 8)),  # Gemini: thoughts are in the total alone
        (counted(total=2), Tokens(5, 7)),
        (counted(prompt=-1, completion=True), Tokens()),
        (counted(prompt="5", completion=2**60), Tokens()),
    ],
)
def test_the_tokens_of_one_completion(usage, expected):
    assert shared_usage(usage, ["x"]) == [expected]


def test_shares_add_up():
    usage = counted(completion=100, completion_tokens_details={"reasoning_tokens": 31})
    shares = shared_usage(usage, ["a" * 7, "", None, "b" * 90])
    assert [share.prompt for share in shares] == [5, 0, 0, 0]
    assert sum(share.completion or 0 for share in shares) == 100
    assert sum(share.reasoning or 0 for share in shares) == 31
