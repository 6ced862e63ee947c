"""A page: its policy names exactly what it runs, and no text becomes markup."""

import base64
import hashlib
import json
import re

from passband.report.html.document import clean, content_policy, document, escape, json_block

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\u202e\x1b[2J\x00\ud800<!--"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_has_the_hash_of_the_one_style_and_the_one_script() -> None:
    page = document("a title", "<main></main>", style=".own{}")
    policy = re.search(r'Security-Policy" content="([^"]*)"', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert f"style-src {_hash(style)}" in policy[1]
    assert f"script-src {_hash(script)}" in policy[1]
    assert style.endswith(".own{}")
    assert "unsafe" not in policy[1]
    assert "http:" not in page.replace("http-equiv", "")


def test_a_page_without_a_script_allows_none() -> None:
    page = document("a title", "", script="")
    assert "script-src" not in page
    assert "<script" not in page
    assert "connect-src 'self'" in content_policy([], [], ["connect-src 'self'"])


def test_hostile_text_stays_text_in_the_title_the_body_and_the_data() -> None:
    page = document(HOSTILE, f"<p>{escape(HOSTILE)}</p>", data={"text": clean(HOSTILE)})
    page.encode()  # no half characters are left
    assert "<img" not in page
    assert page.count("</script>") == 2
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert json.loads(block) == {"text": clean(HOSTILE)}


def test_data_are_checked_to_be_json() -> None:
    assert json_block([1, None, "ü"]) == (
        '<script type="application/json" id="data">[1,null,"ü"]</script>'
    )
