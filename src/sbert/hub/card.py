"""Writes a model's README. Knows the parts and how to show their use."""

from __future__ import annotations

import json

from sbert.hub.parts import CrossParts, Parts, PolyParts
from sbert.nn.heads import output_size

_CARD = """\
---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags:
- sentence-transformers
- sbert
- sentence-similarity
- feature-extraction
---
# {name}

Maps a text to a vector of {dimension} dimensions, so that texts of similar meaning get similar vectors.

| | |
| --- | --- |
| transformer | {transformer} |
| pooling | {pooling} |
| after pooling | {heads} |
| dimensions | {dimension} |
| longest text | {length} tokens |
| similarity | {similarity} |
| prompts | {prompts} |

With sbert:

```python
from sbert import BiEncoder

model = BiEncoder.from_pretrained({path})
vectors = model.encode(["A man is eating.", "한 남자가 먹고 있다."])
print(model.similarity(vectors, vectors))
```

With [sentence-transformers](https://www.sbert.net):

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer({path})
vectors = model.encode(["A man is eating.", "한 남자가 먹고 있다."])
print(model.similarity(vectors, vectors))
```
"""


def card(parts: Parts, name: str) -> str:
    """The README of a model saved in a folder called ``name``."""
    dimension = output_size(parts.heads, parts.transformer.facts.hidden_size * len(parts.pooling))
    prompts = ", ".join(f"`{key}`: {json.dumps(text, ensure_ascii=False)}" for key, text in parts.prompts.items())
    return _CARD.format(
        name=name,
        path=json.dumps(name, ensure_ascii=False),
        dimension=min(dimension, parts.truncate_dim or dimension),
        transformer=parts.transformer.facts.architecture,
        pooling=", ".join(parts.pooling),
        heads=", ".join(type(head).__name__ for head in parts.heads) or "nothing",
        length=parts.tokenizer.max_length,
        similarity=parts.similarity,
        prompts=prompts.replace("|", "\\|") or "none",
    )


_CROSS_CARD = """\
---
library_name: sentence-transformers
pipeline_tag: text-ranking
tags:
- sentence-transformers
- cross-encoder
- sbert
---
# {name}

Reads two texts together and gives {outputs}.

| | |
| --- | --- |
| transformer | {transformer} |
| labels | {labels} |
| scale of the scores | {scale} |
| longest pair | {length} tokens |

With sbert:

```python
from sbert import CrossEncoder

model = CrossEncoder.from_pretrained({path})
print(model.predict([("A man is eating.", "한 남자가 먹고 있다.")]))
```

With [sentence-transformers](https://www.sbert.net):

```python
from sentence_transformers import CrossEncoder

model = CrossEncoder({path})
print(model.predict([("A man is eating.", "한 남자가 먹고 있다.")]))
```
"""


def cross_card(parts: CrossParts, name: str) -> str:
    """The README of a cross-encoder saved in a folder called ``name``."""
    return _CROSS_CARD.format(
        name=name,
        path=json.dumps(name, ensure_ascii=False),
        outputs="one score" if len(parts.labels) == 1 else f"one score for each of {len(parts.labels)} labels",
        transformer=parts.transformer.facts.architecture,
        labels=", ".join(parts.labels).replace("|", "\\|"),
        scale=parts.scale,
        length=parts.tokenizer.max_length,
    )


_POLY_CARD = """\
---
library_name: sbert
pipeline_tag: text-ranking
tags:
- poly-encoder
- sbert
---
# {name}

A poly-encoder: reads a query as {codes} vectors and a document as one, and scores them.

| | |
| --- | --- |
| transformer | {transformer}, {towers} |
| codes | {codes}, {kind} |
| pooling of documents | {pooling} |
| dimensions | {dimension} |
| longest text | {length} tokens |

With sbert:

```python
from sbert import PolyEncoder

model = PolyEncoder.from_pretrained({path})
print(model.rank("How is the weather?", ["It is raining.", "비가 오고 있어요."]))
```

The folder is also a plain bi-encoder of documents, compared by dot product, which
[sentence-transformers](https://www.sbert.net) reads as it is:

```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer({path}).encode(["It is raining.", "비가 오고 있어요."])
```
"""


def poly_card(documents: Parts, parts: PolyParts, name: str) -> str:
    """The README of a poly-encoder saved in a folder called ``name``."""
    return _POLY_CARD.format(
        name=name,
        path=json.dumps(name, ensure_ascii=False),
        codes=parts.num_codes,
        kind="learned" if parts.kind == "learned" else "the query's first tokens",
        transformer=documents.transformer.facts.architecture,
        towers="for queries and documents" if parts.towers == "shared" else "one for queries and one for documents",
        pooling=", ".join(documents.pooling),
        dimension=documents.transformer.facts.hidden_size,
        length=documents.tokenizer.max_length,
    )
