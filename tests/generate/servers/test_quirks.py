"""Settings that known servers take and do not use."""

from typing import Any

import pytest

from passband.generate.provider import Sampling
from passband.generate.servers.openai import OpenAIServer, ignored_settings, seed_name
from passband.generate.subject import ProviderSubject

DEEPSEEK = "https://api.deepseek.com"
ROUTER = "https://openrouter.ai/api/v1"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.mistral.ai/v1", "random_seed"),
        ("https://codestral.mistral.ai/v1", "random_seed"),
        ("https://notmistral.ai/v1", "seed"),
        ("https://api.openai.com/v1", "seed"),
        ("http://[bad", "seed"),
    ],
)
def test_the_name_of_a_seed(url: str, name: str) -> None:
    assert seed_name(url) == name


@pytest.mark.parametrize(
    ("model", "url", "extra", "words"),
    [
        ("deepseek-v4", DEEPSEEK, {}, ["ignore temperature while they think", "no seed"]),
        ("deepseek-v4", DEEPSEEK, {"thinking": {"type": "disabled"}}, ["no seed"]),
        ("deepseek-chat", DEEPSEEK, {}, ["no seed"]),
        ("deepseek-ai/DeepSeek-R1", "http://gpu:8000/v1", {}, ["may ignore temperature"]),
        ("claude-opus-4-1", "https://api.anthropic.com/v1", {}, ["ignores seed"]),
        ("x/y", ROUTER, {}, ["drops temperature and seed"]),
        ("x/y", ROUTER, {"provider": {"require_parameters": True}}, []),
        ("gpt-4o", "https://api.openai.com/v1", {}, []),
    ],
)
def test_what_is_known_to_be_ignored(
    model: str, url: str, extra: dict[str, Any], words: list[str]
) -> None:
    sentences = ignored_settings(model, url, Sampling(temperature=0.7, extra=extra), seeds=True)
    assert len(sentences) == len(words)
    assert all(word in sentence for word, sentence in zip(words, sentences, strict=True))


def test_what_is_not_sent_is_not_ignored() -> None:
    assert ignored_settings("deepseek-v4", DEEPSEEK, Sampling(), seeds=False) == []


def test_a_subject_passes_on_what_its_provider_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    subject = ProviderSubject(OpenAIServer("deepseek-v4", base_url=DEEPSEEK))
    assert "ignore temperature" in subject.ignored(Sampling(temperature=0.7), seeds=False)[0]
    assert (subject.notes, subject.config) == ([], {})
