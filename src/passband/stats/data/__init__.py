"""The data: arrays, tables and files become `Outcomes`.

`outcomes` holds every problem with its trials: counts of successes, or graded scores (`graded`).
`matrix` reads arrays (problems by trials), `tables` long tables (a row per trial), `files` files of
either. `counts` reduces a matrix to a histogram of (n, c) pairs. `values` makes frozen
objects with arrays comparable and picklable.
"""
