"""The modules of the project, read from their source: what each imports, says and defines. Nothing is imported."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@dataclass(frozen=True)
class Module:
    path: Path

    @cached_property
    def name(self) -> str:
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")

    @cached_property
    def lines(self) -> int:
        return len(self.path.read_bytes().splitlines())

    @property
    def tree(self) -> ast.Module:
        return tree_of(self.path)

    @property
    def nodes(self) -> list[ast.AST]:
        return nodes_of(self.path)

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def docstring(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @property
    def has_code(self) -> bool:
        """Does it define anything that can be wrong? Names and constants alone cannot."""
        return any(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in self.tree.body
        )

    @cached_property
    def imports(self) -> list[str]:
        """What is imported, anywhere in the file, in full; `from a import b` may name the module `a.b`."""
        found: list[str] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                found += (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)
        return found

    @cached_property
    def own_imports(self) -> set[str]:
        """The modules of the project among them, and those that stand in a table, to be imported when asked for."""
        found = {
            node.value
            for node in self.nodes
            if isinstance(node, ast.Constant) and node.value in MODULES and "." in node.value
        } - {self.name}
        for name in self.imports:
            while name and name not in MODULES:
                name = name.rpartition(".")[0]
            found |= {name} - {"", self.name}
        return found

    @property
    def mirror(self) -> Path:
        inside = self.path.relative_to(ROOT / "proxy")
        return ROOT / "tests" / inside.with_name(f"test_{inside.name}")


MODULES = {module.name: module for module in map(Module, sorted((ROOT / "proxy").rglob("*.py")))}
EVERY = list(MODULES.values())
CORE = [module for module in EVERY if module.name.startswith("proxy.core")]
TESTS = list(map(Module, sorted((ROOT / "tests").rglob("*.py"))))
PACKAGES = [module for module in EVERY if module.is_package]


def inside(package: Module) -> list[Module]:
    """The modules and packages that lie directly in a package."""
    return [module for module in EVERY if module.name.rpartition(".")[0] == package.name]


def arrows() -> Iterator[tuple[Module, str]]:
    """Every import of one module of the project by another."""
    return ((module, name) for module in EVERY for name in module.own_imports)
