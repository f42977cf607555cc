"""Explanations and comparisons as HTML; everything that is put into a template is escaped."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..graphs.drawing.picture import card, picture_or_reason
from ..templating import environment

if TYPE_CHECKING:
    from .comparison import Comparison
    from .explanation import Explanation
    from .fragments import ClassFragments
    from .patterns_of_classes import ClassPatterns

#: How many patterns a notebook shows.
_PATTERNS = 8


def _macro(name: str, *arguments: Any) -> str:
    template: Any = environment("graphgrain.explaining").get_template("parts.html").module
    return card(getattr(template, name)(*arguments))


def decision_words(why: Explanation) -> tuple[str, str]:
    """A decision in words: a heading, and what there is to know beside it."""
    if why.prediction is None:
        heading = f"Predicted {why.decision:.4g}"
    elif why.opposite is not None or why.target == why.prediction:
        heading = f"Predicted {why.prediction}"
    else:
        heading = f"Why not {why.target}? (predicted {why.prediction})"
    words = {
        "path": "shared along paths",
        "tree": "shared among paths and their trees",
        "equal": "shared among all vertices that take part",
        "removal": "what is lost without each vertex",
    }
    detail = f"decision {why.decision:+.4g}; {words[why.share]}"
    if why.unknown:
        detail += f"; {100 * why.unknown:.0f} % of its pattern occurrences are unknown to the model"
    return heading, detail


def explanation_html(why: Explanation, patterns: int = _PATTERNS) -> str:
    """One explanation: the picture, and the patterns that decide."""
    top = why.top(patterns)
    return _macro("explanation", explanation_values(why, top), picture_or_reason(why.to_svg), top)


def explanation_values(why: Explanation, top: list[Any]) -> dict[str, Any]:
    """The numbers and words of an explanation, for a template."""
    heading, detail = decision_words(why)
    total = sum(len(part.hashes) for part in why.levels)
    left = total - len(top)
    return {
        "heading": heading,
        "detail": detail,
        "bias": why.bias,
        "decision": why.decision,
        "rest": why.decision - why.bias - sum(p.contribution for p in top) if left else None,
        "rest_words": f"{left:,} other patterns",
    }


def comparison_html(pair: Comparison, patterns: int = _PATTERNS) -> str:
    """Two graphs, and what they share."""
    pictures = [picture_or_reason(partial(pair.to_svg, which=number)) for number in (0, 1)]
    values = {
        "similarity": pair.similarity,
        "detail": f"{type(pair.kernel).__name__}; the stronger a colour, the more is shared",
        "pictures": pictures,
        "shared": pair.shared(patterns),
        "own": [
            (title, pair.only(number, patterns))
            for number, title in enumerate(("Only the first has", "Only the second has"))
        ],
    }
    return _macro("comparison", values)


def class_patterns_html(found: ClassPatterns, patterns: int = 5) -> str:
    """The patterns of each class, with an example drawn."""
    rows = [
        (
            label,
            kind,
            pattern,
            picture_or_reason(partial(found.to_svg, pattern), width=170, height=120),
        )
        for kind, each in (("for", found.favour), ("against", found.against))
        for label, own in each.items()
        for pattern in own[:patterns]
    ]
    return _macro("class_patterns", rows, found.n_resamples)


def class_fragments_html(found: ClassFragments, fragments: int = 8) -> str:
    """The fragments of each class, with examples drawn."""
    rows = [
        (label, each, picture_or_reason(partial(found.to_svg, each), width=150, height=110))
        for label, own in found.fragments.items()
        for each in own[:fragments]
    ]
    return _macro("class_fragments", rows)
