"""Stages between the assembler and a client, each for requests that want it."""
