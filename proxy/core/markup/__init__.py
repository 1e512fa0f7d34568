"""Tool calls that a backend leaves in the text, made into real ones.

What a call in text looks like:

- `formats` says what a format is; `families` holds the formats, one module for each family of models.
- `bodies`, `tagged`, `sections` and `expressions` are readers that families share: for JSON, tags, tokens, and calls as
  Python writes them.
- `shapes` makes patterns of headers, and of all that can still become one.
- `jsonish` reads JSON as models write it; `values` gives texts the types that the tool's schema declares.
- `registry` says which formats are on for a reply.

How calls are found in a text that comes in pieces:

- `openers` joins all openers into one pattern.
- `code` tracks where the code samples are, in which no call is meant; `lookahead` reads on where that is in doubt.
- `candidate` is a text that begins with an opener, until it is decided what it is.
- `quotation` says from the text around a block whether it is only quoted; `judgement` is a block until that is decided.
- `scanner` turns pieces of text into text and blocks.
- `frames` takes the tokens out that stand around texts and thoughts, which `frame_tokens` lists.
- `stage` turns deltas into deltas, and decides what becomes of the blocks in a reply.
"""
