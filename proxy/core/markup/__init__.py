"""Tool calls that a backend leaves in the text, made into real ones.

formats    what a dialect is
families   the dialects, one module for each family of models
registry   which of them are on
openers    all their openers as one pattern
code       where the code samples are, in which nothing is meant
candidate  what begins with an opener, until it is settled what it is
scanner    text in pieces → text and blocks
stage      deltas → deltas: what becomes of the blocks in a reply
"""
