"""The description of the proxy's API.

document       the routes
schemas        the bodies of requests and answers
known_paths    a path in a request, told to the log with the names alone that the API has
"""
