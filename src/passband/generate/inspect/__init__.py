"""Tasks of Inspect AI: loaded by name, and asked by Inspect or by passband itself.

Nothing here imports inspect_ai before a task of it is loaded: the import takes a second or two.
"""
