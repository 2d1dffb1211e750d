"""Counting n-grams of texts of any size in bounded memory.

A `Text` numbers words in the sequence in which they are first seen, and keeps the sentences as numbers in a temporary
file. `count` reads them once, in an external sort: it sorts blocks of n-grams as large as memory allows, sums up equal
ones, and merges the blocks. The result, too, is a temporary file if there is more than one block.
"""
import tempfile

import numpy as np
from cython.operator cimport dereference
from libc.stdint cimport uint32_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.queue cimport priority_queue
from libcpp.pair cimport pair
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from ..interrupt cimport did
from .grams cimport (
    BEGIN_WORD, END_WORD, MAX_COUNT, MAX_ORDER, MAX_WORDS, PADDING, WORD_BITS, GramC, count_of, is_less, is_same, pack,
)

from ...errors import error

CHUNK = 1 << 20         # numbers, or grams, that are read at a time
SMALLEST_BLOCK = 1 << 12
GRAM_BYTES = sizeof(GramC)


cdef struct WordC:
    uint64_t key
    uint64_t suffix
    uint64_t shape
    uint64_t seen       # how often


cdef class Text:
    """Sentences of one source, as numbers of words.

    folder (Optional[str]): Where temporary files are made. None for the system's default.

    Example:

        text = Text()
        text.add(np.array([11, 12, 11, 13], dtype=np.uint64), np.array([3, 1], dtype=np.uint32))
        text.n_words, text.n_sentences  # 4, 2
    """
    cdef unordered_map[uint64_t, uint32_t] number   # of each word, from 1; 0 ends a sentence
    cdef vector[WordC] word                         # by number
    cdef vector[uint32_t] waiting                   # not yet in the file
    cdef readonly object folder
    cdef object spool
    cdef list sizes                                 # of what was written to the file at a time, in bytes
    cdef readonly uint64_t n_words
    cdef readonly uint64_t n_sentences

    def __init__(self, folder=None):
        self.folder = folder
        self.spool = None
        self.sizes = []
        self.n_words = self.n_sentences = 0
        self.word.resize(1)

    def add(self, keys, lengths) -> None:
        """Add sentences.

        keys (ndarray): The keys of their words, one sentence after the other, of type uint64.
        lengths (ndarray): How many words each of them has. Empty sentences count for nothing.
        """
        cdef const uint64_t[::1] key = np.require(keys, dtype=np.uint64, requirements=["C", "A"])
        cdef const long long[::1] length = np.require(lengths, dtype=np.int64, requirements=["C", "A"])
        cdef Py_ssize_t i, at = 0, k
        if int(np.sum(lengths, dtype=np.int64)) != len(key) or len(length) and np.min(lengths) < 0:
            raise error("SL006", name="keys", got=len(key), n=int(np.sum(lengths)))
        for i in range(len(length)):
            if length[i] == 0:
                continue
            for k in range(at, at + length[i]):
                self.waiting.push_back(self.number_of(key[k]))
                self.word[self.waiting.back()].seen += 1
            at += length[i]
            self.waiting.push_back(0)
            self.n_sentences += 1
            if self.waiting.size() >= <size_t>CHUNK:
                self.write()
        self.n_words += len(key)

    def add_forms(self, forms) -> None:
        """Say what words look like, so that rare ones can stand for others of their class.

        forms (ndarray): Rows of three keys: a word, its suffix and its shape.
        """
        cdef const uint64_t[:, :] form = forms
        cdef Py_ssize_t i
        cdef uint32_t number
        for i in range(form.shape[0]):
            number = self.number_of(form[i, 0])
            self.word[number].suffix = form[i, 1]
            self.word[number].shape = form[i, 2]

    cdef uint32_t number_of(self, uint64_t key) except 0:
        found = self.number.find(key)
        if found != self.number.end():
            return dereference(found).second
        cdef uint32_t number = self.word.size()
        cdef WordC word
        word.key = key
        word.suffix = word.shape = word.seen = 0
        self.number[key] = number
        self.word.push_back(word)
        return number

    cdef int write(self) except -1:
        if self.spool is None:
            self.spool = tempfile.TemporaryFile(dir=self.folder)
        self.spool.seek(0, 2)
        self.sizes.append(self.spool.write(<char[:self.waiting.size() * sizeof(uint32_t)]><char*>self.waiting.data()))
        self.waiting.clear()
        return 0

    def words(self):
        """The words, in the sequence of their numbers, which begin with 1.

        RETURNS (ndarray): Rows of four: key, suffix, shape, and how often it was seen.
        """
        return np.array(<uint64_t[:self.word.size(), :4]><uint64_t*>self.word.data())[1:]

    def read(self):
        """All that was added, as arrays of numbers of words. 0 ends a sentence, and each array ends with one."""
        start = 0
        for size in self.sizes:
            self.spool.seek(start)
            yield np.frombuffer(self.spool.read(size), dtype=np.uint32)
            start += size
        if self.waiting.size():
            yield np.array(<const uint32_t[:self.waiting.size()]>self.waiting.data())


def split(Text text not None, int every):
    """Split a text in two: one sentence in `every` is held out.

    RETURNS (Tuple[Text, Text]): The text without the held-out sentences, and these.
    """
    parts = Text(text.folder), Text(text.folder)
    words = text.words()
    number = 0
    for chunk in text.read():
        is_end = chunk == 0
        sentence = number + np.cumsum(is_end) - is_end
        number += int(is_end.sum())
        for part, is_own in zip(parts, (sentence % every != 0, sentence % every == 0)):
            own = chunk[is_own]
            ends = np.flatnonzero(own == 0)
            part.add(words[own[own > 0] - 1, 0], np.diff(ends, prepend=0 - 1) - 1)
    for part in parts:
        part.add_forms(np.ascontiguousarray(words[:, :3]))
    return parts


class Run:
    """Grams in suffix order, each once: in memory, or in a file.

    grams (Optional[ndarray]): Rows of two numbers, see `grams.pxd`; None if they are in the file.
    """

    def __init__(self, grams=None, file=None, start=0, n=0):
        self.grams = grams
        self.file = file
        self.start = start
        self.n = n if grams is None else len(grams)

    def chunks(self, size=CHUNK):
        """The grams, as arrays of at most `size` rows."""
        for at in range(0, self.n, size):
            n = min(size, self.n - at)
            if self.grams is not None:
                yield self.grams[at : at + n]
            else:
                self.file.seek(self.start + at * GRAM_BYTES)
                yield np.frombuffer(self.file.read(n * GRAM_BYTES), dtype=np.uint64).reshape(n, 2)


def count(Text text not None, numbers, int order, *, size_t memory=1 << 30):
    """The n-grams of a text and how often each was seen.

    numbers (ndarray): For each word of the text, in the sequence of `Text.words`, its number in the vocabulary.
    order (int): Their length. At the beginning of a sentence PADDING stands before it.
    memory (int): How many bytes to take at most.
    RETURNS (Run): The grams in suffix order.
    """
    if not 1 <= order <= MAX_ORDER:
        raise error("SL022", key="order", value=order, expected=f"1 to {MAX_ORDER}")
    cdef vector[uint32_t] renumbered = np.concatenate([[0], numbers]).astype(np.uint32)
    cdef size_t most = max(SMALLEST_BLOCK, memory // GRAM_BYTES // 2)
    cdef vector[GramC] block
    cdef vector[uint32_t] sentence
    cdef const uint32_t[::1] numbered
    cdef size_t i
    cdef long work = 0
    block.reserve(min(most, text.n_words + text.n_sentences))
    file, runs, end = None, [], 0
    for chunk in text.read():
        numbered = chunk
        for i in range(<size_t>len(numbered)):
            if numbered[i]:
                sentence.push_back(renumbered[numbered[i]])
                continue
            if block.size() + sentence.size() + 1 > most and block.size():
                if file is None:
                    file = tempfile.TemporaryFile(dir=text.folder)
                sum_up(&block)
                runs.append(Run(file=file, start=end, n=block.size()))
                end += file.write(<char[:block.size() * sizeof(GramC)]><char*>block.data())
                block.clear()
            add_grams(&sentence, order, &block)
            did(&work, sentence.size())
            sentence.clear()
    sum_up(&block)
    runs.append(Run(grams_of(&block)))
    return merge(runs, text.folder) if len(runs) > 1 else runs[0]


cdef int add_grams(vector[uint32_t]* sentence, int order, vector[GramC]* grams) except -1 nogil:
    """The n-gram that ends at each word of a sentence, and at its end."""
    cdef uint32_t words[MAX_ORDER]
    cdef size_t n = sentence.size(), place
    cdef int i
    for i in range(MAX_ORDER):
        words[i] = PADDING
    words[0] = BEGIN_WORD
    for place in range(n + 1):
        for i in range(order - 1, 0, -1):
            words[i] = words[i - 1]
        words[0] = sentence[0][place] if place < n else <uint32_t>END_WORD
        grams.push_back(pack(words))
    return 0


cdef int sum_up(vector[GramC]* grams) except -1:
    """Sort grams, and merge equal ones into one with their count."""
    cdef size_t i, last = 0
    with nogil:
        sort(grams.begin(), grams.end(), is_less)
        for i in range(1, grams.size()):
            if is_same(grams[0][i], grams[0][last]) and count_of(&grams[0][last]) < MAX_COUNT:
                grams[0][last].second += 1
            else:
                last += 1
                grams[0][last] = grams[0][i]
        if grams.size():
            grams.resize(last + 1)
    return 0


cdef grams_of(vector[GramC]* grams):
    values = np.empty((grams.size(), 2), dtype=np.uint64)
    cdef uint64_t[:, ::1] view = values
    cdef size_t i
    for i in range(grams.size()):
        view[i, 0], view[i, 1] = grams[0][i].first, grams[0][i].second
    return values


cdef cppclass HeadC:
    # The first gram of a run that is not merged yet. The queue returns its maximum, so "larger" means earlier.
    GramC gram
    size_t run

    bint lt "operator<"(const HeadC& other) const:
        return is_less(other.gram, this.gram)


cdef class Chunks:
    """The grams of a run, one after the other."""
    cdef object left
    cdef const uint64_t[:, ::1] chunk
    cdef Py_ssize_t at

    def __init__(self, run):
        self.left = run.chunks(CHUNK // 16)
        self.chunk = next(self.left)
        self.at = 0

    cdef bint take(self, GramC* gram) except -1:
        if self.at == len(self.chunk):
            chunk = next(self.left, None)
            if chunk is None:
                return False
            self.chunk = chunk
            self.at = 0
        gram.first, gram.second = self.chunk[self.at, 0], self.chunk[self.at, 1]
        self.at += 1
        return True


def merge(runs, folder=None):
    """One run out of several, in a file of its own."""
    cdef priority_queue[HeadC] heads
    cdef vector[GramC] merged
    cdef HeadC head
    cdef Chunks chunks
    cdef uint64_t total
    cdef long work = 0
    readers = [Chunks(run) for run in runs if run.n]
    file, n = tempfile.TemporaryFile(dir=folder), 0
    for head.run in range(<size_t>len(readers)):
        chunks = readers[head.run]
        chunks.take(&head.gram)
        heads.push(head)
    while not heads.empty():
        head = heads.top()
        heads.pop()
        if merged.size() and is_same(merged.back(), head.gram) and \
                count_of(&merged.back()) + count_of(&head.gram) <= MAX_COUNT:
            merged[merged.size() - 1].second += count_of(&head.gram)
        else:
            if merged.size() == <size_t>CHUNK:
                n += merged.size()
                file.write(<char[:merged.size() * sizeof(GramC)]><char*>merged.data())
                merged.clear()
            merged.push_back(head.gram)
        chunks = readers[head.run]
        if chunks.take(&head.gram):
            heads.push(head)
        did(&work, 1)
    n += merged.size()
    file.write(<char[:merged.size() * sizeof(GramC)]><char*>merged.data())
    return Run(file=file, n=n)
