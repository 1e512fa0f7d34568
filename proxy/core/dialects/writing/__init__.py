"""What dialects share on the way out: requests to backends.

- `body` heeds the client's wishes on how to generate, and lays the profile's merge patch over a body.
- `notes` holds our own sentences that models and clients read.
- `answer_format` plans structured output: enforced, or asked for in words.
- `call_arguments` and `call_ids` write earlier calls in the form that a backend takes, `failed_results` marks their
  failures.
- `turns` takes turns in for dialects whose messages are lists of parts, `content_parts` writes those parts.
- `data_urls` reads files that stand in the request, `unreadable` refuses those that a backend cannot read.
"""
