"""A key is found however it is written, and nothing else is touched."""

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passband.generate import secrets
from passband.generate.secrets import Secret, add_secret, redacted, redacted_values

KEY = "sk-proj-a+b/c&d=e%f1234567890"


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_registered", {})


def escaped(key: str, form: str = "\\u{:04x}") -> str:
    return "".join(form.format(ord(character)) for character in key)


WRITTEN = {
    "plain": KEY,
    "json": json.dumps(KEY)[1:-1],
    "slashes": KEY.replace("/", "\\/"),
    "some slashes": KEY.replace("/", "\\/", 1) + " ",
    "u": escaped(KEY),
    "U": escaped(KEY, "\\u{:04X}"),
    "x": escaped(KEY, "\\x{:02x}"),
    "first only": escaped(KEY[0]) + KEY[1:],
    "ampersand of Go": KEY.replace("&", "\\u0026").replace("+", "\\u002B"),
    "twice encoded": json.dumps(escaped(KEY))[1:-1],
    "percent": quote(KEY, safe=""),
    "percent of all": escaped(KEY, "%{:02X}"),
    "html": escaped(KEY, "&#{};"),
    "html, named": html.escape(KEY),
    "html, hexadecimal": escaped(KEY, "&#x{:x};"),
    "hexadecimal": KEY.encode().hex(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "Bearer in base64": base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "user in base64": base64.b64encode(f"me:{KEY}".encode()).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(f"x{KEY}".encode()).decode(),
}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("around", ["{}", '{{"error": "{}!"}}', "<p>{}</p>", "50% \\n {} \\u00e9"])
def test_a_key_is_removed_however_it_is_written(name: str, around: str) -> None:
    text = around.format(WRITTEN[name])
    clean = Secret(KEY).removed_from(text)
    assert "[redacted]" in clean
    assert WRITTEN[name] not in clean
    if text.startswith('{"'):
        assert KEY not in json.loads(clean)["error"]


@given(st.text(), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=16))
def test_other_texts_stay_what_they_are(text: str, key: str) -> None:
    clean = Secret(key).removed_from(text)
    assert clean == text or "[redacted]" in clean


@given(st.text(min_size=1), st.text(), st.text(), st.booleans())
def test_any_key_is_found_in_json(key: str, before: str, after: str, is_ascii: bool) -> None:
    raw = json.dumps({"a": before + key + after}, ensure_ascii=is_ascii)
    clean = Secret(key).removed_from(raw)
    assert json.dumps(key, ensure_ascii=is_ascii)[1:-1] not in clean.replace("[redacted]", "\0")


def test_escapes_of_other_things_are_left_alone() -> None:
    text = r'{"a": "caf\u00e9 100% \u0026 \/ &#38; \u0022"}'
    assert Secret(KEY).removed_from(text) is text


def test_the_quick_look_finds_plain_keys_and_decoded_texts() -> None:
    secret = Secret(KEY)
    assert secret.may_be_in(f"x{KEY}".encode())
    assert secret.may_be_in(base64.b64encode(f"Bearer {KEY}".encode()))
    assert secret.may_be_in(escaped(KEY).encode())
    assert not secret.may_be_in(b'{"content": "42\\n"}')
    assert secret.is_in_texts(None, "", json.loads(f'"{escaped(KEY)}"'))
    assert not secret.is_in_texts(None, "", KEY[1:])


def test_no_key_and_short_keys() -> None:
    assert Secret("").removed_from("%41 \\u0041") == "%41 \\u0041"
    assert not Secret("none").is_long
    assert Secret("none").removed_from("none") == "[redacted]"


def test_keys_of_the_environment_are_known_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("SOME_TOKEN", "short")
    monkeypatch.setenv("PASSBAND_TASKS", "/home/me/tasks/0123456789")
    text = "sk-ant-0123456789 short /home/me/tasks/0123456789"
    assert redacted(text) == "[redacted] short /home/me/tasks/0123456789"


def test_registered_keys_are_removed_from_all_texts_inside() -> None:
    assert redacted_values({"a": [KEY, 1]}) == {"a": [KEY, 1]}
    add_secret(KEY)
    add_secret("none")
    values = {"a": [f"is {KEY}.", None, 3, {"b": "none", KEY: 1}]}
    clean = {"a": ["is [redacted].", None, 3, {"b": "none", "[redacted]": 1}]}
    assert redacted_values(values) == clean
