"""The page of ``sbert demo``. Works on texts and numbers only."""

from __future__ import annotations

from sbert.pages import charts
from sbert.pages.records import Demo
from sbert.pages.render import render


def page(demo: Demo) -> str:
    """Return the page: the pairs, the answers, a map of all sentences, the topics, and the cost."""
    topics = demo.topics
    # The colour is full at the second highest diagonal value: one uniform topic must not make all others pale.
    full = sorted(row[place] for place, row in enumerate(demo.means))[-2]
    _, first, second = max((demo.means[a][b], a, b) for b in range(len(topics)) for a in range(b))
    return render(
        demo.template,
        demo=demo,
        here=demo.costs.rows[0],
        paper=demo.costs.rows[1],
        map=charts.point_map(
            "Map of all sentences",
            demo.points,
            titles=[f"{topic}: {text}" for topic, text in demo.sentences],
            groups=[topics.index(topic) for topic, _ in demo.sentences],
            names=topics,
        ),
        heat=charts.heat_map("Mean similarity of topics", topics, demo.means, full),
        full=full,
        nearest=(topics[first], topics[second]),
    )
