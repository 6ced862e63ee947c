"""Servers and clients that tests start: model servers, the viewer, browsers, clusters."""
