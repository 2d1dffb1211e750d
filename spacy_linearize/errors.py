"""Every message of the package, each with a code that never changes its meaning."""

from collections.abc import Sequence

MESSAGES = {
    # What is wrong with a bag of words.
    "SL001": "The given heads form a cycle: {words}. Leave the head of one of these words free.",
    "SL002": "More than one word is given as the root: {words}. Keep one root and free the others.",
    "SL003": "{words} has head {head}, but the bag has positions 0 to {last}. "
    "Use one of these, or leave the head free.",
    "SL004": "{words} is its own head. Give it as the root, or leave its head free.",
    "SL005": "A bag of {n} words is over the limit of {limit}. Order it in parts, or raise max_words.",
    "SL006": "'{name}' has {got} entries for {n} words. Give one entry for each word.",
    # What is wrong with the gold order and tree of a training example.
    "SL010": "The gold order does not hold each of the {n} words once. Give a permutation of 0 to {last}.",
    "SL011": "The gold tree is not projective in the gold order, at {words}. Skip the sentence, or make its tree "
    "projective.",
    "SL012": "The gold tree has {n} roots, or heads are missing. Give one word the head ROOT and every other a head.",
    "SL013": "The predicted Doc has other words than the reference, or the same words in a sequence that leaves "
    "their match open: '{word}'. Give both Docs the same tokens in the same sequence.",
    "SL014": "The gold head of {words} is not the given one. Leave that head free.",
    # What is wrong with the settings.
    "SL020": "Template '{template}' names the unknown atom '{atom}'. Known atoms: {known}.",
    "SL021": "Unknown template group '{group}'. Known groups: {known}.",
    "SL022": "Setting '{key}' is {value!r}, but must be {expected}.",
    "SL023": "Template '{template}' is listed twice. Remove one.",
    "SL024": "Template '{template}' joins atoms of pairs (X, Y, Z) with others. Use one kind or the other.",
    # What is wrong with a pipeline.
    "SL040": "The component '{name}' is not trained. Train it with 'spacy train', or take it from a trained pipeline: "
    "nlp.add_pipe('{name}', source=trained_nlp).",
    "SL041": "The extension 'doc._.{name}' was set by another package. Remove it with Doc.remove_extension('{name}') "
    "before this component is created.",
    "SL042": "The Doc has no sentence boundaries, and sentences = 'sents' needs them. Put a parser, senter or "
    "sentencizer before '{name}', or set sentences = 'doc'.",
    "SL043": "{words} has its head in another sentence. Give each sentence a tree of its own.",
    "SL044": "A linearizer returns new Docs and cannot change one in place. Call nlp(doc) or use nlp.pipe.",
    "SL045": "Found no example with words to learn from. Give initialize() a corpus of sentences in their right order.",
    "SL046": "The compiled modules of spacy_linearize are missing ({problem}). If Python runs in the folder of the "
    "sources, install them in place: pip install -e .",
    # What is wrong on the command line.
    "SL050": "Plots need matplotlib. Install it with: pip install 'spacy-linearize[plots]'.",
    "SL052": "The pipeline '{model}' has no linearizer. Train one, or add one from a trained pipeline: "
    "nlp.add_pipe('linearizer', source=trained_nlp).",
    "SL053": "There is nothing to convert at {path}. Name a .conllu, .mrg or .parse file, a folder with such files, or "
    "their --format; --split must match some of them.",
    "SL054": "{path} is not a .spacy file. Make one with 'spacy linearize convert'.",
    "SL058": "'{name}' was not trained with the {kind} '{text}': it is kept, but treated as if it were not given. Use "
    "the {kind}s of the training data, see nlp.get_pipe('{name}').label_data.",
    # What is wrong with a language model.
    "SL055": "There is no ARPA language model in {path}: it has no line '\\data\\'. Name a text file in ARPA format; "
    "unpack it first if it is compressed.",
    "SL056": "Line {line} of {path} is not as ARPA files have it: {problem}. Correct the line, or write the file "
    "again.",
    "SL057": "The n-gram {gram} does not fit a language model of order {order}: {problem}. Give n-grams of 1 to "
    "{order} words, each once, with finite logarithms.",
    # What is wrong with a model file.
    "SL030": "{source} is not a spacy_linearize model: it does not start with the model signature.",
    "SL031": "{source} has model format {found}, and this version reads up to {known}. Upgrade spacy_linearize.",
    "SL032": "{source} is damaged: {what}. Copy or train the model again.",
    "SL033": "{source} was trained with other feature templates (fingerprint {found}, expected {known}). "
    "Load it with the settings it was trained with.",
    "SL034": "There is not enough memory to load {source}: its weights take {size} MB. Free some, or train the model "
    "with a smaller table_bits.",
}


class LinearizeError(ValueError):
    """An error of this package.

    code (str): The code of the message, such as "SL001".
    words (Tuple[int, ...]): The positions of the words concerned, if any.
    """

    def __init__(self, message: str, code: str = "", words: Sequence[int] = ()) -> None:
        super().__init__(message, code, tuple(words))
        self.code = code
        self.words = tuple(words)

    def __str__(self) -> str:
        return f"[{self.code}] {self.args[0]}"


def error(
    code: str, *, words: Sequence[int] = (), texts: Sequence[str] | None = None, **values: object
) -> LinearizeError:
    """The error with this code, its message filled in.

    words (Sequence[int]): Positions of the words concerned, named in the message.
    texts (Optional[Sequence[str]]): The words' texts, quoted in the message when known.
    values (object): What else the message names.
    """
    named = ", ".join(
        f"word {i}" if texts is None or not 0 <= i < len(texts) else f"word {i} '{texts[i]}'" for i in words
    )
    return LinearizeError(MESSAGES[code].format(words=named, **values), code, words)
