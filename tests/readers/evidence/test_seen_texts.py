"""The answers of a log, as they are read."""

from passband.readers.evidence.seen_texts import SeenTexts


def test_some_are_kept_in_full_from_all_over_a_long_log() -> None:
    seen = SeenTexts()
    for number in range(10_000):
        seen.add(f"answer {number}")
    assert 40 <= len(seen.in_full) <= 80
    assert min(seen.in_full) < 500
    assert max(seen.in_full) > 9_500
    assert all(text == f"answer {index}" for index, text in seen.in_full.items())


def test_a_part_is_that_of_its_trials() -> None:
    seen = SeenTexts()
    for text in ("a", None, "b", "a"):
        seen.add(text)
    some = seen.where([1, 3])
    assert some.has_text.tolist() == [0, 1]
    assert some.in_full == {1: "a"}
    assert some.numbers[1] == seen.numbers[0]
