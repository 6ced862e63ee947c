"""What a resumed run has to share with the trials that are there, and what may be added."""

from passband.trials.settings import (
    address_change,
    addresses_of,
    completed_spec,
    identity_changes,
    is_moved,
    uncompared,
    with_address,
)

OLD = {"model": "m", "seed": "s"}
NEW = {**OLD, "function": {"code": {"a.py": "1"}}}


def test_what_was_not_recorded_is_no_change_and_is_marked() -> None:
    assert identity_changes(OLD, NEW) == []
    assert uncompared(OLD, NEW) == ["function"]
    kept = completed_spec(OLD, NEW, ["http://a"], "today")
    assert kept == {**NEW, "uncompared": {"function": "today"}}
    assert completed_spec(kept, NEW, ["http://a"], "later") == kept
    assert completed_spec(NEW, OLD, [], "today") == kept  # merged with older trials


def test_what_is_gone_is_a_change() -> None:
    assert identity_changes(NEW, OLD) == [("function", '{"code": {"a.py": "1"}}', "nothing")]


def test_other_source_is_a_change_of_that_file() -> None:
    other = {**OLD, "function": {"code": {"a.py": "2"}}}
    assert identity_changes(NEW, other) == [("function.code.a.py", '"1"', '"2"')]


def test_addresses_are_kept_in_order() -> None:
    assert addresses_of({}, None) == []
    assert addresses_of({}, "http://a") == ["http://a"]
    moved = completed_spec(OLD, OLD, with_address(["http://a"], "http://b"), "today")
    assert addresses_of(moved, "http://a") == ["http://a", "http://b"]
    assert not is_moved(["http://a", "http://b"], "http://a")
    assert is_moved(["http://a"], "http://b")
    assert is_moved(["http://a"], None)
    assert not is_moved([], "http://b")
    assert address_change(["http://a", "http://b"], "http://c")[1:] == ('"http://b"', '"http://c"')
