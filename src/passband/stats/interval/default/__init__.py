"""The default intervals.

`selection` chooses among the score-type intervals of `wilson` (independent problems), those of
`clusters` (problems in clusters) and those of `graded` (scores that are not 0 or 1), and adds notes
where the coverage is known to be weak.
"""
