"""What the proxy takes out of a text before anybody reads it.

- `redact` masks whatever looks like a key, and cuts what strangers wrote to a length that can be shown.
- `secrets` finds the secrets that the proxy knows, in whole or in part.
- `headers` shows what headers there were, and of which values anybody may read what they say.
- `unseen` lists invisible characters that change what a reader sees.
"""
