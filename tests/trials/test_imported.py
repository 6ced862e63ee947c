"""What imported runs keep in their configuration."""

from passband.trials.settings import Imported, imported_spec, is_imported


def test_it_is_read_back() -> None:
    one = Imported(4, (("2 lines left out", True), ("read as counts", False)), ("abc",))
    assert Imported.of(one.config()) == one
    assert Imported.of({"metrics": []}) == Imported()


def test_parts_of_one_run() -> None:
    one = Imported(4, (("a", True),), ("x",))
    two = Imported(3, (("a", True), ("b", False)), ("y",))
    assert one.merged(two) == Imported(4, (("a", True), ("b", False)), ("x", "y"))
    assert one.followed_by(two).planned == 7
    assert Imported().merged(Imported()).planned is None


def test_the_mark() -> None:
    assert is_imported(imported_spec({"temperature": 1}))
    assert not is_imported({"model": "tiny", "imported": "yes"})
