"""The description of the proxy's API.

document       the routes
schemas        the bodies of requests and answers
kept_schemas   those of what is kept
known_paths    a path in a request, for the log: only with names that the API has
"""
