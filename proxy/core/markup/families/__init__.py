"""The formats of calls in text, one module for each family of models that write alike.

- `tags`: a name and keys in tags.
- `objects`: JSON between two marks.
- `tokens`: special tokens around a head and JSON.
- `notations`: a notation of their own.
- `plural` puts calls of other families into one wrapper more.
- `end_of_turn` holds the tokens that stand behind the calls of any family.
"""
