"""Gemini's generateContent.

- `encode` makes the body: `contents` its conversation, `media` images and files, `signatures` the proofs of thoughts.
  `models` knows what each generation takes.
- `decode` reads chunks of parts, `logprobs` their probabilities, `ending` the finish reason and the usage, `errors`
  Google's own statuses.
- `lessons` says what refusals teach, `urls` where to ask, `counting` how tokens are counted.
"""
