"""Serves a model that says what it is told with mlx-lm's own server until told to stop: mlx_server.py FOLDER.

Prints its URL. The last word of a prompt chooses what is said (`SAID`). There is nothing in the model but that: a
token's embedding is a place of its own, attention and layers add nothing to it, and the output names the one token that
follows.

Runs with the Python of `.mlx`, so nothing of the proxy or the tests is imported.
"""

import json
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
from mlx_lm import server
from safetensors.numpy import save_file

END = "<|im_end|>"
SAID = {
    "greet": ["Hello", " there", "!"],
    "ponder": ["Hm.", "</", "think", ">", "\n\n", "Four", "."],
    "brood": ["<think>", "It", " depends", "</think>"],
    "act": [
        *("\n", "<tool_call>", '{"name": "get_time", "arguments": {"zone": "utc"}}', "</tool_call>"),
        *(
            " \n",
            "<tool_",
            "call>",
            '{"name": "get_time", "arguments": {"zone": "cet"}}',
            "</tool_",
            "call>\n",
        ),
    ],
}
"""Each token stands in one place only, since it is all that the model knows of where it is."""
TEMPLATE = "{# <tool_call> tool_call.name #}{{ messages[-1].content }}"
"""By the words of its comment the server knows how this model calls tools."""
HEADS = 4


def write(folder: Path) -> None:
    follows = {
        before: after
        for word, said in SAID.items()
        for before, after in zip([word, *said], [*said, END], strict=True)
    }
    tokens = [*dict.fromkeys(["<unk>", END, *follows, *follows.values()])]
    width = -(-len(tokens) // (8 * HEADS)) * 8 * HEADS
    places = {token: place for place, token in enumerate(tokens)}
    embeddings, output = np.zeros((2, len(tokens), width), np.float32)
    for token, place in places.items():
        embeddings[place, place] = 1
        output[places[follows.get(token, END)], place] = 9
    nothing = np.zeros((width, width), np.float32)
    weights = {"model.embed_tokens.weight": embeddings, "lm_head.weight": output}
    weights |= {"model.norm.weight": np.ones(width, np.float32)}
    for name in ("input_layernorm", "post_attention_layernorm"):
        weights[f"model.layers.0.{name}.weight"] = np.ones(width, np.float32)
    for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"):
        weights[f"model.layers.0.{name}.weight"] = nothing
    for name in ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"):
        weights[f"model.layers.0.{name}.weight"] = nothing
    save_file(weights, folder / "model.safetensors", {"format": "mlx"})
    shape = {"hidden_size": width, "intermediate_size": width, "num_hidden_layers": 1}
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": len(tokens),
        **shape,
    }
    config |= {"num_attention_heads": HEADS, "num_key_value_heads": HEADS, "rms_norm_eps": 1e-5}
    config |= {"tie_word_embeddings": False, "eos_token_id": 1, "max_position_embeddings": 4096}
    added = [
        {"id": place, "content": token, "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": token in ("<unk>", END)}
        for token, place in places.items()
    ]
    model = {"type": "WordLevel", "vocab": places, "unk_token": "<unk>"}
    tokenizer = {"version": "1.0", "added_tokens": added, "model": model, "decoder": {"type": "Fuse"}}
    tokenizer |= dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END, "unk_token": "<unk>"}
    about |= {"chat_template": TEMPLATE, "clean_up_tokenization_spaces": False}
    for name, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", about)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


class Telling(ThreadingHTTPServer):
    def server_activate(self) -> None:
        super().server_activate()
        host, port = self.server_address[:2]
        sys.stdout.write(f"http://{host}:{port}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    write(folder)
    sys.argv[1:] = ["--model", str(folder), "--port", "0"]
    own = server._run_http_server
    server._run_http_server = lambda host, port, generator: own(host, port, generator, server_class=Telling)
    server.main()
