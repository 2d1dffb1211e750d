"""Why a word stands where it does, as HTML: what was placed before it, its rivals, and the features that decided."""

from itertools import takewhile

from spacy.tokens import Doc

from ..insight.explain import Derivation, Explanation, Reason, Rival, Step, find_word
from ..linearizer import Linearizer
from .markup import LONGEST, esc, name, shorten

N_RIVALS, N_REASONS = 3, 5
N_CONTEXT = 4  # words
LONGEST_ORDER = 200  # letters


def show_why(linearizer: Linearizer, doc: Doc, word: int, *, rank: int = 1) -> str:
    """Why a word of a bag stands where it does.

    doc (Doc): The bag.
    word (int): The position of the word in it.
    rank (int): From 1 for the best order.
    """
    explained = linearizer.explain(doc, n_rivals=N_RIVALS, n_reasons=N_REASONS, word=word, rank=rank - 1)
    placed = find_word(linearizer.reader.read(doc, as_given=True), word)
    explanation, own = next((one, k) for one, k in zip(explained, placed, strict=True) if k >= 0)
    parts = [
        _derivation(derivation, step)
        for derivation in explanation.derivations
        for step in derivation.steps
        if step.position == own
    ]
    parts += [_lifted(explanation), _opinions(explanation)]
    title = f'<h2 id="why-title">Why “{name(doc[word].text)}” here?</h2>'
    return title + "".join(parts)


def _lifted(explanation: Explanation) -> str:
    """Words that were ordered below another one than their given head, as their arcs cross."""
    pairs = ", ".join(f"<b>{name(word)}</b> below <b>{name(head)}</b>" for word, head in explanation.lifted)
    return f'<div class="direction"><h3>Lifted</h3><p>Ordered {pairs}.</p></div>' if pairs else ""


def _opinions(explanation: Explanation) -> str:
    """The orders that a second opinion, if there is one, was asked about."""
    rows = "".join(
        f'<li><span class="weight">{choice.score - choice.second:.1f}</span>'
        f'<span class="weight">{choice.second:+.1f}</span><bdi>{esc(shorten(choice.text, LONGEST_ORDER))}</bdi></li>'
        for choice in explanation.choices
    )
    if not rows:
        return ""
    note = "<p>What the search says of an order, and what the second opinion adds.</p>"
    return f'<div class="direction"><h3>Two opinions</h3>{note}<div class="rival"><ul>{rows}</ul></div></div>'


def _derivation(derivation: Derivation, step: Step) -> str:
    """What one direction of the search says."""
    is_forward = derivation.direction == "left to right"
    before = [
        other.action
        for other in takewhile(lambda other: other is not step, derivation.steps)
        if other.position is not None
    ]
    context = before[-N_CONTEXT:] if is_forward else before[-N_CONTEXT:][::-1]
    dots = "… " if len(before) > N_CONTEXT else ""
    words = esc(" ".join(shorten(text, LONGEST) for text in context))
    if not before:
        where = "As the first word" if is_forward else "As the last word"
    else:
        where = f"After “{dots}{words}”" if is_forward else f"Before “{words}{' …' if dots else ''}”"
    direction = derivation.direction.capitalize()
    if not step.rivals:
        return f'<div class="direction"><h3>{direction}</h3><p>{where}, no other word could stand here.</p></div>'
    own = f"<b>{name(step.action)}</b> scores {step.score:+.1f}"
    intro = f"<p>{where}, {own}, one of {step.n_legal} that could stand here.</p>"
    heaviest = max((abs(reason.weight) for rival in step.rivals for reason in rival.reasons), default=1.0)
    rivals = "".join(_rival(rival, heaviest) for rival in step.rivals)
    return f'<div class="direction"><h3>{direction}</h3>{intro}{rivals}</div>'


def _rival(rival: Rival, heaviest: float) -> str:
    rows = "".join(_reason(reason, heaviest) for reason in rival.reasons)
    return f'<div class="rival"><p>rather than <b>{name(rival.action)}</b>, {rival.score:+.1f}</p><ul>{rows}</ul></div>'


def _reason(reason: Reason, heaviest: float) -> str:
    """A feature with its weight, as a number and as a bar."""
    side = "for" if reason.weight > 0 else "against"
    return (
        f'<li class="{side}"><span class="weight">{reason.weight:+.1f}</span>'
        f'<span class="bar" style="--share:{abs(reason.weight) / heaviest:.2f}"></span>'
        f"<code>{esc(shorten(reason.instance, 80))}</code></li>"
    )
