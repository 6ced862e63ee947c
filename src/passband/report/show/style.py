"""How text is set on a terminal, or on none: width, emphasis, and which characters it has."""

from __future__ import annotations

from dataclasses import dataclass

_RESET = "\x1b[0m"
_CODES = {
    "heading": "\x1b[1m",
    "label": "\x1b[2m",
    "right": "\x1b[34m",
    "wrong": "\x1b[31m",
    "odd": "\x1b[33m",
    "mark": "\x1b[1;4m",
    "removed": "\x1b[31m",
    "added": "\x1b[34m",
}


@dataclass(frozen=True)
class TerminalStyle:
    """The width of lines in columns, and whether colours and characters beyond ASCII show."""

    width: int = 80
    colour: bool = False
    unicode: bool = True

    def set(self, text: str, kind: str) -> str:
        """Return text in the emphasis of its kind; as it is where there are no colours.

        >>> TerminalStyle().set("wrong", "wrong"), TerminalStyle(colour=True).set("no", "wrong")
        ('wrong', '\\x1b[31mno\\x1b[0m')
        """
        return f"{_CODES[kind]}{text}{_RESET}" if self.colour and text else text

    @property
    def rule(self) -> str:
        """The character that lines are drawn with."""
        return "\u2500" if self.unicode else "-"

    @property
    def ellipsis(self) -> str:
        """The mark of text that is left out."""
        return "\u2026" if self.unicode else "..."
