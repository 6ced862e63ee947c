"""Item response theory: banks of items with known parameters, and abilities of models.

`items` holds parameters and response curves, `responses` the scores. `posterior` is the fast path
of an adaptive test, `ability` the four estimates of theta, `accuracy` that on all items.
`calibration` estimates parameters from responses, by `em`, with `item_errors`, and links them to
the scale of another bank.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
