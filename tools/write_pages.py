"""Write what is made from the package and its results: names, commands, codes, roads; pictures."""

import sys
from pathlib import Path

import api_pages
import architecture_page
import chart_pictures
import code_table
import command_page
import coverage_pictures
import performance_picture

__all__ = ["made", "main"]

ROOT = Path(__file__).resolve().parents[1]


def made() -> dict[Path, str]:
    """Return the text of every made file by its path."""
    files = {ROOT / "docs" / name: text for name, text in api_pages.pages().items()}
    files[code_table.PAGE] = code_table.page()
    files[ROOT / "docs" / "commands.md"] = command_page.page()
    files[ROOT / "ARCHITECTURE.md"] = architecture_page.page()
    pictures = ROOT / "docs" / "pictures"
    files[pictures / "coverage.svg"] = coverage_pictures.by_cell()
    files[pictures / "coverage-by-size.svg"] = coverage_pictures.by_size()
    files[pictures / "performance.svg"] = performance_picture.ratios()
    files |= {pictures / name: text for name, text in chart_pictures.pictures().items()}
    return files


def main() -> None:
    """Write what differs, and say what it was."""
    for path, text in made().items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            print(f"wrote {path.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
