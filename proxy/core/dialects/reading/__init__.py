"""What dialects share on the way in: replies, errors, and what both teach of the backend.

Replies:

- `decoding` is the base of all decoders; it forgives what is not quite JSON.
- `surrogates` joins characters that were cut in two.
- `logprobs` and `token_counts` read the numbers beside the text.

Errors:

- `error_body` reads what an error body says, in a dozen shapes.
- `errors` turns a status and such a body into a fault that says who must act.
- `overflow` knows the words for an outgrown context window, `retry_after` how long to wait, and `field_names` which
  field of the client's is meant.

Lessons:

- `lessons` changes a profile by what a refusal says, `echoes` tells which of its words are the client's own, and
  `refused_fields` knows how servers name a field that they do not take, `effort_lessons` how a level of thought.
- `reply_lessons` does so by what a reply shows.
"""
