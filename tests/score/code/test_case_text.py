import base64
import json
import os
import pickle
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.errors import InvalidInput
from passband.score.code.problem_tests import unpacked_cases

CASES = [{"input": "1", "output": "2"}]


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


@pytest.mark.parametrize("text", [json.dumps(CASES), packed(json.dumps(CASES)), packed(CASES)])
def test_both_ways_of_writing_them(text: str) -> None:
    assert unpacked_cases(text) == CASES


class Calls:
    """A pickle of this calls a function when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_calls_something_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"a pickle that calls posix\.mkdir; refused"):
        unpacked_cases(packed(Calls(tmp_path / "made")))
    assert not (tmp_path / "made").exists()


@given(
    st.one_of(
        st.text(max_size=60),
        st.binary(max_size=60).map(packed),
        st.binary(max_size=60).map(lambda data: base64.b64encode(zlib.compress(data)).decode()),
    )
)
def test_anything_else_is_an_error_of_the_data(text: str) -> None:
    with suppress(InvalidInput):
        unpacked_cases(text)
