"""Render the pages of the viewer: values in, HTML out."""
