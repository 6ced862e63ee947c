"""The result of a gate as text, Markdown and JUnit XML; the numbers are those of the result."""
