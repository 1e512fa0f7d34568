"""A Llama with random weights, small enough to be made in a blink, that llama.cpp serves like any other.

Its weights are noise; what it says is steered by one bias per token. That suffices to see a real server's chunks: free
text that ends, and calls and JSON that a grammar forces into shape.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import gguf
import numpy as np

WIDTH, FEED_FORWARD, LAYERS, HEADS = 64, 128, 2, 4
CONTEXT = 16384
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
PUNCTUATION = '{}[]":,.-_ /<>='
OPEN_CALL, CLOSE_CALL, END = "<tool_call>\n", "</tool_call>", "<|im_end|>"


class Character(NamedTuple):
    """Which noise, how much of it in what the model makes of a token, and which tokens it likes beyond the others."""

    seed: int
    restlessness: float
    likes: Mapping[str, float]


TALKER = Character(seed=4, restlessness=0.2, likes={END: 0.1})
"""Says a little, with a byte in it that is no character, and stops."""
CALLER = Character(seed=8, restlessness=0.05, likes={END: 2.6, OPEN_CALL: 2.7, CLOSE_CALL: 1.0})
"""Would rather call a tool than anything else, some times over; the grammar of the tools does the rest."""

# The template that models of this family ship, in short: tools first, calls and results in their tags.
TEMPLATE = """
{%- if tools %}<|im_start|>system
<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>
Return <tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}<|im_start|>user
<tool_response>{{ message.content }}</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


class Token(NamedTuple):
    text: str
    type: gguf.TokenType
    bias: float


def vocabulary(likes: Mapping[str, float]) -> Iterator[Token]:
    for text in ("<unk>", "<s>", "</s>", "<|im_start|>", END):
        yield Token(text, gguf.TokenType.CONTROL, likes.get(text, -2.0))
    for byte in range(256):
        yield Token(f"<0x{byte:02X}>", gguf.TokenType.BYTE, -1.0)
    for character in LETTERS + PUNCTUATION:
        # Quotes and braces are liked, so that strings and objects come to an end.
        bias = 0.3 if character in '"}' else 0.0
        yield Token(character.replace(" ", "\u2581"), gguf.TokenType.NORMAL, bias)
    for text in (OPEN_CALL, CLOSE_CALL):
        yield Token(text, gguf.TokenType.USER_DEFINED, likes.get(text, -2.0))


def write(path: Path, character: Character) -> None:
    tokens = list(vocabulary(character.likes))
    noise = np.random.default_rng(character.seed)

    def matrix(rows: int, columns: int, scale: float = 0.03) -> np.ndarray:
        return (noise.standard_normal((rows, columns)) * scale).astype(np.float32)

    # Every embedding is 1 in its first place, so the output's first column adds a constant to each token's logit.
    embeddings = matrix(len(tokens), WIDTH, character.restlessness)
    embeddings[:, 0] = 1.0
    output = matrix(len(tokens), WIDTH, 0.5)
    output[:, 0] = [token.bias for token in tokens]

    model = gguf.GGUFWriter(path, "llama")
    model.add_context_length(CONTEXT)
    model.add_embedding_length(WIDTH)
    model.add_block_count(LAYERS)
    model.add_feed_forward_length(FEED_FORWARD)
    model.add_head_count(HEADS)
    model.add_head_count_kv(HEADS)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(WIDTH // HEADS)
    model.add_vocab_size(len(tokens))
    model.add_file_type(gguf.LlamaFileType.ALL_F32)
    model.add_tokenizer_model("llama")
    model.add_token_list([token.text.encode() for token in tokens])
    model.add_token_scores([-float(place) for place in range(len(tokens))])
    model.add_token_types([token.type for token in tokens])
    model.add_add_space_prefix(False)
    model.add_bos_token_id(1)
    model.add_eos_token_id(4)
    model.add_unk_token_id(0)
    model.add_chat_template(TEMPLATE)
    model.add_tensor("token_embd.weight", embeddings)
    model.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    model.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            model.add_tensor(f"blk.{layer}.{name}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            model.add_tensor(f"blk.{layer}.{name}.weight", matrix(WIDTH, WIDTH))
        model.add_tensor(f"blk.{layer}.ffn_gate.weight", matrix(FEED_FORWARD, WIDTH))
        model.add_tensor(f"blk.{layer}.ffn_up.weight", matrix(FEED_FORWARD, WIDTH))
        model.add_tensor(f"blk.{layer}.ffn_down.weight", matrix(WIDTH, FEED_FORWARD))
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()
