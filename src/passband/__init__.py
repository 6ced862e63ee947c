"""passband evaluates stochastic models by asking every problem many times.

>>> import passband
>>> outcomes = passband.Outcomes.from_counts(successes=[3, 0, 8], trials=8)
>>> round(passband.measure(outcomes, "pass@4").value, 4)
0.6429

The public names are listed in `__init__.pyi`.
"""

from passband.display import draw_with as _draw_with
from passband.door import open_door
from passband.version import __version__ as __version__

_draw_with("passband.report.html.notebook")
__getattr__, __dir__ = open_door(__name__, __file__)
