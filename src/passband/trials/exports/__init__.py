"""Exports of a trials table."""
