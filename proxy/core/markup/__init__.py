"""Tool calls that a backend leaves in the text, made into real ones.

formats    what a format is
families   the formats, one module for each family of models
bodies, tagged, sections, expressions    readers that families share: JSON, tags, tokens, Python's calls
jsonish, values    JSON as models write it, and texts as the tool's schema types them
registry   which of them are on
openers    all their openers as one pattern
code       where the code samples are, in which nothing is meant
candidate  what begins with an opener, until it is settled what it is
scanner    text in pieces → text and blocks
stage      deltas → deltas: what becomes of the blocks in a reply
"""
