"""The site of the documentation: navigation, links, sentences, made pages, and what it loads."""

import doctest
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from passband.stats.data.evidence import CODES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
CODES_PAGE = DOCS / "files-and-codes.md"
MADE = ("commands.md", "python.md", "python-eval.md")
LONGEST = 35  # words of a sentence
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")
FENCED = re.compile(r"^( *)(`{3,})[^`\n]*\n.*?^\1\2`*[ \t]*$", re.MULTILINE | re.DOTALL)
LOADING = re.compile(
    r"""<(?:script|img|iframe|source|object|embed|video|audio)\b[^>]*?\b(?:src|srcset|data)="([^"]*)"
    | <link\b(?=[^>]*\brel="(?:stylesheet|icon|preload|preconnect|dns-prefetch|modulepreload)")
      [^>]*?\bhref="([^"]*)"
    | url\(["']?((?:https?:)?//[^)"']*)
    | @import\s+["']([^"']*)""",
    re.VERBOSE,
)


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


# -- navigation and links --------------------------------------------------------------------


def navigation(entries: list[Any]) -> Iterator[str]:
    """Yield the pages of a navigation, from top to bottom."""
    for entry in entries:
        inner = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(inner, str):
            yield inner
        else:
            yield from navigation(inner)


def test_the_navigation_has_every_page_once() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    listed = sorted(navigation(settings["nav"]))
    assert listed == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


def test_redirects_lead_from_pages_that_are_gone() -> None:
    plugins = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["plugins"]
    (moved,) = (each["redirects"]["redirect_maps"] for each in plugins if "redirects" in each)
    assert all((DOCS / page).is_file() for page in moved.values())
    assert not [page for page in moved if (DOCS / page).exists()]


def headings(page: Path) -> list[str]:
    text = FENCED.sub("", page.read_text("utf-8"))
    return [line.lstrip("#").strip() for line in re.findall(r"^#{1,6} .*$", text, re.MULTILINE)]


def plain(heading: str) -> str:
    """Return the text of a heading in lower case, without marks of links and code."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\s-]", "", text).strip().lower()


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub and the site make alike of a page's headings."""
    texts = [plain(heading) for heading in headings(page)]
    alike = {text.replace(" ", "-") for text in texts} & {re.sub(r"[-\s]+", "-", t) for t in texts}
    return alike | {*re.findall(r'<a id="([^"]+)">', page.read_text("utf-8"))}


def test_links_lead_to_pages_of_the_site_and_to_headings() -> None:
    """Both in the repository and on the site, which has docs/ and nothing else."""
    dead = []
    for page in PAGES:
        for file, anchor in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
            target = (page.parent / file).resolve() if file else page
            alive = target.is_file() and target.is_relative_to(DOCS)
            if not alive or (anchor and anchor not in anchors(target)):
                dead.append(f"{page.relative_to(ROOT)}: {file}#{anchor}")
    assert not dead


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.parent / file).resolve()
        for page in PAGES
        for file, _ in LINK.findall(FENCED.sub("", page.read_text("utf-8")))
        if file and (page.parent / file).resolve() != page
    }
    assert {*PAGES} - linked == {DOCS / "index.md"}


# -- sentences -------------------------------------------------------------------------------

SENTENCE_END = re.compile(r"""(?<=[.!?])["')*]*\s+(?=["'(]*[A-Z0-9`*])""")
IN_SENTENCES = {"code_inline": "`code`", "softbreak": " ", "em_open": "*", "strong_open": "*"}


def sentences(markdown: str) -> Iterator[str]:
    """Yield the sentences of paragraphs and lists; code in them is one word each."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "paragraph_open":
            parts = inline.children or ()
            words = (IN_SENTENCES.get(part.type, part.content) for part in parts)
            yield from SENTENCE_END.split("".join(words))


def test_sentences_are_found() -> None:
    text = "# Not this one\n\nOne, `a b c`\ntwo. *Three* e.g. four!\n\n- five\n\n```\nsix\n```\n"
    assert [each.split() for each in sentences(text)] == [
        ["One,", "`code`", "two."],
        ["*Three", "e.g.", "four!"],
        ["five"],
    ]


def test_no_sentence_is_long() -> None:
    """But in what was measured, and in docstrings and help texts."""
    written = [page for page in PAGES if page.name not in ("measured.md", *MADE)]
    long = [
        f"{page.name}: {sentence}"
        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *written]
        for sentence in sentences(page.read_text("utf-8"))
        if len(sentence.split()) > LONGEST
    ]
    assert not long


# -- pages made from the package -------------------------------------------------------------


@pytest.mark.slow
def test_made_pages_are_up_to_date() -> None:
    import write_pages  # type: ignore[import-not-found]

    made = write_pages.made()
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, text in made.items()
        if not path.is_file() or path.read_text("utf-8") != text
    ]
    assert not stale, "run python tools/write_pages.py, or make pages"


def test_every_code_of_a_note_or_finding_is_listed() -> None:
    listed = {*re.findall(r"^\| `([a-z0-9-]+)` \|", CODES_PAGE.read_text("utf-8"), re.MULTILINE)}
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    code = "\n".join(re.sub(r"^\s*(>>>|\.\.\.) .*", "", text, flags=re.M) for text in sources)
    made = {*re.findall(r"""\bNote\(\s*(?:code=)?"([^"]+)",\s""", code)}
    assert len(made) > 100
    assert made | {*CODES} <= listed


@pytest.mark.parametrize("name", ["api_pages", "code_table", "command_page", "fences"])
def test_examples_of_the_tools(name: str) -> None:
    if name == "fences":
        pytest.importorskip("markdown", reason="Python-Markdown comes with the extra docs")
    assert doctest.testmod(__import__(name)).failed == 0


# -- the built site --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site from a copy of what it is made of."""
    if shutil.which("zensical", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("zensical is not installed; make docs installs it")
    copy = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, copy / "docs")
    shutil.copytree(ROOT / "tools", copy / "tools")
    shutil.copy(ROOT / "mkdocs.yml", copy)
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict"],
        cwd=copy,
        env={"PATH": "", "PYTHONPATH": str(copy / "tools"), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "build" / "site"


class Words(HTMLParser):
    """The words of a page, and the marks of lists, tables and emphasis between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("li", "em", "strong", "td", "th", "h1", "h2", "h3", "table", "ol", "ul"):
            self.words.append(f"<{tag}>")

    def handle_data(self, data: str) -> None:
        self.words += data.replace("¶", " ").split()


@pytest.mark.process
def test_pages_read_the_same_on_github_and_on_the_site(site: Path) -> None:
    github = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for page in PAGES:
        name = page.relative_to(DOCS).with_suffix(".html").as_posix()
        html = (site / name.replace("README.html", "index.html")).read_text("utf-8")
        article = html.partition("<article")[2].partition(">")[2].partition("</article>")[0]
        article = re.sub(r'<span class="filename">.*?</span>|<nav.*?</nav>', "", article)
        expected = "".join(Words(github.render(page.read_text("utf-8"))).words)
        assert "".join(Words(article).words) == expected, name


@pytest.mark.process
def test_the_site_loads_nothing_from_another_host(site: Path) -> None:
    for page in [*site.rglob("*.html"), *site.rglob("*.css")]:
        loaded = ["".join(match) for match in LOADING.findall(page.read_text("utf-8"))]
        assert not [address for address in loaded if re.match(r"(https?:)?//", address)], page.name
        is_redirect = 'http-equiv="refresh"' in page.read_text("utf-8")
        if page.suffix == ".html" and not is_redirect:
            # What the theme's scripts could fetch from elsewhere, the browser refuses.
            assert "default-src 'self'" in page.read_text("utf-8"), page.name


@pytest.mark.parametrize(
    "tag",
    [
        '<script defer src="https://unpkg.com/x">',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img alt="" src="http://example.org/a.png">',
        "body{background:url(https://example.org/b)}",
        '@import "https://example.org/c.css"',
    ],
)
def test_what_another_host_serves_is_recognized(tag: str) -> None:
    found = ["".join(match) for match in LOADING.findall(tag)]
    assert any(re.match(r"(https?:)?//", address) for address in found)
