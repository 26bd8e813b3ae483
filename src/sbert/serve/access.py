"""The log: one JSON object for each request, without texts by default."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from sbert.serve.account import Account

logger = logging.getLogger("sbert.serve.access")


def write_to_standard_error(requests: bool = True) -> None:
    """Write every record to standard error as a line of JSON; if ``requests`` is false, write only failures."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO if requests else logging.ERROR)
    logger.propagate = False


def request_line(
    request_id: str,
    client: str,
    method: str,
    path: str,
    status: int,
    account: Account,
    error: str | None,
    body: str | None,
) -> None:
    """Log one request."""
    if not logger.isEnabledFor(logging.INFO):
        return
    record: dict[str, Any] = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "id": request_id,
        "client": client,
        "method": method,
        "path": path,
        "status": status,
        "ms": round(1000 * account.total, 2),
    }
    if account.items:
        record |= {
            "items": account.items,
            "tokens": account.tokens,
            "truncated_tokens": account.truncated_tokens,
            "tokenization_ms": round(1000 * account.tokenization, 2),
            "queue_ms": round(1000 * account.queue, 2),
            "inference_ms": round(1000 * account.inference, 2),
        }
    if error is not None:
        record["error"] = error
    if body is not None:
        record["body"] = body
    logger.info("%s", json.dumps(record, ensure_ascii=True))


def failure(request_id: str, error: BaseException) -> None:
    """Log an unexpected exception with the place where it was raised."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    place = "" if frames is None else f"{frames.tb_frame.f_code.co_filename}:{frames.tb_lineno}"
    record = {"id": request_id, "failure": type(error).__name__, "where": place}
    logger.error("%s", json.dumps(record, ensure_ascii=True))
