"""How backends speak: one folder for each language, with the same names in each, and what they share.

- `registry` says what a dialect is, and has the table of them: encode, decode, faults, URLs, lessons,
  counters of tokens.
- `chat`, `responses`, `anthropic` and `google` are the four; none imports another.
- `reading` is for all decoders and judges of refusals, `writing` for all encoders.

A backend of a known language is a row in `backends.profiles`; a new language is a folder and a row in `registry`.
"""
