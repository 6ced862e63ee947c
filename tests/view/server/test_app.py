"""The pages of a viewer: what they show, whatever is in a store and whatever becomes of it."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from passband.trials.encoding import canonical_json
from passband.trials.file.schema import STORE_FILE, corrupt_store
from passband.trials.query.search import Search
from passband.trials.reader import Trials
from passband.trials.rows import ProblemRow, ScorerEntry, ScoreRow, TrialRow
from support.samples.stores import begin, filled, problem, writing
from support.servers.viewing import Viewing, viewing

EVIL = "</script></pre><img src=x onerror=alert(1)><!--"
WINS = [[1, 1, 1], [1, 0, 1], [0, 0, 0]] * 30  # 270 trials: six pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    filled(folder / "a", WINS)
    filled(folder / "b", [[1, 1, 1], [1, 1, 1], [0, 0, 1]] * 30)
    return folder


@pytest.fixture(scope="module")
def viewer(folder: Path) -> Iterator[Viewing]:
    with viewing(folder) as viewer:
        yield viewer


def test_runs_are_listed_with_their_estimates(viewer: Viewing) -> None:
    page = viewer.ask("").page
    assert "sums by tiny" in page.words
    assert "270 trials" in page.words
    assert "0.556 [" in page.words
    assert len([tag for tag, of in page.elements if tag == "svg"]) == 2


def test_a_run_shows_estimates_problems_and_trials(viewer: Viewing) -> None:
    page = viewer.ask("runs/a/1").page
    assert "complete · 270 trials · nothing failed" in page.words
    assert "pass^3" in page.words
    assert "Outer bar" in page.words
    assert "90 problems: 30 always right, 30 sometimes, 30 never." in page.words
    assert "right 150 wrong 120" in page.words
    assert len([of for tag, of in page.elements if tag == "a" and of.get("tabindex")]) == 90


@pytest.mark.parametrize(("show", "count"), [("all", 270), ("wrong", 120), ("right", 150)])
def test_pages_lead_through_every_trial_once(viewer: Viewing, show: str, count: int) -> None:
    seen: list[str] = []
    path, paths = f"{viewer.view.home}runs/a/1/trials?show={show}", []
    while path:
        page = viewer.ask(path).page
        rows = [link for link in page.links() if "/trial/" in link]
        assert len(rows) <= 50
        seen += rows
        paths.append(rows)
        path = next(iter(page.links(rel="next")), "")
        last = page
    assert len(seen) == len(set(seen)) == count
    (back,) = last.links(rel="prev")
    assert [link for link in viewer.ask(back).page.links() if "/trial/" in link] == paths[-2]


def test_keys_lead_to_wrong_trials(viewer: Viewing) -> None:
    page = viewer.ask("runs/a/1/problem/1/trial/0").page
    (wrong,) = page.links(data_key="n")
    assert wrong.endswith("/problem/1/trial/1")
    assert not page.links(data_key="p")
    (following,) = page.links(data_key="j")
    assert following.endswith("/problem/1/trial/1")
    assert [of for tag, of in page.elements if tag == "mark"] == [{}]


def test_slow_and_long_trials_come_first(viewer: Viewing) -> None:
    for show in ("slow", "long"):
        answer = viewer.ask(f"runs/a/1/trials?show={show}")
        while "http-equiv" in answer.text:  # still looking
            answer = viewer.ask(f"runs/a/1/trials?show={show}")
        assert len([link for link in answer.page.links() if "/trial/" in link]) == 50


def test_a_text_is_found_whatever_its_case(viewer: Viewing) -> None:
    page = viewer.ask("runs/a/1/search?q=ANSWER+is+0").page
    assert "Found in 120 trials; 270 completions searched." in page.words
    assert [of for tag, of in page.elements if tag == "mark"] == [{}] * 120
    assert "Found in 0 trials; 270" in viewer.ask("runs/a/1/search?q=nothing").page.words


def test_two_trials_differ_in_words(viewer: Viewing) -> None:
    page = viewer.ask("runs/a/1/problem/1/diff/0/1").page
    assert "The answer is 10." in page.words
    assert {"ins", "del"} <= {tag for tag, _ in page.elements}


def test_two_runs_are_compared(viewer: Viewing) -> None:
    page = viewer.ask("compare?a=a/1&b=b/1").page
    assert "pass@1 goes from 0.556 to 0.778: +0.222" in page.words
    assert "better" in page.words
    flips = [link for link in page.links() if "/problem/" in link]
    assert {link.split("/")[3] for link in flips} <= {"a", "b"}
    assert viewer.ask("compare?a=a/1&b=a/1").status == 400


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("runs/nothing/1", 404),
        ("runs/a/7", 400),
        ("runs/a/x", 400),
        ("runs/a/1/problem/999", 400),
        ("runs/a/1/problem/1/trial/999", 400),
        ("runs/a/1/problem/999/trial/0", 400),
        ("runs/a/1/problem/1/diff/0/999", 400),
        ("runs/a/1/problem/1/diff/0/0", 400),
        ("runs/a/1/trials?show=wrnog", 400),
        ("runs/a/1/trials?after=x", 400),
        ("runs/a/1/problems?start=1" + "0" * 30, 400),
        ("runs/a/1/problems?start=10000", 200),
        ("runs/a/1/problem/1_0", 400),
        ("runs/a/%D9%A1", 400),
        ("?start=10000", 200),
        ("runs/a/1/problem/" + "9" * 5000, 400),
        ("compare", 400),
        ("what", 404),
    ],
)
def test_what_is_not_there_has_a_page(viewer: Viewing, path: str, status: int) -> None:
    answer = viewer.ask(path)
    assert answer.status == status
    assert "Traceback" not in answer.text
    assert "int()" not in answer.page.words
    if status == 200:  # from beyond the end one comes back to the last ones
        assert any("/runs/" in link for link in answer.page.links())


def test_a_flip_is_written_like_its_metric(viewer: Viewing) -> None:
    words = viewer.ask("compare?a=a/1&b=b/1").page.words
    assert "+0.222[" in words
    assert "0.667" in words


def test_a_search_is_for_a_text_and_no_pattern(viewer: Viewing) -> None:
    for wanted in ("%25", "_", "%27%22", ".*", "%00", "x" * 7000):
        assert "Found in 0 trials" in viewer.ask(f"runs/a/1/search?q={wanted}").page.words
    assert len(viewer.ask("runs/a/1/search").page.links()) == 2


def test_a_reader_does_not_reorder_the_runs(viewer: Viewing) -> None:
    first = viewer.ask("").page.links()
    viewer.ask(first[-1])
    viewer.view._index._listed_at = float("-inf")
    assert viewer.ask("").page.links() == first


def test_reading_changes_nothing(folder: Path, viewer: Viewing) -> None:
    before = hashlib.sha256((folder / "a" / STORE_FILE).read_bytes()).digest()
    for path in ("", "runs/a/1", "runs/a/1/trials?show=slow", "runs/a/1/search?q=is"):
        viewer.ask(path)
    assert hashlib.sha256((folder / "a" / STORE_FILE).read_bytes()).digest() == before
    assert (folder / "a" / f"{STORE_FILE}-wal").stat().st_size == 0


# -- what others wrote ---------------------------------------------------------------------


def planted(directory: Path, text: str, reasoning: str | None = None) -> Path:
    """Make a run in which everything that others name is hostile."""
    record = {"messages": [["user", EVIL]], "targets": [EVIL], "choices": [EVIL]}
    with writing(directory) as store:
        run = store.begin(EVIL, f"{EVIL}\u202e", spec={}, config={"metrics": []}, name="x")
        store.add_problems(run, [ProblemRow(0, EVIL, canonical_json(record | {"doc": {}}), None)])
        (scorer,) = store.set_scorers(run, [ScorerEntry(EVIL, "exact")])
        rows = [
            TrialRow(0, trial, "ok", f"{trial}{text}", reasoning, finish_reason=EVIL,
                     scores=[ScoreRow(scorer, 0.0, "ok", EVIL, EVIL, EVIL)])
            for trial in range(2)
        ]  # fmt: skip
        store.append(run, rows)
    return directory


def test_no_text_is_markup(tmp_path: Path) -> None:
    planted(tmp_path / f"runs<img {EVIL.replace('/', '')}", EVIL, EVIL)
    planted(tmp_path / "other", EVIL)
    with viewing(tmp_path) as viewer:
        home = viewer.ask("").page
        run = next(link for link in home.links() if "img" in link)
        paths = ["", run, f"{run}/trials", f"{run}/problem/0", f"{run}/problem/0/trial/1",
                 f"{run}/problem/0/trial/1/text", f"{run}/problem/0/diff/0/1", f"{run}/problems",
                 f"{run}/search?q=onerror", f"{run}/search?q=%3Cimg+src%3Dx%3E"]  # fmt: skip
        names = [link.split("/", 3)[3] for link in (run, "/x/runs/other/1")]
        paths.append(f"compare?a={names[0]}&b={names[1]}")
        for path in paths:
            page = viewer.ask(path).page
            kinds = [tag for tag, _ in page.elements]
            assert "img" not in kinds, path
            assert kinds.count("script") == 1, path
            handlers = [k for _, of in page.elements for k in of if k.startswith("on")]
            assert not handlers
            assert "style" not in {k for _, of in page.elements for k in of}
        assert "onerror" in viewer.ask(f"{run}/problem/0/trial/1").page.words


def test_texts_of_any_direction_stay_in_their_place(tmp_path: Path) -> None:
    planted(tmp_path / "a", "\u05e9\u05dc\u05d5\u05dd \u202e\x00\ud800")
    with viewing(tmp_path) as viewer:
        page = viewer.ask("runs/a/1/problem/0/trial/0").page
    texts = [of for tag, of in page.elements if tag == "pre"]
    assert texts
    assert all(of.get("dir") == "auto" for of in texts)
    assert "\u05e9\u05dc\u05d5\u05dd" in page.words


def test_ten_megabytes_are_shown_in_parts(tmp_path: Path) -> None:
    planted(tmp_path / "a", "long text " * 1_000_000 + "the end")
    with viewing(tmp_path) as viewer:
        answer = viewer.ask("runs/a/1/problem/0/trial/0")
        assert len(answer.text) < 200_000
        assert "9,960,008 characters left out" in answer.page.words
        (whole,) = [link for link in answer.page.links() if "/text" in link]
        assert len(viewer.ask("runs/a/1/trials").text) < 50_000
        first = viewer.ask(whole)
        assert len(first.text) < 300_000
        assert "part 1 of 51" in first.page.words
        last = viewer.ask(whole.replace("part=0", "part=50"))
        assert "the end" in last.page.words
        assert "left out" in viewer.ask("runs/a/1/problem/0/diff/0/1").page.words


# -- what becomes of runs ------------------------------------------------------------------


def test_a_damaged_run_says_what_to_do_and_harms_no_other(tmp_path: Path) -> None:
    for name in ("good", "bad", "torn"):
        filled(tmp_path / name, [[1, 0], [0, 1], [1, 1]])
    store = tmp_path / "bad" / STORE_FILE
    data = store.read_bytes()
    store.write_bytes(data.replace(b"The answer is 0.", b"Tee answer is 0."))
    (tmp_path / "torn" / STORE_FILE).write_bytes(data[:4096])
    with viewing(tmp_path) as viewer:
        assert "salvage" in viewer.ask("").page.words
        torn = viewer.ask("runs/torn/1")
        assert torn.status == 500
        assert "passband salvage" in torn.page.words
        assert "Other runs can be looked at" in torn.page.words
        assert viewer.ask("runs/good/1").status == 200
        assert "is not what was written" in viewer.ask("runs/bad/1/problem/0/trial/1").page.words
        assert viewer.ask("runs/bad/1/problem/0/trial/0").status == 200


def test_an_empty_folder_says_how_to_fill_it(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with viewing(tmp_path / "empty", tmp_path / "none") as viewer:
        assert "passband run" in viewer.ask("").page.words


def test_runs_come_and_go_while_the_viewer_is_open(tmp_path: Path) -> None:
    filled(tmp_path / "a", [[1, 0], [0, 1]])
    with viewing(tmp_path) as viewer:
        viewer.ask("")
        filled(tmp_path / "deep" / "b", [[1, 0], [0, 1]])
        assert viewer.ask("runs/deep-b/1").status == 200
        shutil.rmtree(tmp_path / "a")
        assert viewer.ask("runs/a/1").status == 404
        assert viewer.ask("runs/deep-b/1").status == 200
        filled(tmp_path / "a", [[1, 1], [1, 1]])
        assert "1.0" in viewer.ask("runs/a/1").page.words


def test_a_run_without_trials_or_scores_has_a_page(tmp_path: Path) -> None:
    with writing(tmp_path / "a") as store:
        begin(store)
        store.begin("more", "tiny", spec={}, config={"metrics": []}, name="more")
    with writing(tmp_path / "c") as store:
        run, _ = begin(store, [problem(0)], scorers=[])
        store.append(run, [TrialRow(0, 0, "gave_up"), TrialRow(0, 1, "refused", "No.")])
    with viewing(tmp_path) as viewer:
        assert "no trial is recorded yet" in viewer.ask("runs/a/1").page.words
        assert viewer.ask("runs/a/2").status == 200
        page = viewer.ask("runs/c/1").page
        assert "1 refused, 1 gave up" in page.words
        assert "no scorer has been used" in page.words
        assert len([link for link in viewer.ask("runs/c/1/trials?show=refused").page.links()
                    if "/trial/" in link]) == 1  # fmt: skip
        assert viewer.ask("runs/c/1/problem/0/trial/0").status == 200


def test_numbers_move_while_a_run_is_written(tmp_path: Path) -> None:
    filled(tmp_path / "a", [[1, 0], [0, 1], [1, 1]])
    with viewing(tmp_path) as viewer, viewer.open(f"{viewer.view.home}runs/a/1/events") as stream:
        first = next_message(stream)
        assert first["done"] == "6 trials"
        assert first["bar pass@1"].startswith("<svg")
        with Trials(tmp_path / "a") as trials:
            scorer = trials.run().scorers[0].number
        with writing(tmp_path / "a") as store:
            row = TrialRow(0, 2, "ok", "1", scores=[ScoreRow(scorer, 1.0, "ok", "1", "x")])
            store.append(1, [row])
        message = next_message(stream)
        assert message["done"] == "7 trials"
        assert set(message) < set(first)  # only what has changed


def test_the_list_of_runs_moves_too(tmp_path: Path) -> None:
    filled(tmp_path / "a", [[1, 0], [0, 1], [1, 1]])
    with viewing(tmp_path) as viewer, viewer.open(f"{viewer.view.home}events") as stream:
        assert next_message(stream)["runs"] == "a/1"
        filled(tmp_path / "b", [[1, 0], [0, 1]])
        assert set(next_message(stream)["runs"].split()) == {"a/1", "b/1"}


def next_message(stream: object) -> dict[str, str]:
    for line in iter(stream.readline, b""):  # type: ignore[attr-defined]
        if line.startswith(b"data: "):
            return dict(json.loads(line[6:]))
    raise AssertionError("the stream has ended")


def test_a_log_of_another_tool_is_as_good_as_a_run(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "problem,trial,score,response\n"
        + "".join(f"p{i},{j},{i % 2},text {i}\n" for i in range(4) for j in range(2))
    )
    with viewing(log) as viewer:
        (run,) = {link for link in viewer.ask("").page.links() if "/runs/" in link}
        assert "imported · 8 trials" in viewer.ask(run).page.words
        assert "Found in 8 trials; 8 completions" in viewer.ask(f"{run}/search?q=text").page.words
    assert re.search(r"runs/log", run)


def test_a_run_that_ends_while_it_is_viewed_is_whole_in_its_file(tmp_path: Path) -> None:
    directory = filled(tmp_path / "a", [[1, 0], [0, 1]])
    with viewing(tmp_path) as viewer:
        viewer.ask("runs/a/1")
        with writing(directory) as store:
            store.append(1, [TrialRow(0, 2, "gave_up")])
        assert (directory / f"{STORE_FILE}-wal").stat().st_size == 0
        assert "1 gave up" in viewer.ask("runs/a/1").page.words


def test_a_search_that_meets_damage_says_so_on_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(self: Search, *_: object) -> None:
        raise corrupt_store(tmp_path / STORE_FILE, "a page is gone")

    filled(tmp_path / "a", [[1, 0], [0, 1]])
    monkeypatch.setattr(Search, "stretch", damaged)
    with viewing(tmp_path) as viewer:
        answer = viewer.ask("runs/a/1/search?q=x")
    assert "a page is gone" in answer.page.words
    assert answer.text.count("<!doctype") == 1


def test_names_of_any_direction_do_not_reach_into_a_list_of_choices(tmp_path: Path) -> None:
    for name in ("a", "b"):
        filled(tmp_path / name, [[1, 0], [0, 1]], model="x\u202e")
    with viewing(tmp_path) as viewer:
        assert "\u2068x\u202e\u2069 (\u2068a\u2069)" in viewer.ask("").page.words


def test_a_store_that_is_copied_over_is_read_anew(tmp_path: Path) -> None:
    filled(tmp_path / "a", [[1, 0], [0, 1]])
    other = filled(tmp_path / "elsewhere" / "b", [[1, 1], [1, 1]]) / STORE_FILE
    with viewing(tmp_path / "a") as viewer:
        assert "right 2" in viewer.ask("runs/a/1").page.words
        (tmp_path / "a" / STORE_FILE).write_bytes(other.read_bytes())
        assert "right 4" in viewer.ask("runs/a/1").page.words


def test_runs_of_one_directory_are_compared(tmp_path: Path) -> None:
    with writing(tmp_path / "a") as store:
        for task in ("sums", "words", "none"):
            run = store.begin(task, "tiny", spec={}, config={"metrics": []}, name=task)
            store.add_problems(run, [problem(at) for at in range(4)])
            (scorer,) = store.set_scorers(run, [ScorerEntry("exact", "exact")])
            score = [ScoreRow(scorer, 1.0, "ok", "1", "x")]
            rows = [TrialRow(at, 0, "ok", "1", scores=score) for at in range(4)]
            store.append(run, rows if task != "none" else [])
    with viewing(tmp_path) as viewer:
        assert "words minus sums" in viewer.ask("compare?a=a/1&b=a/2").page.words
        answer = viewer.ask("compare?a=a/1&b=a/3")
    assert answer.status == 400
    assert "none by tiny has no scores yet" in answer.page.words


def test_estimates_without_bars_have_no_words_for_them(tmp_path: Path) -> None:
    with writing(tmp_path / "a") as store:
        run, (scorer,) = begin(store, [problem(at) for at in range(3)])
        rows = [TrialRow(at, 0, "ok", "1", scores=[ScoreRow(scorer, 10.0 + at)]) for at in range(3)]
        store.append(run, rows)
    with viewing(tmp_path) as viewer:
        words = viewer.ask("runs/a/1").page.words
    assert "11.0" in words
    assert "Line: the estimate" not in words


def test_other_questions_under_the_same_ids_have_no_verdict(tmp_path: Path) -> None:
    for folder, target in (("a", "42"), ("b", "43")):
        with writing(tmp_path / folder) as store:
            run = store.begin("sums", "tiny", spec={}, config={"metrics": []}, name=folder)
            store.add_problems(run, [problem(at, target=target) for at in range(30)])
            (scorer,) = store.set_scorers(run, [ScorerEntry("exact", "exact")])
            score = [ScoreRow(scorer, float(folder == "b"), "ok", "1", "x")]
            store.append(run, [TrialRow(at, 0, "ok", "1", scores=score) for at in range(30)])
    with viewing(tmp_path) as viewer:
        page = viewer.ask("compare?a=a/1&b=b/1").page
    reason = page.words.index("30 of 30 problems have one id but different targets")
    assert reason < page.words.index("Not comparable, for the reason above")
    assert "none: different-targetsnot comparable" in page.words


def test_two_runs_of_one_task_are_proposed(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        for task in ("sums", "words"):
            filled(tmp_path / folder, WINS[:6], task=task)
    with viewing(tmp_path) as viewer:
        text = viewer.ask("").text
    chosen = re.findall(r"<option value=\"?([^\s\">]+)\"? selected", text)
    assert len(chosen) == 2
    assert len({one.partition("/")[2] for one in chosen}) == 1
    assert len({one.partition("/")[0] for one in chosen}) == 2
