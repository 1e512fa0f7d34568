"""Decisions about load, failure and rights: pure machines whose clock is a parameter.

Before a request is sent:

    hosts            by which names a browser may ask for the proxy
    admission        may this tenant ask with these tools?
    quota            how much a tenant may ask for in a minute
    shares           what strangers share fairly: places and memory
    tool_results     cuts results of tools that are too long

About the model's calls:

    guard            checks the calls of a reply before the client runs them
    awaited_checks   lets the guard wait for checks that take long

About the backend's failures:

    breaker          spares a backend that keeps failing
    doubts           failures that may be the requests' own doing
    retry            the same backend again, or another one?
    window           counts over the last seconds
"""
