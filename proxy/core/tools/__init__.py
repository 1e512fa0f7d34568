"""Tools between a client that declares them and a backend that sees only plain functions.

names      the reversible table: client's name, namespace and kind ↔ the one name upstream
schema     is it a JSON Schema? and what is left of it for a backend
custom     the function that stands for a tool with free text as its input
prepare    all of it for one request and one backend
"""
