"""Draws what the demo found as one page of HTML. Knows no model and no files; the page needs nothing but itself.

The pictures are SVG written here: they stay sharp, follow light and dark, and name a sentence under the pointer.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from sbert.cli.demo.results import Answer, Findings
from sbert.text.display import duration
from sbert.types import FloatArray, IntArray

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --dim: #667085; --paper: #ffffff; --card: #f4f6fa; --line: #dfe4ec;
  --accent: #2458d3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebf3; --dim: #98a2b6; --paper: #12161e; --card: #1b212c;
  --line: #2e3644; --accent: #7ba2ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  word-break: keep-all;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans KR", "Noto Sans CJK KR", sans-serif; }
h1 { font-size: clamp(1.5rem, 5vw, 2.3rem); line-height: 1.2; margin: .5rem 0; text-wrap: balance; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .5rem 0; max-width: 46rem; }
.dim, th { color: var(--dim); }
.tiles { display: grid; grid-template-columns: repeat(3, 1fr); gap: .75rem; margin: 1.5rem 0; }
.tiles div { background: var(--card); border-radius: .75rem; padding: .8rem 1rem; }
.tiles dt { color: var(--dim); font-size: .85rem; }
.tiles dd { margin: 0; font-size: clamp(1.15rem, 4.5vw, 1.7rem); font-weight: 650; white-space: nowrap; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); }
.figures { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th { text-align: left; font-weight: 500; font-size: .85rem; }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:last-child { padding-right: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.dim { font-size: .85rem; }
.sentences .number { width: 4.5rem; }
.sentences .dim { width: 7rem; }
.map circle { fill-opacity: .8; }
.map circle:hover { stroke: var(--ink); stroke-width: 1.5; fill-opacity: 1; }
.map text { font-size: 15px; font-weight: 650; text-anchor: middle; pointer-events: none; paint-order: stroke;
  stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.legend { display: flex; flex-wrap: wrap; margin: .5rem 0; padding: 0; list-style: none; font-size: .9rem; }
.legend li { padding: .1rem .5rem; border-radius: 1rem; cursor: default; }
.legend li:hover { background: var(--card); }
.legend svg { display: inline-block; width: .7rem; height: .7rem; margin-right: .35rem; }
.heat rect { fill: var(--accent); }
.heat text { font-size: 13px; }
.heat .value { font-size: 11px; text-anchor: middle; pointer-events: none; }
.heat .strong { fill: var(--paper); }
@media (max-width: 40rem) { .tiles { grid-template-columns: repeat(2, 1fr); } .map text { font-size: 28px; }
  .heat .value { display: none; } .heat text { font-size: 25px; } td.dim, th.dim { display: none; } }
"""


def draw(found: Findings) -> str:
    """The whole page."""
    here, _ = found.costs
    topics = list(dict.fromkeys(sentence.topic for sentence in found.sentences))
    labels = np.array([topics.index(sentence.topic) for sentence in found.sentences])  # (N,)
    unit = found.vectors / np.maximum(np.linalg.norm(found.vectors, axis=1, keepdims=True), 1e-12)
    cosines = unit @ unit.T  # (N, N)
    np.fill_diagonal(cosines, -1)  # a sentence is not its own neighbour
    same = float((labels[cosines.argmax(axis=1)] == labels).mean())
    notes = {section: _paragraph(note) for section, note in found.notes.items()}
    title = f"The most similar of {here.pairs:,} pairs of sentences, in {duration(here.vectors)}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>sbert demo</title>
<style>{_STYLE}{_colours(len(topics))}</style>
</head>
<body>
<h1>{title}</h1>
<p>sbert turned {here.sentences:,} sentences into one vector each and compared all vectors with all. A cross-encoder,
which reads the two sentences of every pair together, would take about {duration(here.reading)} on this machine
(extrapolated from a sample, see below).</p>
{_tiles(found)}
<h2>The most similar pairs</h2>
{_table([found.similarity, "topic", "sentence"], found.pair_rows())}
{notes["pairs"]}
<h2>Questions</h2>
{"".join(_answer(found, answer) for answer in found.answers)}
{notes["queries"]}
{_answer(found, found.korean)}
{notes["korean"]}
<h2>A map of all {here.sentences:,} sentences</h2>
<p>Each dot is a sentence, and its neighbours mean something similar. Point at a dot to read it, at a topic to see it
alone. The model was not told the topics, they only colour the dots: yet for {same:.0%} of the sentences the most
similar one has the same topic (by chance: {_chance(labels):.0%}).</p>
<div class="map">
{_map(_layout(cosines, unit), labels, topics, found)}
{_legend(topics)}
</div>
<h2>Topics against topics</h2>
{_heat(_means(cosines, labels), topics)}
<h2>What reading every pair would cost</h2>
{_table(["sentences", "pairs", "vectors", "reading", "ratio"], found.cost_rows())}
{notes["cost"]}
<p class="dim">Model: {escape(found.model)}. Embedding: {found.speed}. This page loads nothing from anywhere.</p>
</body>
</html>
"""


def _colours(topics: int) -> str:
    """A colour for each topic, neighbours in the list far apart; and, at a topic in the legend, all others faint."""
    rules = []
    for topic in range(topics):
        rules.append(f".t{topic} {{ fill: oklch({(64, 72, 56)[topic % 3]}% .16 {topic * 137.5 % 360:.0f}); }}")
        rules.append(f".map:has(li.k{topic}:hover) circle:not(.t{topic}) {{ opacity: .06; }}")
    return "\n".join(rules)


def _paragraph(note: str) -> str:
    return f'<p class="dim">{escape(note)}</p>' if note else ""


def _tiles(found: Findings) -> str:
    here, paper = found.costs
    tiles = {
        "sentences": f"{here.sentences:,}",
        "pairs compared": f"{here.pairs:,}",
        "with vectors": duration(here.vectors),
        "reading every pair, extrapolated": duration(here.reading),
        "times faster, extrapolated": f"{here.ratio:,.0f} ×",
        f"times faster for {paper.sentences:,}, extrapolated": f"{paper.ratio:,.0f} ×",
    }
    inside = "".join(f"<div><dt>{key}</dt><dd>{value}</dd></div>" for key, value in tiles.items())
    return f'<dl class="tiles">{inside}</dl>'


def _table(headings: list[str], rows: Iterable[list[str]]) -> str:
    """What is neither topic nor sentence is a number."""
    kinds = [{"topic": "dim", "sentence": "text"}.get(heading, "number") for heading in headings]
    head = "".join(f'<th class="{kind}">{heading}</th>' for kind, heading in zip(kinds, headings, strict=True))
    lines = [[f'<td class="{kind}">{_cell(cell)}</td>' for kind, cell in zip(kinds, row, strict=True)] for row in rows]
    body = "\n".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<div class="{"sentences" if "sentence" in headings else "figures"}">{table}</div>'


def _cell(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _answer(found: Findings, answer: Answer) -> str:
    table = _table([found.similarity, "topic", "sentence"], found.hit_rows(answer))
    return f"<h3>{escape(answer.query)}</h3>{table}"


def _chance(labels: IntArray) -> float:
    """How often two sentences, drawn at random, have the same topic."""
    counts = np.bincount(labels)
    return float((counts * (counts - 1)).sum() / (len(labels) * (len(labels) - 1)))


def _map(places: FloatArray, labels: IntArray, topics: list[str], found: Findings) -> str:
    """Dots with their sentences as titles, and each topic's name at its median, or above if it would hide them."""
    low, high = places.min(axis=0), places.max(axis=0)
    width = 1000.0
    scale = (width - 40) / (high[0] - low[0])
    height = scale * (high[1] - low[1]) + 40
    spots = (places - low) * scale + 20  # (N, 2)
    dots = [
        f'<circle class="t{label}" cx="{x:.0f}" cy="{y:.0f}" r="5">{_title(f"{topic}: {text}")}</circle>'
        for label, (x, y), (topic, text) in zip(labels, spots, found.sentences, strict=True)
    ]
    names = []
    for topic, name in enumerate(topics):
        own = spots[labels == topic]
        x, y = np.median(own, axis=0)
        if np.ptp(own[:, 0]) < 12 * len(name):  # as wide as the name, or narrower
            y = own[:, 1].min() - 10
        names.append(f'<text x="{x:.0f}" y="{y:.0f}">{escape(name)}</text>')
    return _picture(width, height, "Map of all sentences", [*dots, *names])


def _legend(topics: list[str]) -> str:
    dot = '<svg viewBox="0 0 10 10" aria-hidden="true"><circle class="t{0}" cx="5" cy="5" r="5"/></svg>'
    items = [f'<li class="k{index}">{dot.format(index)}{escape(topic)}</li>' for index, topic in enumerate(topics)]
    return f'<ul class="legend">{"".join(items)}</ul>'


def _means(cosines: FloatArray, labels: IntArray) -> FloatArray:
    """(N, N) -> (topics, topics), pairs of a sentence with itself left out."""
    member = np.eye(labels.max() + 1, dtype=cosines.dtype)[labels]  # (N, topics)
    counts = member.sum(axis=0)
    sums = member.T @ cosines @ member + np.diag(counts)  # the diagonal of cosines is -1
    means: FloatArray = sums / (np.outer(counts, counts) - np.diag(counts))
    return means


def _heat(means: FloatArray, topics: list[str]) -> str:
    """Full colour is the second most similar topic: one that the model cannot tell apart must not pale the others."""
    cell, margin = 50, 150
    full = float(np.sort(means.diagonal())[-2])
    parts = []
    for place, name in enumerate(topics):
        middle = margin + place * cell + cell / 2 + 5
        parts.append(f'<text x="{margin - 8}" y="{middle:.0f}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<text transform="translate({middle:.0f} {margin - 8}) rotate(-90)">{escape(name)}</text>')
    for (row, column), mean in np.ndenumerate(means):
        x, y, strength = margin + column * cell, margin + row * cell, float(np.clip(mean / full, 0, 1))
        title = _title(f"{topics[row]}, {topics[column]}: {mean:.3f}")
        square = f'x="{x}" y="{y}" width="{cell - 2}" height="{cell - 2}"'
        inside = f'x="{x + cell // 2 - 1}" y="{y + cell // 2 + 4}"'
        parts.append(f'<rect {square} fill-opacity="{strength:.2f}">{title}</rect>')
        parts.append(f'<text class="value{" strong" if strength > 0.65 else ""}" {inside}>{mean:.2f}</text>')
    side = margin + cell * len(topics)
    others = means - np.diag(np.diag(means) + 1)
    first, second = sorted(divmod(int(others.argmax()), len(topics)))
    return f"""<p>The mean cosine of the sentences of one topic with those of another; the diagonal is a topic with
itself, and full colour begins at {full:.2f}. The nearest two are {escape(topics[first])} and
{escape(topics[second])}.</p>
<div class="heat">{_picture(side, side, "Mean similarity of topics", parts)}</div>"""


def _title(text: str) -> str:
    """What shows under the pointer."""
    return f"<title>{escape(text)}</title>"


def _picture(width: float, height: float, name: str, parts: Iterable[str]) -> str:
    inside = "\n".join(parts)
    return f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{name}">\n{inside}\n</svg>'


def _layout(cosines: FloatArray, unit: FloatArray, neighbours: int = 30, steps: int = 100) -> FloatArray:
    """(N, N) cosines, (N, D) vectors -> (N, 2) places: t-SNE, short, exact and without chance.

    It starts from the two main directions of the vectors and gives every neighbour the same weight. More steps than a
    hundred spread the dots further, but keep the topics together no better.
    """
    count = len(cosines)
    near = np.argpartition(-cosines, neighbours, axis=1)[:, :neighbours].ravel()
    rows = np.repeat(np.arange(count), neighbours)
    rows, near = np.concatenate([rows, near]), np.concatenate([near, rows])
    centred = unit - unit.mean(axis=0)
    places: FloatArray = centred @ np.linalg.eigh(centred.T @ centred)[1][:, -2:]  # (N, 2)
    places *= 2 / places.std()
    speed, ones = np.zeros_like(places), np.ones_like(places[:, :1])
    weights = np.empty_like(cosines)
    for _ in range(steps):
        squares = (places**2).sum(axis=1, keepdims=True)
        np.matmul(np.hstack([-2 * places, squares + 1, ones]), np.hstack([places, ones, squares]).T, out=weights)
        np.reciprocal(weights, out=weights)  # 1 / (1 + distance^2)
        total = weights.sum() - count
        np.square(weights, out=weights)
        push = (weights.sum(axis=1, keepdims=True) * places - weights @ places) / total
        apart = places[rows] - places[near]
        apart /= (1 + (apart**2).sum(axis=1, keepdims=True)) * len(rows)
        pull = np.stack([np.bincount(rows, part, count) for part in apart.T], axis=1)
        speed = 0.8 * speed - 0.8 * count * (pull - push).astype(places.dtype)
        places = places + speed
    return places
