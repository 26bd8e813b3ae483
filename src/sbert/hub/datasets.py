"""Downloads one split of a data set from the Hugging Face hub. Works on the names of files, not their contents."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from sbert.disk.files import whole_file
from sbert.errors import BadInput

_SUFFIXES = (".parquet", ".jsonl.gz", ".jsonl", ".json.gz", ".json", ".csv", ".tsv")


def fetch_split(repo: str, split: str, config: str, target: Path) -> Path:
    """Download the one file that holds a split.

    Args:
        repo: ORGANISATION/NAME of the data set.
        split: Name of the split. Its file is called SPLIT.* or, as a shard, SPLIT-00000-of-00001.* .
        config: Name of the repository's folder that the file must lie in; empty for any.
        target: Path of the new file without its suffix, which is that of the downloaded file.
    """
    from huggingface_hub import HfApi, hf_hub_download

    try:
        names = HfApi().list_repo_files(repo, repo_type="dataset")
        chosen = [name for name in names if _holds(PurePosixPath(name), split, config)]
        cached = hf_hub_download(repo, chosen[0], repo_type="dataset") if len(chosen) == 1 else ""
    except Exception as error:  # any error of the hub's client and its transport
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise BadInput(f"the hub did not give the data set {repo} ({reason}); fetch it by hand") from None
    if not cached:
        raise BadInput(f"the hub's {repo} has {len(chosen)} files of the split {split!r}, but one is expected")
    path = target.with_name(target.name + "".join(PurePosixPath(chosen[0]).suffixes))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(cached, "rb") as source, whole_file(path) as copy:
        shutil.copyfileobj(source, copy)
    return path


def _holds(path: PurePosixPath, split: str, config: str) -> bool:
    """Return whether a file of a repository is the split, such as ``data/test-00000-of-00001.parquet`` for "test"."""
    stem = path.name.partition(".")[0].partition("-")[0]
    return stem == split and path.name.endswith(_SUFFIXES) and (not config or config in path.parts)
