"""The description of the proxy's API.

document       the routes
schemas        the bodies of requests and answers
known_paths    a path in a request, for the log: only with names that the API has
"""
