"""The layout holds: rooms import only rooms below them, modules and functions stay small, and the tree is complete."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sbert"
PLAN = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
ORDER = next(line.strip("`") for line in PLAN if line.startswith("`cli > "))
LEVEL = {room: level for level, rooms in enumerate(reversed(ORDER.split(" > "))) for room in rooms.split(" | ")}
# The package's own door sees every room; no room sees the door.
DOOR = {"__init__": len(LEVEL), "__main__": len(LEVEL)}
THEIR_NAMES = {"adapters/sentence_transformers/util"}  # the name of the module whose place it takes
NO_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}


def imported(node: ast.AST, path: tuple[str, ...]) -> Iterator[str]:
    """The rooms that one import statement reaches; ``sbert`` itself is the room ``__init__``."""
    targets: list[str] = []
    if isinstance(node, ast.Import):
        targets = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        start = ["sbert", *path[: len(path) - node.level]] if node.level else []
        module = ".".join([*start, *([node.module] if node.module else [])])
        targets = [f"{module}.{alias.name}" for alias in node.names] if module == "sbert" else [module]
    for target in targets:
        first, _, rest = target.partition(".")
        if first == "sbert":
            room = rest.partition(".")[0]
            yield room if room in LEVEL else "__init__"


def reads_settings(node: ast.AST) -> bool:
    names = {"environ", "environb", "getenv", "getenvb"}
    if isinstance(node, ast.ImportFrom):
        return node.module == "os" and any(alias.name in names for alias in node.names)
    return isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value) == "os"


def prints(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def complaints(package: Path) -> Iterator[str]:
    levels = LEVEL | DOOR
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package).with_suffix("").parts
        room, where = path[0], "/".join(path)
        if room not in levels:
            yield f"{where}: no room of that name"
            continue
        if NO_NAMES & set(path) and where not in THEIR_NAMES:
            yield f"{where}: a name that says nothing"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for other in imported(node, path):
                if other != room and levels[other] >= levels[room]:
                    yield f"{where}: imports {other}"
            if prints(node) and room != "cli":
                yield f"{where}: prints"
            if reads_settings(node) and room not in ("hub", "cli", "__init__"):
                yield f"{where}: reads the environment"


def test_every_room_keeps_to_its_place():
    assert (PACKAGE / "errors.py").is_file()
    assert list(complaints(PACKAGE)) == []


@pytest.mark.parametrize(
    ("file", "source", "complaint"),
    [
        ("nn/pooling.py", "import sbert.models.bi", "nn/pooling: imports models"),
        ("nn/pooling.py", "from sbert.text import tokenizer", "nn/pooling: imports text"),
        ("nn/pooling.py", "from sbert import hub", "nn/pooling: imports hub"),
        ("nn/pooling.py", "from sbert import BiEncoder", "nn/pooling: imports __init__"),
        ("nn/pooling.py", "from ..models.bi import BiEncoder", "nn/pooling: imports models"),
        ("nn/pooling.py", "from .. import models", "nn/pooling: imports models"),
        ("nn/deep/pooling.py", "from ...models import bi", "nn/deep/pooling: imports models"),
        ("nn/pooling.py", "def pool():\n    from sbert.cli import main", "nn/pooling: imports cli"),
        ("nn/pooling.py", "if TYPE_CHECKING:\n    from sbert.models import bi", "nn/pooling: imports models"),
        ("errors.py", "import sbert.types", "errors: imports types"),
        ("nn/utils.py", "", "nn/utils: a name that says nothing"),
        ("kitchen/stove.py", "", "kitchen/stove: no room of that name"),
        ("nn/pooling.py", "print(1)", "nn/pooling: prints"),
        ("nn/pooling.py", "import os\nos.environ['A']", "nn/pooling: reads the environment"),
        ("nn/pooling.py", "import os\nos.getenv('A')", "nn/pooling: reads the environment"),
        ("nn/pooling.py", "from os import environ", "nn/pooling: reads the environment"),
    ],
)
def test_a_violation_is_caught(tmp_path: Path, file: str, source: str, complaint: str):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(source, encoding="utf-8")
    assert list(complaints(tmp_path)) == [complaint]


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("models/bi.py", "from sbert.nn import pooling\nfrom sbert.errors import BadInput\nfrom .cross import x"),
        ("hub/resolve.py", "import os\nos.environ.get('A')"),
        ("cli/main.py", "import os\nprint(os.getenv('A'))\nfrom sbert.paper import report"),
        ("__main__.py", "from sbert.cli.main import main"),
        ("nn/pooling.py", "import sbert_other, numpy"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, file: str, source: str):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(source, encoding="utf-8")
    assert list(complaints(tmp_path)) == []


MOST_LINES, MOST_FUNCTION_LINES = 300, 60
WITH_MORE_ARGUMENTS = {
    "models/bi.py: encode",  # one keyword for each option that users of sentence-transformers know
    *(f"adapters/sentence_transformers/bi.py: {name}" for name in ("__init__", "encode")),  # their signatures
    *(f"adapters/sentence_transformers/cross.py: {name}" for name in ("__init__", "predict", "rank")),
    "adapters/sentence_transformers/util.py: paraphrase_mining",
    "adapters/sentence_transformers/losses.py: CachedMultipleNegativesRankingLoss",
}
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def test_no_module_is_too_long():
    lengths = {str(path): (PACKAGE / path).read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert {path: lines for path, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_function_is_too_long_or_takes_too_many_arguments():
    too_large = [
        f"{path}: {each.name}"
        for path in MODULES
        for each in functions(PACKAGE / path)
        if (each.end_lineno or 0) - each.lineno >= MOST_FUNCTION_LINES
        or parameters(each) > (16 if "verbs" in path.parts else 10)
    ]
    assert set(too_large) <= WITH_MORE_ARGUMENTS


def test_every_module_is_listed_in_the_tree():
    tree = "\n".join(PLAN)
    start = tree.index("src/sbert/\n")
    listed = tree[start : tree.index("```", start)]
    missing = [str(path) for path in MODULES if path.name not in listed]
    assert missing == []


def walks() -> dict[str, list[str]]:
    """The files of each walk through the code, by the name of the walk."""
    text = "\n".join(PLAN)
    start = text.index("walks through the code")
    parts = re.split(r"\n\d\. ", text[start : text.index("## Glossary")])[1:]
    return {part.split("**")[1]: re.findall(r"`([\w/]+\.py)`", part) for part in parts}


def modules_imported(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = [(node.module or "", node.names) for node in nodes if isinstance(node, ast.ImportFrom)]
    return whole | {name for module, names in parts for name in (module, *(f"{module}.{each.name}" for each in names))}


@pytest.mark.parametrize("walk", walks())
def test_every_file_of_a_walk_is_imported_by_one_before_it(walk: str):
    files = walks()[walk]
    assert len(files) > 5
    known: set[str] = set()
    for number, file in enumerate(files):
        module = "sbert." + file.removesuffix(".py").replace("/", ".")
        package = module.rpartition(".")[0]
        by_name = file.startswith("cli/verbs/")  # cli/main.py loads a subcommand by its name when it is called
        assert number == 0 or by_name or known & {module, package}, f"{file} is imported by none of {files[:number]}"
        known |= modules_imported(PACKAGE / file)
