"""The data: arrays, tables and files become `Outcomes`.

`outcomes` holds every problem with its trials: counts of successes, or graded scores (`graded`).
`matrix` reads arrays (problems by trials); `tables` reads long tables (a row per trial), with the
roles of their `columns`, the `layout` of their groups, and `unfold` for other shapes. `counts`
reduces a matrix to a histogram of (n, c) pairs. `labels` names problems and clusters;
`values` makes frozen objects with arrays comparable and picklable. Files are read above, by
`passband.readers`.
"""
