"""The strip of problems: its outline, its cells, and the picture of many cells, read back."""

import struct
import zlib

from passband.report.charts.problem_strip import ProblemStrip, problem_strip, two_colour_png
from passband.report.charts.theme import LIGHT, PAGE
from support.samples.chart_samples import marks


def pixels(png: bytes) -> list[str]:
    """Return the rows of a picture of one bit a pixel, decoded by the standard."""
    position, chunks = 8, {}
    while position < len(png):
        size, kind = struct.unpack(">I4s", png[position : position + 8])
        data = png[position + 8 : position + 8 + size]
        crc = png[position + 8 + size : position + 12 + size]
        assert struct.pack(">I", zlib.crc32(kind + data)) == crc
        chunks[kind] = data
        position += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (1, 3)
    raw, step = zlib.decompress(chunks[b"IDAT"]), (width + 7) // 8 + 1
    lines = [raw[row * step + 1 : (row + 1) * step] for row in range(height)]
    return ["".join(f"{byte:08b}" for byte in line)[:width] for line in lines]


def test_a_picture_has_a_pixel_for_each_letter() -> None:
    rows = ["1010101011", "0000000001", "1111111110"]
    assert pixels(two_colour_png(rows)) == rows


def test_problems_are_sorted_easiest_first() -> None:
    strip = problem_strip({"hard": "0001", "lost": "1...", "easy": "1110", "none": "...."})
    assert strip.problems == ("lost", "easy", "hard", "none")
    assert strip.levels == (1.0, 0.75, 0.25, 0.0)
    assert strip.description == "4 problems: 1 always right, 2 sometimes, 1 never."


def test_few_cells_are_shapes_and_many_are_a_mask() -> None:
    few, many = problem_strip(marks(100, 16)), problem_strip(marks(2000, 16))
    assert not few.needs_mask("asked")
    assert many.needs_mask("asked")
    assert not many.needs_mask("stacked")
    assert "<path" in few.strip_svg("asked")
    assert "<path" not in many.strip_svg("asked")
    assert "<image" in problem_strip(marks(2000, 16), order="asked").svg(LIGHT)
    rule = many.mask_rule(".cells")
    assert rule.startswith(".cells{background:var(--blue)")
    assert rule.count("data:image/png;base64,") == 1


def test_the_mask_has_the_marks() -> None:
    strip = problem_strip({"a": "110", "b": "01.", "c": "0"})
    assert pixels(strip.mask_png("asked")) == ["100", "110", "000"]
    assert pixels(strip.mask_png("stacked")) == ["000", "110", "110"]


def test_the_outline_steps_where_the_level_changes() -> None:
    strip = ProblemStrip(("a", "b", "c"), ("1111", "1111", "1000"), (1.0, 1.0, 0.25))
    assert 'd="M0 4V0H2V3H3V4z"' in strip.strip_svg("stacked", PAGE)
