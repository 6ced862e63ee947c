"""A client of the Trismik protocol: adaptive tests that a server chooses the items of."""

from passband.adaptive.remote.client import TrismikClient, create_trismik_async_client
from passband.adaptive.remote.service import RemoteError

__all__ = ["RemoteError", "TrismikClient", "create_trismik_async_client"]
