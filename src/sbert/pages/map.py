"""The interactive map of texts: one page that loads nothing. Works on texts and numbers only."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from markupsafe import Markup

from sbert.pages.records import TextMap
from sbert.pages.render import render
from sbert.text.display import one_line, shorten

LONGEST_TEXT = 200
"""Number of characters of a text that the map shows."""
_STEPS, _NO_GROUP = 65_535, 65_535


def page(texts: TextMap) -> str:
    """Return the page: points that can be moved, zoomed, pointed at and searched."""
    return render(
        "map.html",
        title=texts.title,
        payload=_in_script(_payload(texts)),
        script=Markup(_script()),
        script_hash=script_hash(),
    )


def script_hash() -> str:
    """Return the hash by which a content security policy allows the script of the map."""
    return f"sha256-{base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()}"


def _payload(texts: TextMap) -> dict[str, Any]:
    places = np.clip(np.rint((np.asarray(texts.points) + 1) / 2 * _STEPS), 0, _STEPS).astype("<u2")
    groups = np.asarray(texts.groups, np.int64)
    return {
        "positions": base64.b64encode(places.tobytes()).decode(),
        "groups": base64.b64encode(np.where(groups < 0, _NO_GROUP, groups).astype("<u2").tobytes()).decode(),
        "texts": [shorten(one_line(text), LONGEST_TEXT) for text in texts.texts],
        "names": [one_line(name) for name in texts.names],
        "sizes": np.bincount(groups[groups >= 0], minlength=len(texts.names)).tolist(),
        "labels": [
            {"x": x / _STEPS, "y": y / _STEPS, "group": group, "text": shorten(one_line(texts.names[group]), 40)}
            for group, (x, y) in _middles(places, groups, len(texts.names))
        ],
    }


def _middles(places: np.ndarray[Any, Any], groups: np.ndarray[Any, Any], count: int) -> list[tuple[int, list[float]]]:
    """Return the median place of each group that has points, the largest group first."""
    there = [group for group in range(count) if (groups == group).any()]
    there.sort(key=lambda group: -int((groups == group).sum()))
    return [(group, np.median(places[groups == group], axis=0).tolist()) for group in there]


def _in_script(value: object) -> Markup:
    """Write JSON that cannot end the script element around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


@lru_cache(maxsize=1)
def _script() -> str:
    return resources.files("sbert.pages").joinpath("templates", "map.js").read_text(encoding="utf-8")
