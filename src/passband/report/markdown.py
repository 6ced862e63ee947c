"""Text as a cell of a Markdown table (GFM): shown as it is, and nothing in it is obeyed."""

from __future__ import annotations

import re

# Escaped only where they would mean something, so that names of models stay readable.
_OBEYED = re.compile(
    r"(?P<interval>\[-?[0-9.]+, -?[0-9.]+\](?![(\[]))"  # no link, so it stays as it is
    r"|[\\`*{}\[\]<|~$]"
    r"|&(?=[#a-z])"  # an entity
    r"|_(?![a-z0-9])|(?<![a-z0-9])_"  # within a word it is a letter
    r"|(?<=mailto):|(?<=xmpp):|:(?=/)|(?<=/)/|(?<=www)\.|\.(?=[^\W\d_])",  # a bare link
    re.IGNORECASE,
)
_OUTER_SPACES = re.compile(r"^ +| +$")  # which a cell would lose


def markdown_text(text: str) -> str:
    r"""Escape printable text such that a cell shows exactly it, without links or HTML.

    >>> print(markdown_text(r"a\|b <i> [x](http://y.org) gpt-4.1 large_2"))
    a\\\|b \<i> \[x\](http\:/\/y\.org) gpt-4.1 large_2
    """
    inert = _OBEYED.sub(lambda sign: sign[0] if sign["interval"] else f"\\{sign[0]}", text)
    return _OUTER_SPACES.sub(lambda spaces: "&#32;" * len(spaces[0]), inert)
