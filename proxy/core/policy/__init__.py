"""Decisions about load and failure: pure machines whose clock is a parameter."""
