"""Let Python-Markdown read the fences of the documentation, a Markdown extension for mkdocs.yml.

The words after the language tell the tests what to do with a block (tests/test_docs.py), and GitHub
ignores them; Python-Markdown does not see a fence that has them. Here they are removed: a word
``file=NAME`` becomes the title of the block, and Python with prompts is marked as a session.
"""

import re
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

__all__ = ["FenceExtension", "makeExtension", "plain_fences"]

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
BEFORE_FENCES_ARE_READ = 28  # superfences reads them at 25, after white space is normalized at 30


def plain_fences(lines: list[str]) -> list[str]:
    """Return the lines with opening fences that name a language and perhaps a title.

    >>> plain_fences(["```console fails", "$ false", "```"])
    ['```console', '$ false', '```']
    >>> plain_fences(["```yaml file=a.yaml", "x: 1", "```"])[0]
    '```yaml title="a.yaml"'
    >>> plain_fences(["```python", ">>> 1", "1", "```"])[0]
    '```pycon'
    """
    plain, open_ticks = [], ""
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence is None or (open_ticks and (fence["info"].strip() or fence["ticks"] < open_ticks)):
            plain.append(line)
        elif open_ticks:
            plain.append(line)
            open_ticks = ""
        else:
            following = lines[number + 1] if number + 1 < len(lines) else ""
            plain.append(fence["indent"] + fence["ticks"] + _info(fence["info"], following))
            open_ticks = fence["ticks"]
    return plain


def _info(info: str, following: str) -> str:
    language, *words = info.split() or [""]
    if language == "python" and following.lstrip().startswith(">>> "):
        language = "pycon"
    names = [word.removeprefix("file=") for word in words if word.startswith("file=")]
    return f'{language} title="{names[0]}"' if names else language


class _PlainFences(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return plain_fences(lines)


class FenceExtension(Extension):
    """Register the preprocessor."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Add it before the one that reads fences."""
        md.preprocessors.register(_PlainFences(md), "plain_fences", BEFORE_FENCES_ARE_READ)


def makeExtension(**options: Any) -> FenceExtension:  # noqa: N802
    """Return the extension; Python-Markdown looks for this name."""
    return FenceExtension(**options)
