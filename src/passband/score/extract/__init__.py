"""Answer extraction: rules that find the final answer in a completion."""
