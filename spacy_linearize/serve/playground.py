"""What the server answers: orders as JSON, and the page of a bag as HTML.

One bag is ordered at a time, in a memory zone of the vocabulary, which frees its new words afterwards: so a server may
run for months, whatever words it sees.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Token

from .. import alternative
from ..errors import LinearizeError, error, first_sentence
from ..files.jsonl import Record, doc_to_object, error_to_object, id_of, object_to_doc
from ..linearizer import Linearizer
from ..options import linearizer_names
from ..view.live import live_page, live_parts
from ..view.why import show_why

MAX_WORDS = 500  # of a bag: some seconds of work
MAX_LETTERS, MAX_CHUNK = 20_000, 500  # of a text, and of a part of it without a space
PATIENCE = 30  # seconds to wait for other requests
FIRST = "the telescope . boy She a saw with"  # the bag of a new page


class Playground:
    """A pipeline that answers.

    nlp (Language): The pipeline. Its linearizer is changed: it keeps n_best orders, and refuses long bags.
    name (str): The name of its linearizer.
    model (Optional[str]): How the commands name the pipeline.
    n_best (int): How many orders of a bag to show.
    """

    def __init__(self, nlp: Language, name: str, *, model: str | None, n_best: int) -> None:
        self.nlp = nlp
        self.model = model
        self.n_best = n_best
        self.linearizer: Linearizer = nlp.get_pipe(name)
        options = self.linearizer.options
        longest = min(options.max_words or MAX_WORDS, MAX_WORDS)
        self.linearizer.options = options.change(n_best=n_best, max_words=longest)
        self.left_out = [other for other in linearizer_names(nlp) if other in nlp.pipe_names and other != name]
        self._lock = threading.Lock()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=PATIENCE):
            raise error("SL273")
        try:
            with self.nlp.memory_zone():
                yield
        finally:
            self._lock.release()

    # For programs

    def order(self, content: Any, n_best: int | None = None) -> Any:
        """The answer to a bag, or the answers to a list of bags. Of a list, a bag that fails costs itself alone.

        content (Any): A bag, see `files.jsonl`, or a list of them. Instead of words, a bag may have a text.
        n_best (Optional[int]): How many orders of each bag to answer with, as a list. None for the best one alone.
        """
        if n_best is not None and not 1 <= n_best <= self.n_best:
            raise error("SL271", problem=f"n_best is {n_best}, not from 1 to {self.n_best}")
        return _each(content, lambda record: self._order(record, n_best), in_list=n_best is not None)

    def score(self, content: Any) -> Any:
        """How good the order is that a sentence has, or each of a list: see `OrderScore.to_dict`. Of a text, the moves
        have the places of their characters.

        content (Any): A bag, or a list of them, as for `order`.
        """
        return _each(content, self._score)

    def _order(self, record: Any, n_best: int | None) -> Record | list[Record]:
        with self._alone():
            orders = self._orders(self._read(record), n_best or 1)
            answers = [doc_to_object(doc, rank=rank) for rank, doc in enumerate(orders, start=1)]
        return answers[0] if n_best is None else answers

    def _score(self, record: Any) -> Record:
        with self._alone():
            answer = self.linearizer.score_order(self._before(self._read(record))).to_dict()
            if "words" not in record:
                tokens = self._tokens(record["text"])
                for move in answer["moves"]:
                    last = tokens[move["end"] - 1]
                    move |= {"start_char": tokens[move["start"]].idx, "end_char": last.idx + len(last)}
                answer["text"] = record["text"]
        return answer if id_of(record) is None else {"id": id_of(record), **answer}

    # For people

    def home(self) -> str:
        """The page, with a bag to begin with."""
        with self._alone():
            doc = self._read({"text": FIRST})
            return live_page(self._orders(doc), doc, model=self.model, text=FIRST, names=self.linearizer.label_data)

    def page(self, content: Any) -> str:
        """What is on the page of a bag, part by part."""
        with self._alone():
            doc = self._read(content)
            if not len(doc):
                raise error("SL070")
            return live_parts(self._orders(doc), doc, model=self.model, names=self.linearizer.label_data)

    def why(self, content: Any) -> str:
        """Why a word of a bag stands where it does.

        content (Any): An object with the bag, the position of the word, and the rank of the order, from 1.
        """
        if not isinstance(content, dict) or not isinstance(content.get("bag"), dict):
            raise error("SL271", problem="it has no object 'bag'")
        word, rank = content.get("word"), content.get("rank", 1)
        with self._alone():
            doc = self._read(content["bag"])
            if type(word) is not int or not 0 <= word < len(doc):
                raise error("SL271", problem=f"'word' is no position from 0 to {len(doc) - 1}")
            if type(rank) is not int or not 1 <= rank <= self.n_best:
                raise error("SL271", problem=f"'rank' is no number from 1 to {self.n_best}")
            return show_why(self.linearizer, self._before(doc), word, rank=rank)

    # Both

    def _read(self, record: Any) -> Doc:
        if not isinstance(record, dict):
            raise error("SL271", problem=f"a bag is an object, not {record!r}"[:100])
        text = record.get("text")
        if "words" not in record and isinstance(text, str):
            words = [token.text for token in self._tokens(text)]
            record = {**{key: value for key, value in record.items() if key != "text"}, "words": words}
        return object_to_doc(record, self.nlp.vocab)

    def _tokens(self, text: str) -> list[Token]:
        """What the tokenizer makes of a text, without its white space."""
        # Its time grows with the square of a row of brackets or quotes.
        if len(text) > MAX_LETTERS or max(map(len, text.split()), default=0) > MAX_CHUNK:
            expected = f"{MAX_LETTERS:,} letters, and one of {MAX_CHUNK} without a space"
            raise error("SL271", problem=f"its text is longer than {expected}")
        try:
            return [token for token in self.nlp.make_doc(text) if not token.is_space]
        except UnicodeEncodeError:  # JSON may have halves of characters, such as "\\ud800"
            raise error("SL271", problem="its text has half a character") from None
        except ValueError as problem:  # spaCy's own limit, max_length
            raise error("SL271", problem=first_sentence(problem)) from None

    def _before(self, doc: Doc) -> Doc:
        """What the components before the linearizer make of a Doc."""
        for name, component in self.nlp.pipeline:
            if component is self.linearizer:
                break
            if name not in self.left_out:
                doc = component(doc)
        return doc

    def _orders(self, doc: Doc, n_best: int | None = None) -> list[Doc]:
        """The best orders of a Doc, best first. At most n_best, if that is given."""
        best = self.nlp(doc, disable=self.left_out)
        found = best._.linearization.get("alternatives", ()) if len(best) else ()
        return [best, *(alternative(best, rank) for rank in range(1, len(found[:n_best])))]


def _each(content: Any, answer: Callable[[Any], Any], *, in_list: bool = False) -> Any:
    """The answer to a bag, or the answers to a list of bags.

    in_list (bool): Whether an answer is a list, that of a bag that failed, too.
    """
    if not isinstance(content, list):
        return answer(content)
    answers = []
    for record in content:
        try:
            answers.append(answer(record))
        except Exception as problem:
            identity = id_of(record) if isinstance(record, dict) else None
            failed = error_to_object(as_linearize_error(problem), identity)
            answers.append([failed] if in_list else failed)
    return answers


def as_linearize_error(problem: Exception) -> LinearizeError:
    """An error with a code, whatever it was."""
    if isinstance(problem, LinearizeError):
        return problem
    return error("SL200", problem=f"{type(problem).__name__}: {first_sentence(problem)}".removesuffix(": "))
