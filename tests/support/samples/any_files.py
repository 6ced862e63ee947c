"""Hypothesis strategies for the contents of files that were meant to be tables of trials."""

from hypothesis import strategies as st

KINDS = ("csv", "tsv", "json", "jsonl", "npy", "npz", "parquet", "eval")
WORDS = ["problem", "trial", "score", "status", "model", "id", "n", "c", "t1", "t2", "", "0", "1"]

cells = st.sampled_from([*WORDS, "x", "0.5", "-1", "nan", "inf", "ok", "é", '"', "\x00", "1e400"])
names = st.sampled_from(WORDS) | st.text(max_size=6)
marks = st.sampled_from([",", ",", ",", ";", "\t"])

texts = st.text(alphabet='01,;\t\n\r" ax.-eé\x00\x1b', max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A header of likely words above likely cells, as encoded text."""
    width, mark = draw(st.integers(1, 5)), draw(marks)
    header = draw(st.lists(names, min_size=width, max_size=width))
    body = draw(st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6))
    text = "\n".join(mark.join(row) for row in [header, *body])
    return text.encode("utf-8", "surrogatepass")
