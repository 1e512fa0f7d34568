"""Decisions about load, failure and rights: pure machines whose clock is a parameter.

`admission`, `quota` and `results` look at a request before it is sent, `guard` at the model's calls, `breaker` and
`retry` at the backend's failures.
"""
