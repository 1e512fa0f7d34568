"""The formats of calls in text, one module for each family of models that write alike.

- Tags with a name and keys: `qwen`, `glm`, `invoke`, `dsml`, `step`, `elements`, `minimax_m3`.
- JSON between two marks: `hermes`, `mistral`, `harmony`, `llama`, `inkling`, and `plain_json` for all others.
- Special tokens around a head and JSON: `deepseek`, `kimi`.
- A notation of their own: `gemma`, `pythonic`.
- `end_of_turn` holds the tokens that stand behind the calls of any family.
"""
