"""Which pager is used, and whether it shows colours."""

import pytest

from passband.cli.output import _passes_colours, pager_command


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({"PAGER": "sh -c cat"}, ["sh", "-c", "cat"]),
        ({"PAGER": ""}, None),
        ({"PAGER": "cat"}, None),
        ({"PAGER": "'unclosed"}, None),
        ({"PAGER": "no-such-pager"}, None),
        ({"PAGER": "sh", "TERM": "dumb"}, None),
    ],
)
def test_the_pager(environment: dict[str, str], command: list[str] | None) -> None:
    assert pager_command({"PATH": "/bin:/usr/bin", **environment}) == command


def test_colours_need_less_to_pass_them() -> None:
    assert _passes_colours(["less"], {})
    assert _passes_colours(["/usr/bin/less"], {"LESS": "-iR"})
    assert not _passes_colours(["less"], {"LESS": "-i"})
    assert _passes_colours(["less", "-R"], {"LESS": "-i"})
    assert not _passes_colours(["more"], {})
