"""Assemble an HTML page in one file: its policy, its style, its script and its data.

What models, servers and other tools wrote is hostile until it is escaped. The page allows one
style sheet and one script, each by its hash, and no request: a text that slipped through as markup
would neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from passband.report.charts.theme import chart_rules, colour_rules
from passband.version import __version__

GENERATOR = "passband report"  #: by which a page is known as one of these
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if code not in (9, 10)}
_CONTROLS |= {0x7F: "\u2421"} | dict.fromkeys(
    (*range(0x80, 0xA0), *range(0xD800, 0xE000)), "\ufffd"
)
_MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Return a text that can be shown: control characters as their pictures, no half characters.

    >>> clean("a\x00b\x1b[2J\r\n\ud800")
    'a␀b␛[2J\n�'
    """
    text = text.replace("\r\n", "\n")
    return text.translate(_CONTROLS) if _UNCLEAN.search(text) else text


def escape(text: object) -> str:
    """Return a text as HTML that shows it and nothing else, also inside an attribute.

    >>> escape('<img src="x">')
    '&lt;img src=&quot;x&quot;&gt;'
    """
    return html.escape(clean(str(text)))


def json_block(data: Any, identifier: str = "data") -> str:
    """Return data as a block of JSON, in which no text can end the block.

    >>> json_block("</script>")
    '<script type="application/json" id="data">"\\\\u003c/script\\\\u003e"</script>'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    safe = (
        "".join(_MARKUP.get(one, one) for one in clean(text)) if _is_markup(text) else clean(text)
    )
    return f'<script type="application/json" id="{escape(identifier)}">{safe}</script>'


def _is_markup(text: str) -> bool:
    return any(sign in text for sign in _MARKUP)


def document(
    title: str,
    body: str,
    *,
    style: str = "",
    script: str | None = None,
    data: Any = None,
    head: str = "",
) -> str:
    """Return a page: `body` is HTML, `title` is text, `style` comes after the page's own.

    `data` is what the script reads, in a block with the id "data". Without a `script`, it is the
    one that opens transcripts. Nothing in `body` may have a style attribute or an event handler:
    the policy of the page turns them away.
    """
    sheet = page_style() + style
    code = page_script() if script is None else script
    block = "" if data is None else json_block(data)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{content_policy([sheet], [code] if code else [])}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="{GENERATOR} {escape(__version__)}">\n'
        f"{head}<title>{escape(title)}</title>\n<style>{sheet}</style>\n</head>\n"
        f"<body>\n{body}\n{block}\n{f'<script>{code}</script>' if code else ''}\n</body>\n</html>\n"
    )


def content_policy(
    styles: Sequence[str], scripts: Sequence[str] = (), others: Sequence[str] = ()
) -> str:
    """Return a content security policy that allows these styles and scripts, and data images.

    `others` are further directives, or others than usual, of a page that a server sends.

    >>> content_policy([], others=["form-action 'self'"])
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'self'"
    """
    rules = ["default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"]
    for directive, texts in (("style-src", styles), ("script-src", scripts)):
        if texts:
            rules.append(f"{directive} {' '.join(map(_hash, texts))}")
    named = {rule.partition(" ")[0]: rule for rule in [*rules, *others]}
    return "; ".join(named.values())


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page_style() -> str:
    """Return the style sheet of every page: colours, charts, and everything else."""
    return colour_rules() + chart_rules() + _resource("page.css")


def page_script() -> str:
    """Return the script that opens transcripts."""
    return _resource("page.js")


@cache
def _resource(name: str) -> str:
    return (files("passband.report.html") / name).read_text("utf-8")
