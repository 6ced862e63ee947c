"""Charts as PNG and PDF, by Typst, which the extra `charts` brings."""

from __future__ import annotations

from typing import Literal

from passband.errors import InvalidInput

MISSING = "PNG and PDF need the extra 'charts': pip install 'passband[charts]'."
_PAGE = b"""#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg")
"""
_SHARPNESS = 288.0  # pixels per inch of a PNG: three for each pixel of the drawing


def can_render() -> bool:
    """Return whether PNG and PDF can be made."""
    try:
        import typst  # noqa: F401
    except ImportError:
        return False
    return True


def rendered(svg: str, kind: Literal["png", "pdf"]) -> bytes:
    """Return a stand-alone drawing as a PNG or PDF file, with the fonts of this machine."""
    try:
        import typst
    except ImportError:
        raise InvalidInput(MISSING) from None
    page = typst.compile(_PAGE, format=kind, ppi=_SHARPNESS, sys_inputs={"svg": svg})
    assert isinstance(page, bytes)  # several pages would be a list
    return page
