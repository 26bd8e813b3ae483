"""An encoder in, figures out: how good it is at a task with known answers."""

from sbert.evaluate.evaluators import Similarity as Similarity
from sbert.evaluate.evaluators import Triplets as Triplets
