"""The colours of charts, by what they mean: for pages, for files and for notebooks.

A drawing names roles, never colours. The theme turns a role into attributes: on a page into a
class, whose rule in the page's stylesheet takes the colour from a CSS variable (so that one drawing
is light, dark and printed); in a file or a notebook into the colour itself, because renderers of
files know no CSS variables and notebooks have no stylesheet of ours. No `style` attribute is ever
written: a page with a strict Content-Security-Policy would ignore it.

Blue is "at least one, right", orange is "all"; each has an outer band. Never green and red.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Theme:
    """Colours by role. A colour is as in SVG, perhaps with an opacity: "currentColor .65"."""

    text: str
    muted: str
    background: str
    rule: str
    panel: str
    blue: str
    blue_outer: str
    orange: str
    orange_outer: str
    empty: str  #: not right
    wrong: str  #: the text of a wrong answer

    @property
    def on_page(self) -> bool:
        """Whether colours come from the stylesheet of the page."""
        return self.text.startswith("var(")

    @property
    def in_file(self) -> bool:
        """Whether a drawing is a file of its own, with background and font."""
        return not self.on_page and self.text != "currentColor"

    def paint(self, fill: str | None, stroke: str | None) -> dict[str, str]:
        """Return the attributes of a shape filled and outlined in the given roles.

        >>> PAGE.paint("blue_outer", None), LIGHT.paint("blue", "text")
        ({'class': 'f-blue-outer'}, {'fill': '#0067a5', 'stroke': '#1b1f24'})
        """
        if self.on_page:
            return {"class": " ".join(_classes(fill, stroke))}
        return {**self._colour("fill", fill), **self._colour("stroke", stroke)}

    def _colour(self, attribute: str, role: str | None) -> dict[str, str]:
        if role is None:
            return {"fill": "none"} if attribute == "fill" else {}
        colour, _, opacity = (role if role == "none" else getattr(self, role)).partition(" ")
        return {attribute: colour} | ({f"{attribute}-opacity": opacity} if opacity else {})


def _classes(fill: str | None, stroke: str | None) -> list[str]:
    """Return the classes of a shape's roles; unfilled shapes get one too."""
    roles = [("f", fill or "none")] + ([("s", stroke)] if stroke else [])
    return [f"{letter}-{role.replace('_', '-')}" for letter, role in roles]


def _variable(role: str) -> str:
    return f"--{role.replace('_', '-')}"


LIGHT = Theme(
    text="#1b1f24",
    muted="#5b6570",
    background="#ffffff",
    rule="#d9dee3",
    panel="#f4f6f8",
    blue="#0067a5",
    blue_outer="#9cc9e6",
    orange="#c2550a",
    orange_outer="#f0c39b",
    empty="#e6eaee",
    wrong="#a3271b",
)
DARK = Theme(
    text="#e8eaed",
    muted="#9aa4ae",
    background="#14171a",
    rule="#333a41",
    panel="#1c2025",
    blue="#6bb8ea",
    blue_outer="#24506d",
    orange="#f0a35e",
    orange_outer="#6b4320",
    empty="#272d33",
    wrong="#ff9b8f",
)
# Middle tones, which have at least 3.8 : 1 on white and on the dark backgrounds of notebooks.
NOTEBOOK = Theme(
    text="currentColor",
    muted="currentColor .7",
    background="none",
    rule="currentColor .2",
    panel="currentColor .06",
    blue="#1880c2",
    blue_outer="#1880c2 .4",
    orange="#c96611",
    orange_outer="#c96611 .4",
    empty="currentColor .12",
    wrong="#d9534a",
)
ROLES = tuple(field.name for field in fields(Theme))
PAGE = Theme(**{role: f"var({_variable(role)})" for role in ROLES})


def colour_rules() -> str:
    """Return the CSS variables of a page: light, dark where the reader prefers it, light in print.

    >>> print(colour_rules().splitlines()[0][:40])
    :root{color-scheme:light dark;--text:#1b
    """
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    return f":root{{color-scheme:light dark;{_variables(LIGHT)}}}\n{dark}\n"


def _variables(theme: Theme) -> str:
    return ";".join(f"{_variable(role)}:{getattr(theme, role)}" for role in ROLES)


def chart_rules() -> str:
    """Return the rules of the classes that charts on a page have.

    >>> print(chart_rules().splitlines()[0])
    svg.chart{display:block;max-width:100%;height:auto}
    """
    rules = ["svg.chart{display:block;max-width:100%;height:auto}", ".chart .f-none{fill:none}"]
    for role in ROLES:
        name, colour = role.replace("_", "-"), getattr(PAGE, role)
        rules.append(f".chart .f-{name}{{fill:{colour}}}.chart .s-{name}{{stroke:{colour}}}")
    return "\n".join(rules) + "\n"
