"""Detectors of data that invalidate or weaken the numbers made of them.

Each function takes plain arrays and returns findings: `counts` finds numbers of trials that follow
the results, and failures on hard problems; `order` trials that are not alike in the order of
asking; `texts` answers that are copies; `agreement` is the test of copies that both use; `problems`
finds copied and unasked problems. `correlation` holds the tests they share, and `collect` gathers
the evidence on some outcomes. benchmarks/evidence.py measures the false alarms of all together.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
