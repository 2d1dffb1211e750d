"""Every message of the package, each with a code that never changes its meaning."""

import re
from collections.abc import Callable, Sequence

MAX_QUOTED = 200  # characters
MESSAGES = {
    # What is wrong with a bag of words.
    "SL001": "The given heads form a cycle: {words}. Leave the head of one of these words free.",
    "SL002": "More than one word is given as the root: {words}. If the Doc has several sentences, set "
    "sentences = 'sents'; if not, keep one root and free the others.",
    "SL003": "{words} has head {head}, but the bag has positions 0 to {last}. Use one of these, or leave the head "
    "free.",
    "SL004": "{words} is its own head. Give it as the root, or leave its head free.",
    "SL005": "A bag of {n} words is over the limit of {limit}. Order it in parts, or raise max_words.",
    "SL006": "'{name}' has {got} entries for {n} words. Give one entry for each word.",
    "SL007": "The precedence {pair} is not a pair of two different positions from 0 to {last}. Give the position of "
    "the word that comes first, then that of the other.",
    "SL008": "No order keeps all of these: {pairs}. Leave one of them out.",
    "SL009": "The search for an order that keeps all given arcs and precedences was given up. Give fewer precedences "
    "between words that no arcs connect.",
    # What is wrong with the gold order and tree of a training example.
    "SL010": "The gold order does not hold each of the {n} words once. Give a permutation of 0 to {last}.",
    "SL011": "The gold tree is not projective in the gold order, at {words}. Skip the sentence, or make its tree "
    "projective.",
    "SL012": "The gold tree has {n} roots, or heads are missing. Give one word the head ROOT and every other a head.",
    "SL013": "The predicted Doc has other words than the reference, or the same words in a sequence that leaves their "
    "match open: '{word}'. Give both Docs the same tokens in the same sequence, as spacy_linearize.Corpus.v1 does.",
    "SL014": "The gold head of {words} is not the given one. Leave that head free.",
    # What is wrong with the settings.
    "SL020": "Template '{template}' names the unknown atom '{atom}'. Known atoms: {known}.",
    "SL021": "Unknown template group '{group}'. Known groups: {known}.",
    "SL022": "Setting '{key}' is {value}, but must be {expected}.",
    "SL023": "Template '{template}' is listed twice: it is in {where} already. Leave it out.",
    "SL024": "Template '{template}' joins atoms of pairs (X, Y, Z) with others. Use one kind or the other.",
    # What is wrong with a pipeline.
    "SL040": "The component '{name}' is not trained. Train it with 'spacy train', or take a trained one: "
    "nlp.add_pipe('linearizer', source=spacy_linearize.load()).",
    "SL041": "The extension 'doc._.{name}' was set by another package. Remove it with Doc.remove_extension('{name}') "
    "before this component is created.",
    "SL042": "The Doc has no sentence boundaries, and sentences = 'sents' needs them. Put a parser, senter or "
    "sentencizer before '{name}', or set sentences = 'doc'.",
    "SL043": "{words} has its head in another sentence. Give each sentence a tree of its own.",
    "SL044": "A linearizer returns new Docs and cannot change one in place. Call nlp(doc) or use nlp.pipe.",
    "SL045": "Found no example with words to learn from. Give initialize() a corpus of sentences in their right order.",
    "SL046": "The compiled modules of spacy_linearize are missing ({problem}). If Python runs in the folder of the "
    "sources, install them in place: pip install -e .",
    "SL047": "There is no alternative {rank}: doc._.linearization holds {n}. Set n_best of the component, and name "
    "one from 0 to n_best - 1.",
    "SL048": "The Doc asks for {words} in this sequence, but has them the other way round. Change its order, or the "
    "precedence.",
    "SL049": "The arcs that the Doc gives cross in its own order, at {words}. Leave such an arc free, "
    "or use a model that lifts crossing arcs.",
    # What is wrong with what a Doc says about its order.
    "SL060": "doc._.{name} asks for {words} in this sequence, but the first is in a later sentence. Sentences keep "
    "their sequence: name tokens of one sentence.",
    "SL061": "doc._.{name} holds {value}, which does not name different tokens of the Doc by their positions. "
    "linearize_before is a list of pairs, linearize_fixed a list of lists, linearize_first and linearize_last a "
    "position or a list of them; positions are whole numbers from 0 to {last} (token.i).",
    "SL062": "'{name}' has units = 'noun_chunks', but the Doc has none. Parse it first, in a language with noun "
    "chunks, or use a span group.",
    "SL063": "'{name}' has units = '{units}', but the Doc has no such span group (it has: {known}). Set "
    "doc.spans['{units}'], or units to null, 'ents' or 'noun_chunks'.",
    "SL064": "{words} are asked for in this sequence, but belong to one unit in which they stand the other way round. "
    "Leave out the precedence, or the unit.",
    "SL065": "The unit at {words} runs over the end of a sentence. Keep units within sentences.",
    "SL066": "The unit at {words} overlaps another one. Keep each token in one unit at most.",
    "SL067": "A unit is tied to the outside at more than one of its words: {words}. Give only one of them a head "
    "outside.",
    "SL068": "Of {words}, a token outside depends on the first, but a unit is tied to the outside by its head alone, "
    "which is the second. Give it the second as its head, or leave that arc free.",
    "SL069": "The given arcs inside the unit {words} cross, or run over its head. Leave one of them free.",
    "SL190": "doc._.{name} names {words} of one sentence. Name one token for each sentence.",
    "SL191": "doc._.linearize_first and doc._.linearize_last both name {words}, which is not alone in its sentence. "
    "Leave one of them out.",
    # What is wrong with what is handed to the component.
    "SL192": "A linearizer orders Docs, but was given {value}. Call nlp(text), or make a Doc: "
    "Doc(nlp.vocab, words=text.split()).",
    "SL193": "doc._.linearization speaks of {n} tokens, but the Doc has {n_now}: tokens were merged or split since. "
    "Take alternatives before that.",
    "SL194": "initialize() was given {key}, but no nlp to read it with. Give it nlp=nlp, too.",
    # What is wrong on the command line.
    "SL050": "Plots need matplotlib. Install it with: pip install matplotlib.",
    "SL052": "The pipeline '{model}' has no linearizer. Train one, or add one from a trained pipeline: "
    "nlp.add_pipe('linearizer', source=trained_nlp).",
    "SL053": "There is nothing to convert at {path}. Name a .conllu, .mrg or .parse file, a folder with such files, "
    "or their --format; --split must match some of them.",
    "SL054": "{path} is not a .spacy file. Make one with 'spacy linearize convert'.",
    "SL180": "{path} cannot be read as a .spacy file ({problem}). Copy it again, or make it anew with 'spacy linearize "
    "convert'.",
    "SL181": "{path} is both read and written. Name another path for the output.",
    "SL182": "{path} is not UTF-8 text. Save it as UTF-8; .spacy and .arpa files need these suffixes.",
    "SL183": "There is no .spacy file at {path}. Correct the path, or make one with 'spacy linearize convert'.",
    "SL184": "The only word, '{path}', is the name of a file. Read the file with '--input {path}', or give the word on "
    "standard input.",
    "SL186": "{path} is being written by another process. Wait until that one has ended, or name another path for the "
    "output.",
    "SL187": "The folder {path} is not empty, and holds no pipeline. Name a new folder, or one with a pipeline to "
    "replace.",
    "SL188": "The pipeline '{model}' has several linearizers ({names}), of which '{name}', the last one, is used. Save "
    "a pipeline without the others if another one is meant.",
    "SL189": "{stream} is closed. {advice}.",
    "SL200": "An error inside spacy_linearize or spaCy ({problem}). Leave the bag out, and report it as a bug.",
    "SL201": "'{text}' is not UTF-8 text. Set your terminal to UTF-8, or give the words in a file.",
    "SL202": "The sentence cannot be read: {problem}. Correct it, or leave it out.",
    "SL203": "No word of the training data has {names}, which the setting 'tags_from' names. Name others.",
    "SL204": (
        "The model knows the tag '{tag}', which is not made of '{tags_from}': it was trained with another setting "
        "'tags_from'. Set the one that it was trained with."
    ),
    "SL185": "There are no sentences in {path}. Name a file with some.",
    "SL058": "'{name}' was not trained with the {kind}s {unknown}: they are kept, but treated as if they were not "
    "given. {advice}",
    "SL059": "Not in the new Doc, since their tokens no longer stand together in their sequence: {dropped}. Make them "
    "units to keep them; doc._.linearization['dropped'] lists what a Doc has lost.",
    "SL196": "The pipeline has {n} linearizers ({names}). Name the one that is meant.",
    "SL197": "There is no bundled pipeline {value}. Name one of these: {names}; for others, use spacy.load.",
    "SL195": "The bag has {n} words. Up to {limit}, missing arcs are added: here they stay missing. Order the text "
    "sentence by sentence (sentences = 'sents'), give more arcs, or set tree = false.",
    # What is wrong with something to view.
    "SL070": "There are no words to show. Name some, or a file of bags with --input.",
    "SL071": "There is no order to show. Give the orders of a bag that has words, as nlp.get_pipe('linearizer')"
    ".alternatives(doc, 5) returns them.",
    "SL072": "'{text}' is not an order of this bag. Give the bag that the orders were made from, and Docs that a "
    "linearizer returned.",
    "SL073": "There are several bags, but {path} is the name of one page. Name a folder with --output.",
    # What is wrong with what a client sends to the server.
    "SL290": "{path} has {n} sentences, and {treebank} has {others}. Name the treebank file that it was made from.",
    "SL270": "The server answers this computer alone, and refuses {what}. Open it as http://127.0.0.1 with its port.",
    "SL271": "The request cannot be read: {problem}. Post one JSON object, or for /order a list of them.",
    "SL272": "The request is larger than {limit:,} bytes. Send fewer bags at a time.",
    "SL273": "The server is busy with other requests. Ask again in a moment.",
    "SL274": "There is no {method} {path}. Open /, or post to /order or /score.",
    "SL275": "The request has the content type {kind}. Post JSON, with the header 'Content-Type: application/json'.",
    "SL276": "The port {port} cannot be used ({problem}). Name another one with --port, or 0 for any that is free.",
    # What is wrong with a language model.
    "SL055": "There is no ARPA language model in {path}: it has no line '\\data\\'. Name a text file in ARPA format; "
    "unpack it first if it is compressed.",
    "SL056": "Line {line} of {path} is not as ARPA files have it: {problem}. Correct the line, or write the file "
    "again.",
    "SL057": "The n-gram {gram} does not fit a language model of order {order}: {problem}. Give n-grams of 1 to "
    "{order} words, each once, with finite logarithms.",
    # What is wrong with a text.
    "SL210": "There is no file or folder {path}. Correct the path.",
    "SL211": "There is no text in the folder {path}. Name one with files that end in {suffixes}.",
    "SL212": "{path} holds Docs, and text is needed here. Name .txt, .gz, .xz or .bz2 files, folders of them, or '-' "
    "for standard input.",
    "SL213": "Line {line} of {path} is not UTF-8 text: it is left out.",
    "SL214": "{n} more lines are not UTF-8 text: they are left out. Save the text as UTF-8 if they should count.",
    "SL215": "{path} is damaged at line {line} ({problem}). Copy or pack it again.",
    "SL216": "One of {n} processes ended before its work was done, perhaps for lack of memory. Use fewer, or smaller "
    "batches.",
    "SL224": "{path} is a language model in ARPA format, and text is needed here. Give it to 'spacy linearize lm', "
    "alone, unpacked, and with the suffix .arpa.",
    "SL225": "The n-grams do not fit into {memory} MB: they were kept only if they were seen {counts} times, by "
    "length. Give more memory to keep more of them.",
    # What is wrong with a folder for parsed text.
    "SL217": "The pipeline '{model}' has no component that gives arcs. Name one with a parser.",
    "SL218": "The folder {path} is not empty, and holds no parsed text. Name a new folder.",
    "SL219": "{path} cannot be read, or does not fit the files beside it. Name another folder.",
    "SL250": "spaCy's evaluation would compare the spaces of these examples with the new order, and stop with E949. "
    'Change one line in [corpora.train] and in [corpora.dev] of the config: @readers = "spacy_linearize.Corpus.v1".',
    "SL254": "The model has no labels, and las would be 0 among the scores of training. Delete the line 'las' under "
    "[training.score_weights].",
    "SL251": "The calibration of this pipeline is {values!r}, not the numbers bias, given and words. Calibrate it "
    "anew: spacy linearize calibrate.",
    "SL253": "spaCy knows no language '{lang}'. Name one such as en, de or ja, or xx for any.",
    "SL252": "The corpus has nothing to calibrate with: of its sentences of three words and more, some must come back "
    "in their own order and others not. Take more sentences, and none of the training part.",
    "SL220": "The folder {path} was begun with other settings: '{key}' was {old!r}, and is {new!r} now. Use the same "
    "ones to go on with it, or name another folder.",
    # What is wrong with a bag in JSON.
    "SL221": "The key '{key}' of the JSON object has {value}, but must be {expected}.",
    "SL222": "The line is not a JSON object ({problem}). Write one object a line, with the key 'words'.",
    "SL223": "doc._.linearize_ranges holds {value}, which are no multiword tokens. Give each as (start, end, form, "
    "misc): positions from 0 to {last}, the second one after the last word, a form, and a text or '_'. They must not "
    "overlap.",
    # What is wrong with a second opinion.
    "SL230": "The reranker failed ({problem}). Correct it, or set reranker = null.",
    "SL231": "The reranker returned {got} scores for {n} {what}. It must return one list of scores for each question, "
    "and one score for each of its texts.",
    "SL232": "The reranker scores '{text}' with {score}, which is no finite number, or too large. Correct it, or use "
    "another model.",
    "SL234": "The model '{model}' cannot be loaded ({problem}). Name a folder, a .gguf file or a model that is there, "
    "and install what it needs: pip install 'spacy_linearize[llm]', or kenlm for n-grams.",
    "SL235": "There is not enough memory on '{device}' for a text of {n} tokens. Use a smaller model, or another "
    "device.",
    "SL236": "A text of {n} tokens is over the limit of the model, {limit}: '{text}'. Use another model, or less "
    "context.",
    "SL237": "The tokenizer of the model cannot encode '{text}' ({problem}). Use another model.",
    "SL238": "The settings of the reranker make none ({problem}). Correct them: '@misc' has to name a registered "
    "function, and the other keys are its arguments.",
    "SL233": "doc._.{name} holds {value}, which is not a text. Set it to what was said before, or to None.",
    # What is wrong with a model file.
    "SL030": "{source} is not a spacy_linearize model: it does not start with the model signature.",
    "SL031": "{source} has model format {found}, and this version reads {known}. Use the version of spacy_linearize "
    "that wrote it, or train the model again.",
    "SL032": "{source} is damaged: {what}. Copy or train the model again.",
    "SL033": "{source} was written by a version with other feature templates (fingerprint {found}, expected {known}). "
    "Use the version of spacy_linearize it was trained with, or train the model again.",
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


def first_sentence(problem: Exception) -> str:
    """What an error of another package says, without the advice that often follows."""
    return re.split(r"\.(?=\s|$)", str(problem), maxsplit=1)[0]


def _quoted(value: object) -> str:
    """A value of the user, for a message: it may be long, or have no repr at all."""
    try:
        text = repr(value)
    except Exception:  # of a huge number, or of lists in lists without end
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}..."


def error(
    code: str,
    *,
    words: Sequence[int] = (),
    pairs: Sequence[tuple[int, int]] | None = None,
    texts: Sequence[str] | None = None,
    **values: object,
) -> LinearizeError:
    """The error with this code, its message filled in.

    words (Sequence[int]): Positions of the words concerned, named in the message.
    pairs (Optional[Sequence[Tuple[int, int]]]): Pairs of positions of which the first should stand before the second.
    texts (Optional[Sequence[str]]): The words' texts, quoted in the message when known. If it has a method `position`,
        that says where a word stands for the user, see `doc.read.TokenTexts`.
    values (object): What else the message names.
    """
    position: Callable[[int], int] = getattr(texts, "position", int)

    def name(i: int) -> str:
        return f"word {i}" if texts is None or not 0 <= i < len(texts) else f"word {position(i)} '{texts[i]}'"

    named = ", ".join(map(name, words))
    values.update({key: _quoted(values[key]) for key in ("value", "rank") if key in values})
    if pairs is not None:
        values["pairs"] = ", ".join(f"{name(first)} before {name(second)}" for first, second in pairs)
        words = sorted({i for pair in pairs for i in pair})
    return LinearizeError(MESSAGES[code].format(words=named, **values), code, [position(i) for i in words])
