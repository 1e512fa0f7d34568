"""All texts of the tables of this directory, for the rules that hold for every format."""

from typing import Final

from tests.core.markup.families import (
    test_deepseek,
    test_dsml,
    test_end_of_turn,
    test_gemma,
    test_glm,
    test_harmony,
    test_hermes,
    test_inkling,
    test_invoke,
    test_kimi,
    test_llama,
    test_mistral,
    test_plain_json,
    test_pythonic,
    test_qwen,
)

TABLES: Final = (
    test_deepseek,
    test_dsml,
    test_end_of_turn,
    test_gemma,
    test_glm,
    test_harmony,
    test_hermes,
    test_inkling,
    test_invoke,
    test_kimi,
    test_llama,
    test_mistral,
    test_pythonic,
    test_qwen,
    test_plain_json,
)

BLOCKS: Final[tuple[str, ...]] = tuple(text for table in TABLES for text, _, _ in table.CASES.values())
TEXTS: Final[tuple[str, ...]] = tuple(text for table in TABLES for text in table.TEXTS)
