"""Fetches one split of a data set from the Hugging Face hub. Knows file names of the hub: not what is in them."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from sbert.errors import BadInput

_SUFFIXES = (".parquet", ".jsonl.gz", ".jsonl", ".json.gz", ".json", ".csv", ".tsv")


def fetch_split(repo: str, split: str, config: str, target: Path) -> Path:
    """Copy the one file that holds a split to ``target`` plus the file's own suffix.

    Args:
        repo: ORGANISATION/NAME of the data set.
        split: files are called SPLIT.* or, in shards, SPLIT-00000-of-00001.* .
        config: the folder of the repository it must lie in; empty for any.
        target: where to, without suffix.
    """
    from huggingface_hub import HfApi, hf_hub_download

    try:
        names = HfApi().list_repo_files(repo, repo_type="dataset")
        chosen = [name for name in names if _holds(PurePosixPath(name), split, config)]
        cached = hf_hub_download(repo, chosen[0], repo_type="dataset") if len(chosen) == 1 else ""
    except Exception as error:  # whatever the hub's client and its transport raise
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise BadInput(f"the hub did not give the data set {repo} ({reason}); fetch it by hand") from None
    if not cached:
        raise BadInput(f"the hub's {repo} has {len(chosen)} files of the split {split!r}, but one is expected")
    path = target.with_name(target.name + "".join(PurePosixPath(chosen[0]).suffixes))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")  # appears whole or not at all
    shutil.copyfile(cached, part)
    return part.replace(path)


def _holds(path: PurePosixPath, split: str, config: str) -> bool:
    """Whether a file of a repository is the split: ``test.jsonl.gz`` and ``data/test-00000-of-00001.parquet`` are."""
    stem = path.name.partition(".")[0].partition("-")[0]
    return stem == split and path.name.endswith(_SUFFIXES) and (not config or config in path.parts)
