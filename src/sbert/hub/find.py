"""Turns the name of a model into a local folder. All other modules read folders and use no network."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sbert.errors import BadInput, ModelNotFound, shown
from sbert.hub import bundled

# Code (.py), pickles (.bin) and other engines' weights (onnx, openvino, ...) are neither needed nor wanted.
_WANTED = ["*.json", "*.txt", "*.model", "*.safetensors"]
_UNWANTED = ["onnx/*", "openvino/*", "coreml/*", "*.onnx"]


@dataclass(frozen=True, slots=True)
class Access:
    """How the hub is asked for a repository."""

    token: str | bool | None = None
    """The token of an account, for repositories that are not public."""
    cache_folder: str | None = None
    """Where downloads are kept. Defaults to the cache of the hub's client."""
    local_files_only: bool = False
    """Whether to use only what has been downloaded already."""


_USUAL = Access()


def resolve(
    name: str | Path | None = None,
    revision: str | None = None,
    *,
    legacy_weights: bool = False,
    access: Access = _USUAL,
) -> Path:
    """Return the local folder of a model, which is downloaded if necessary.

    Args:
        name: A folder, an installed model package, or a hub name. Defaults to the packaged default model. The folder
            of a training run stands for the model in it.
        revision: Branch, tag or commit of a hub repository.
        legacy_weights: Whether to download ``*.bin`` files, too.
        access: How the hub is asked, if it has to be.
    """
    if name is None:
        return _by_name(bundled.DEFAULT, revision, legacy_weights, access)
    if not isinstance(name, str | Path):
        raise BadInput(f"the name of a model is {shown(name)}, but must be a text or a Path; name a model or a folder")
    folder = Path(os.path.expanduser(name))
    if name and os.path.isdir(folder):  # unlike Path.is_dir, it accepts names that are too long for a file system
        is_run = (folder / "run.json").is_file() and (folder / "model").is_dir()
        return folder / "model" if is_run else folder
    if os.path.isfile(folder):
        raise ModelNotFound(f"{name} is a file, but a model is a folder; name the folder that holds it")
    if isinstance(name, Path) or _is_path(name):
        raise ModelNotFound(f"there is no folder {name}; write a hub name as NAME or ORGANISATION/NAME")
    return _by_name(name, revision, legacy_weights, access)


def is_here(name: str) -> bool:
    """Return whether a model is on this machine: a folder, an installed package, or downloaded before."""
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    if os.path.isdir(os.path.expanduser(name)):
        return True
    if _is_path(name):
        return False
    if (package := bundled.package_of(name)) and bundled.find(package):
        return True
    for candidate in _hub_names(name):
        with suppress(HFValidationError, LocalEntryNotFoundError):
            if _has_weights(_download(candidate, None, False, Access(local_files_only=True)), False):
                return True
    return False


def _hub_names(name: str) -> list[str]:
    return [name] if "/" in name else [name, f"sentence-transformers/{name}"]


def _is_path(name: str) -> bool:
    return name.startswith((".", "~")) or os.path.isabs(name) or name.count("/") > 1 or name.count(os.sep) > 1


def _by_name(name: str, revision: str | None, legacy_weights: bool, access: Access) -> Path:
    """Return the folder of an installed package, or else a snapshot of a hub repository."""
    package = bundled.package_of(name)
    if package and revision is None and (found := bundled.find(package)):
        return found
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    names = _hub_names(name)
    for candidate in names:
        with suppress(HFValidationError, LocalEntryNotFoundError):
            folder = _download(candidate, revision, legacy_weights, replace(access, local_files_only=True))
            # The pooling of an encoder without modules.json may not have been downloaded: the hub is asked first.
            if (folder / "modules.json").is_file() and _has_weights(folder, legacy_weights):
                return folder
    reasons = []
    for candidate in names:
        try:
            folder = _download(candidate, revision, legacy_weights, access)
        except Exception as error:  # any error of the hub's client and its transport
            reasons.append(f"{candidate}: {_reason(error)}")
            continue
        if _has_weights(folder, legacy_weights):
            return folder
        missing = "no safetensors found, or no network; legacy_weights=True also accepts pytorch_model.bin"
        reasons.append(f"{candidate}: {missing}")
    remedy = f"run: {package.install}" if package else "check the name, or download the folder and pass its path"
    raise ModelNotFound(
        f"no model {name!r}: there is no such folder, no installed package carries it, "
        f"and the hub gave nothing ({'; '.join(reasons)}); {remedy}"
    )


def _download(name: str, revision: str | None, legacy_weights: bool, access: Access) -> Path:
    from huggingface_hub import snapshot_download

    return Path(
        snapshot_download(
            name,
            revision=revision,
            token=access.token,
            cache_dir=access.cache_folder,
            local_files_only=access.local_files_only,
            allow_patterns=[*_WANTED, "*.bin"] if legacy_weights else _WANTED,
            ignore_patterns=_UNWANTED,
        )
    )


def _has_weights(folder: Path, legacy_weights: bool) -> bool:
    """Return whether a snapshot holds weights: the cache may contain only a tokenizer."""
    kinds = ["*.safetensors", "*.bin"] if legacy_weights else ["*.safetensors"]
    return any(next(folder.rglob(kind), None) for kind in kinds)


def _reason(error: Exception) -> str:
    """Return in a few words why the hub gave nothing."""
    from huggingface_hub import constants, errors

    offline = "offline, as HF_HUB_OFFLINE asks" if constants.HF_HUB_OFFLINE else "no network"
    reasons = {
        errors.HFValidationError: "not a valid repository name",
        errors.GatedRepoError: "access must be asked for on its page",
        errors.RepositoryNotFoundError: "not found",
        errors.RevisionNotFoundError: "no such revision",
        errors.LocalEntryNotFoundError: offline,
    }
    first_line = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return next((reason for kind, reason in reasons.items() if isinstance(error, kind)), first_line)
