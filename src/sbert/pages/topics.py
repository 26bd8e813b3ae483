"""The page of ``sbert topics``. Works on names, texts and numbers only."""

from __future__ import annotations

from sbert.pages import charts
from sbert.pages.records import Bar, Table, TopicPage
from sbert.pages.render import render

_MOST_BARS = 40


def page(found: TopicPage) -> str:
    """Return the page: the sizes, the words and some texts of every topic, their likeness, and their course."""
    sizes = [Bar(topic.name, topic.size) for topic in found.topics[:_MOST_BARS]]
    rows = [
        [str(number), f"{topic.size:,}", topic.words, "\n".join(topic.examples)]
        for number, topic in enumerate(found.topics)
    ]
    return render(
        "topics.html",
        title=f"{len(found.topics)} topics of {found.texts:,} texts",
        found=found,
        sizes=charts.bars("Texts of each topic", sizes),
        hidden=len(found.topics) - len(sizes),
        table=Table(["topic", "texts", "words", "texts nearest to the centre"], rows, "rrll"),
        merges=Table(
            ["cosine", "topic", "is joined with"],
            [[f"{similarity:.3f}", first, second] for first, second, similarity in found.merges],
            "rll",
        ),
        course=_course(found),
    )


def _course(found: TopicPage) -> Table | None:
    if found.over_time is None:
        return None
    headings = ["period", *(topic.name for topic in found.topics)]
    rows = [[period, *(f"{count:,}" for count in counts)] for period, counts in found.over_time.items()]
    return Table(headings, rows, "l" + "r" * len(found.topics))
