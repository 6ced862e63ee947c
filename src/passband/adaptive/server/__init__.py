"""`passband serve`: the protocol of Trismik's adaptive tests, over banks of this machine."""
