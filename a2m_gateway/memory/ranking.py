"""One order out of two: nearness of meaning and shared words.

The two legs of one store may be blended: both are stretched to [0, 1] and added by weight, which
on nine judged sets did better than merging ranks. Scores of two stores never meet here.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["blend", "by_score"]


def by_score(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Ids and scores by descending score (spec 5.3); equal ones by id."""
    return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))


def blend(
    meaning: Mapping[str, float], words: Mapping[str, float], *, words_weight: float
) -> dict[str, float]:
    """Scores in [0, 1] of everything in either leg.

    Args:
        meaning: Scores of the meaning leg, in any range.
        words: Scores of the word leg, positive; what is absent shares no word.
        words_weight: From 0 (meaning alone) to 1.

    >>> blend({"a": 0.9, "b": 0.7}, {"b": 3.0}, words_weight=0.5)
    {'a': 0.5, 'b': 0.5}
    """
    if not words:
        words_weight = 0.0
    near = _stretch(meaning)
    best = max(words.values(), default=1.0)
    return {
        name: (1.0 - words_weight) * near.get(name, 0.0)
        + words_weight * words.get(name, 0.0) / best
        for name in sorted(near.keys() | words.keys())
    }


def _stretch(scores: Mapping[str, float]) -> dict[str, float]:
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 1.0)
    return {name: (score - low) / (high - low) for name, score in scores.items()}
