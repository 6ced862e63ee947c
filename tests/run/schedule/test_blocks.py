"""What is missing, in which order, and which seed it gets."""

from hypothesis import given
from hypothesis import strategies as st

from passband.run.schedule.blocks import count_missing, missing_blocks, trial_seed

sizes = st.integers(1, 7)
masks = st.dictionaries(st.integers(0, 5), st.integers(0, 2**12 - 1))


@given(st.integers(0, 6), st.integers(1, 10), masks, sizes)
def test_blocks_are_exactly_what_is_missing(
    problems: int, n: int, recorded: dict[int, int], size: int
) -> None:
    found = list(missing_blocks(range(problems), n, recorded, size))
    trials = [(block.problem, trial) for block in found for trial in block.trials]
    wanted = {
        (problem, trial)
        for problem in range(problems)
        for trial in range(n)
        if not recorded.get(problem, 0) >> trial & 1
    }
    assert len(trials) == len(set(trials))
    assert set(trials) == wanted
    assert count_missing(problems, n, recorded) == len(wanted)


@given(st.integers(1, 6), st.integers(1, 10), masks, sizes)
def test_blocks_stay_within_multiples_of_their_size(
    problems: int, n: int, recorded: dict[int, int], size: int
) -> None:
    for block in missing_blocks(range(problems), n, recorded, size):
        assert block.trials[0] // size == block.trials[-1] // size


@given(st.integers(1, 6), st.integers(1, 10), masks, sizes)
def test_first_trials_come_first(
    problems: int, n: int, recorded: dict[int, int], size: int
) -> None:
    starts = [b.trials[0] // size for b in missing_blocks(range(problems), n, recorded, size)]
    assert starts == sorted(starts)


def test_nothing_is_missing_of_nothing() -> None:
    assert list(missing_blocks((), 5, {}, 2)) == []
    assert list(missing_blocks(range(2), 3, {0: 0b111, 1: 0b1111}, 2)) == []


texts = st.text(st.characters(), max_size=8)


@given(texts, texts, texts, st.integers(0, 10**6))
def test_a_seed_is_the_same_each_time_and_fits_anywhere(
    base: str, task: str, problem: str, trial: int
) -> None:
    seed = trial_seed(base, task, problem, trial)
    assert seed == trial_seed(base, task, problem, trial)
    assert 0 <= seed < 2**31


def test_seeds_differ_in_every_part_of_the_name() -> None:
    names = [
        ("a", "t", "p", 0), ("b", "t", "p", 0), ("a", "u", "p", 0), ("a", "t", "q", 0),
        ("a", "t", "p", 1), ("at", "", "p", 0), ("a", "tp", "", 0), ("", "at", "p", 0),
    ]  # fmt: skip
    assert len({trial_seed(*name) for name in names}) == len(names)
