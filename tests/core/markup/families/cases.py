"""All texts of the tables of this directory, for the rules that hold for every format."""

from typing import Final

from tests.core.markup.families import test_end_of_turn, test_plural
from tests.core.markup.families.notations import test_arrows, test_gemma, test_pythonic
from tests.core.markup.families.objects import (
    test_harmony,
    test_hermes,
    test_hyperclova,
    test_inkling,
    test_llama,
    test_mistral,
    test_plain_json,
)
from tests.core.markup.families.tags import (
    test_dsml,
    test_glm,
    test_grok,
    test_invoke,
    test_mcp,
    test_qwen,
    test_solar2,
)
from tests.core.markup.families.tokens import test_deepseek, test_kimi, test_plamo, test_solar

TABLES: Final = (
    test_arrows,
    test_grok,
    test_hyperclova,
    test_plamo,
    test_plural,
    test_solar,
    test_solar2,
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
    test_mcp,
    test_mistral,
    test_pythonic,
    test_qwen,
    test_plain_json,
)

BLOCKS: Final[tuple[str, ...]] = tuple(text for table in TABLES for text, _, _ in table.CASES.values())
TEXTS: Final[tuple[str, ...]] = tuple(text for table in TABLES for text in table.TEXTS)
