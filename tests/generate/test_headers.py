import pytest

from passband.errors import InvalidInput
from passband.generate.secrets import hidden_values, read_headers


def test_values_of_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE", " tok-1 \n")
    assert read_headers(["X-A=$GATE", "X-B=${GATE}", "X-C=Bearer $GATE", "X-D=a=$b c"]) == {
        "X-A": "tok-1", "X-B": "tok-1", "X-C": "Bearer tok-1", "X-D": "a=$b c",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["X-Gate"], "without an equals sign"),
        (["sk-secret secret"], "(not a name)"),
        (["X Gate=secret"], "no name of a header"),
        (["X-Gate=secret", "x-gate=secret"], "given twice"),
        (["X-Gate="], "empty"),
        (["X-Gate=secret\r\nX-Other: secret"], "line break"),
        (["X-Gate=" + "secret" * 2000], "longer than"),
        (["Content-Length=secret"], "belongs to"),
        (["Host=secret"], "belongs to"),
        (["X-Gate=$NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE is not set"),
    ],
)
def test_mistakes_are_told_without_the_value(words: list[str], told: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_headers(words)
    assert told in str(error.value)
    assert "secret" not in str(error.value)


def test_a_command_is_shown_without_values() -> None:
    words = ["--header", "--header", "-n", "4", "--header", "a"]
    assert hidden_values(words) == ["--header", "--header=...", "-n", "4", "--header", "a=..."]
