"""Use a cluster of Ray: its address, a connection to it, and functions that run on its nodes.

Ray starts processes and carries values, and nothing more: it knows neither tasks nor stores, and
remembers nothing that a store does not hold.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
