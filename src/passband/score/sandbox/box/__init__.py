"""The code that runs inside a sandbox.

Its source is sent into a fresh interpreter, which may be an older Python than passband's own, and
which sees neither passband nor its packages. So it needs Python 3.8, imports the standard library
only, and its modules import each other by relative names.
"""
