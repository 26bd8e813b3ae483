"""Lists of words: English and Korean words that are no keywords, and Korean particles and endings."""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can
cannot could did do does doing down during each few for from further had has have having he her here hers him his how
i if in into is it its itself just me more most my no nor not now of off on once only or other our ours out over own s
same she should so some such t than that the their theirs them then there these they this those through to too under
until up very was we were what when where which while who whom why will with would you your yours
"""
_KOREAN = """
그 이 저 것 수 등 및 또 또는 그리고 그러나 하지만 그래서 때문 때 더 가장 매우 너무 아주 정말 바로 다시 이미 아직
모두 우리 저희 나 너 내 제 누구 무엇 뭐 어디 언제 어떻게 왜 얼마나 여기 거기 이것 그것 저것 이번 지난 다른 같은
경우 정도 관련 사람 중 중에 둘 하나 뭐가 뭘 뭔가 어떤게 알려줘 알려 주세요 먼저 많이 조금 좀 잘 안 못 꼭 거 게 곳
"""
_PARTICLES = """
은 는 이 가 을 를 의 에 도 만 과 와 로 으로 에서 에게 에게서 한테 께 께서 까지 부터 보다 처럼 만큼 마다 조차 마저
밖에 이나 나 이라 라 이며 며 이고 이란 란 이라는 라는 이라고 라고 에는 에도 에만 에서는 에서도 으로는 로는 으로도
로도 이랑 랑 하고 으로부터 로부터 까지는 까지도 부터는 대로 뿐 한테서 이든지 든지 이라도 라도 만은 만이 만을
에서의 으로의 까지의 으로서 로서 으로써 로써 과의 와의 에의
들 들은 들이 들을 들의 들에 들에게 들도 들과 이다 입니다 인 이었다 였다
"""
_ENDINGS = """
다 요 죠 까 네 자 라 면 서 고 며 게 지 는 던 려 니 습니다 합니다 됩니다 하는 하고 하여 해서 하게 하지 했던 했고
한다 하면 하려 되는 되고 되어 돼서 된다 있는 있고 있어 없는 없고 없어 같은 같이 위해 위한 대한 대해 따라 통해
그런 이런 어떤 많은 좋은
"""


def _words(lines: str) -> list[str]:
    return lines.split()


STOP_WORDS = frozenset(_words(_ENGLISH + _KOREAN))
"""English and Korean words that are no keywords."""
PARTICLES = tuple(sorted(_words(_PARTICLES), key=len, reverse=True))
"""What Korean attaches to nouns, the longest first."""
ENDINGS = tuple(_words(_ENDINGS))
"""What most Korean verbs and adjectives end in."""
