"""The settings of a server, and the keys that requests must carry. Works on plain values and one file."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sbert.errors import BadInput, shown

_SHORTEST_KEY = 16
_RIGHTS = ("read", "write")


class Key(NamedTuple):
    """The digest of an API key, and whether the key permits changes to documents."""

    digest: bytes
    may_write: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits, API keys and other settings. The defaults are those of ``sbert serve``."""

    keys: tuple[Key, ...] = ()
    """API keys. If there are none, every request is accepted."""
    private: bool = False
    """Whether /health and /metrics also need a key."""
    read_only: bool = False
    """Whether adding and deleting documents is disabled."""
    origins: tuple[str, ...] = ()
    """Websites whose scripts may send requests (CORS)."""
    hosts: tuple[str, ...] = ()
    """Accepted values of the header Host. If there are none, every value is accepted."""
    max_body_bytes: int = 32_000_000
    max_open_bytes: int = 512_000_000
    """Maximum size of the bodies of all requests that are being received or answered."""
    max_items: int = 2048
    """Maximum number of texts, pairs or documents of a request."""
    batch_tokens: int = 2048
    queue_tokens: int = 500_000
    cache_bytes: int = 256_000_000
    body_seconds: float = 30.0
    """Time limit for receiving a body."""
    answer_seconds: float = 60.0
    """Time limit for answering a request."""
    log_texts: bool = False
    """Whether the log contains the bodies of requests."""

    def right(self, given: str | None) -> Key | None:
        """Return the key of a request if it is valid, in a time that does not depend on the key."""
        digest = _digest((given or "").encode())
        found = None
        for key in self.keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found


def read_keys(path: str | Path) -> tuple[Key, ...]:
    """Read API keys from a file: one on each line, followed by "read" if the key is read-only.

    Empty lines, and lines that begin with #, are skipped.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the file of keys {shown(str(path))} cannot be read ({shown(str(error))}); name another"
        ) from None
    keys = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or line.lstrip().startswith("#"):
            continue
        if len(words[0]) < _SHORTEST_KEY or len(words) > 2 or (words[1:] and words[1] not in _RIGHTS):
            raise BadInput(
                f"line {number} of the file of keys is not a key of at least {_SHORTEST_KEY} characters, optionally "
                "followed by read or write; generate one with: openssl rand -hex 24"
            )
        keys.append(Key(_digest(words[0].encode()), words[1:] != ["read"]))
    if not keys:
        raise BadInput(f"the file of keys {shown(str(path))} has no keys, but needs at least one")
    return tuple(keys)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
