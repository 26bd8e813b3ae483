"""What one writes first: sentence-transformers behind starlette, one call of ``encode`` for each request."""

from __future__ import annotations

import sys

import orjson
import uvicorn
from sentence_transformers import SentenceTransformer
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def application(folder: str) -> Starlette:
    model = SentenceTransformer(folder, device="cpu")

    async def embed(request: Request) -> Response:
        inputs = orjson.loads(await request.body())["inputs"]
        texts = [inputs] if isinstance(inputs, str) else inputs
        vectors = await run_in_threadpool(model.encode, texts, show_progress_bar=False, normalize_embeddings=True)
        return Response(orjson.dumps(vectors, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")

    return Starlette(routes=[Route("/embed", embed, methods=["POST"])])


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1]), port=int(sys.argv[2]), log_level="warning")
