"""A model small enough to ship: a transformer for arithmetic that runs on numpy alone."""

from passband.generate.tiny.provider import Tiny

__all__ = ["Tiny"]
