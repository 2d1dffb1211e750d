"""What the language model adds to the score of a SHIFT, in either direction, from one model of sentences as they are read.

From left to right it is the logarithm of the probability of the word after those before it. From right to left, the word
becomes a context: each of the next words is now as probable as after it, instead of without it. Either way the sum over a
sentence is the logarithm of its probability. The logarithms of the 1-grams are subtracted: their sum is
the same for every order, and hypotheses then do not differ by which words they still have to place.
"""
from libc.stdint cimport uint8_t, uint64_t

from ..bag.word cimport FORM, SHAPE, SUFFIX
from ..hashing cimport mix
from ..ngrams.grams cimport MAX_ORDER
from ..ngrams.table cimport (
    BEGIN, END, SEED, UNITS, HistoryC, SlotC, find, home_of, known_word, log_units, look_back, match,
)
from ..systems.state cimport NONE
from ..weights cimport prefetch

cdef enum:  # in the cache of 2-grams
    ABSENT = -1     # the model has none
    NOT_ASKED = -2


cdef int start_ngrams(SearchC* search, WorkspaceC* workspace) except -1 nogil:
    """Look up the 1-gram of each word."""
    cdef int n = search.context.bag.forest.n, k
    cdef const uint64_t* columns
    cdef const SlotC* slot
    cdef HistoryC nothing
    workspace.known_words.resize(n)
    workspace.unigrams.resize(n)
    workspace.own_backoffs.assign(n, 0)
    workspace.bigrams.assign(workspace.by_neighbours.size(), NOT_ASKED)
    nothing.n = 0
    look_back(search.ngrams, &nothing)
    for k in range(n):
        columns = search.context.bag.words[k].columns
        workspace.known_words[k] = known_word(search.ngrams, columns[<int>FORM], columns[<int>SUFFIX],
                                              columns[<int>SHAPE])
        workspace.unigrams[k] = log_units(search.ngrams, &nothing, workspace.known_words[k])
        slot = find(search.ngrams, mix(SEED, workspace.known_words[k]))
        if slot != NULL:
            workspace.own_backoffs[k] = search.ngrams.backoffs[0][slot.backoff]
    return 0


cdef void read_context(SearchC* search, WorkspaceC* workspace, const StateC* state, NgramContextC* context) noexcept nogil:
    """The words placed last, as the language model sees them."""
    cdef uint64_t words[MAX_ORDER - 1]
    cdef int i, n = min(<int>MAX_ORDER - 1, search.ngrams.order - 1), node
    for i in range(n):
        node = state.recent[i]
        if node == NONE:
            words[i] = END if search.context.mirrored else BEGIN
            n = i + 1
            break
        words[i] = workspace.known_words[search.context.nodes[0][node].word]
    if search.context.mirrored:
        context.ahead.n = n
        for i in range(n):
            context.ahead.words[i] = words[i]
        look_ahead(search, &context.ahead)
    else:
        context.history.n = n
        for i in range(n):
            context.history.words[i] = words[i]
        look_back(search.ngrams, &context.history)


cdef void look_ahead(SearchC* search, AheadC* ahead) noexcept nogil:
    """Complete words of which n and words are set, and cut them to what a word before them can change.

    `look_back` goes on to a longer history only from one that was seen, so no word before those counts for the next one.
    """
    cdef HistoryC history
    cdef uint64_t h
    cdef int i, k, n_matched, n = ahead.n
    for i in range(n):
        history.n = i
        for k in range(i):
            history.words[k] = ahead.words[i - 1 - k]
        look_back(search.ngrams, &history)
        if history.n < i:
            ahead.n = i
            return
        h = SEED
        for k in range(i, -1, -1):
            h = mix(h, ahead.words[k])
        # An n-gram counts only if all of its ends are there, see `match`.
        n_matched = match(search.ngrams, &history, ahead.words[i], &ahead.units[i])
        ahead.hashes[i] = h if i == 0 or n_matched == i else 0


cdef void ask_for_ngram(SearchC* search, WorkspaceC* workspace, const StateC* state, const NgramContextC* context,
                        int word) noexcept nogil:
    """Let the memory fetch the n-gram that `ngram_score` looks up first, to be read a little later. The table is larger than
    the caches, and its slots are met at random."""
    cdef int before = search.context.nodes[0][state.recent[0]].word if state.recent[0] != NONE else -1
    cdef uint64_t form = workspace.known_words[word], h
    cdef int n = context.ahead.n if search.context.mirrored else context.history.n, known = NOT_ASKED
    if n == 0:
        return
    if not workspace.bigrams.empty():
        known = workspace.bigrams[<size_t>(before + 1) * search.context.bag.forest.n + word]
    if known == ABSENT or (known != NOT_ASKED and n == 1):
        return
    if search.context.mirrored:
        if known != NOT_ASKED and context.ahead.hashes[1] == 0:
            return
        h = mix(context.ahead.hashes[1 if known != NOT_ASKED else 0], form)
    else:
        h = mix(mix(SEED, form), context.history.words[0])
        if known != NOT_ASKED:
            h = mix(h, context.history.words[1])
    prefetch(search.ngrams.slots.data() + home_of(h, search.ngrams.n_homes))


cdef double ngram_score(SearchC* search, WorkspaceC* workspace, const StateC* state, const NgramContextC* context,
                        int word) noexcept nogil:
    """What the language model adds to the score for the word that is placed next."""
    cdef bint is_last = state.n_shifted + 1 == search.context.bag.forest.n
    cdef int units
    if search.context.mirrored:
        units = units_before(search, workspace, state, &context.ahead, word)
        if is_last:
            units += units_of_beginning(search, &context.ahead, workspace.known_words[word])
    else:
        units = units_after(search, workspace, state, &context.history, word) - workspace.unigrams[word]
        if is_last:
            units += units_of_end(search, &context.history, workspace.known_words[word])
    return search.ngram_weight * units / UNITS


cdef inline const SlotC* bigram(SearchC* search, WorkspaceC* workspace, const StateC* state, uint64_t neighbour,
                                int word) noexcept nogil:
    """The 2-gram of a word and the one placed last, or NULL. Cached: most are not part of a longer n-gram, so that no
    other is looked up."""
    cdef int before = search.context.nodes[0][state.recent[0]].word if state.recent[0] != NONE else -1
    cdef const SlotC* slot
    cdef int* known = NULL
    if not workspace.bigrams.empty():
        known = workspace.bigrams.data() + <size_t>(before + 1) * search.context.bag.forest.n + word
        if known[0] == ABSENT:
            return NULL
        if known[0] != NOT_ASKED:
            return search.ngrams.slots.data() + known[0]
    if search.context.mirrored:
        slot = find(search.ngrams, mix(mix(SEED, neighbour), workspace.known_words[word]))
    else:
        slot = find(search.ngrams, mix(mix(SEED, workspace.known_words[word]), neighbour))
    if known != NULL:
        known[0] = <int>(slot - search.ngrams.slots.data()) if slot != NULL else <int>ABSENT
    return slot


cdef int units_after(SearchC* search, WorkspaceC* workspace, const StateC* state, const HistoryC* history,
                     int word) noexcept nogil:
    """The logarithm of the probability of a word after a history: as `log_units` has it."""
    cdef int units = history.backoff[0] + workspace.unigrams[word], n
    cdef const SlotC* slot
    cdef uint64_t h
    if history.n == 0:
        return units
    slot = bigram(search, workspace, state, history.words[0], word)
    if slot == NULL:
        return units
    h = mix(mix(SEED, workspace.known_words[word]), history.words[0])
    units = history.backoff[1] + search.ngrams.probabilities[1][slot.probability]
    for n in range(2, history.n + 1):
        h = mix(h, history.words[n - 1])
        slot = find(search.ngrams, h)
        if slot == NULL:
            break
        units = history.backoff[n] + search.ngrams.probabilities[n][slot.probability]
    return units


cdef int units_of_end(SearchC* search, const HistoryC* history, uint64_t form) noexcept nogil:
    """The logarithm of the probability that a sentence ends after its last word."""
    cdef HistoryC longer
    cdef int i
    longer.n = min(<int>MAX_ORDER - 1, history.n + 1)
    longer.words[0] = form
    for i in range(1, longer.n):
        longer.words[i] = history.words[i - 1]
    look_back(search.ngrams, &longer)
    return log_units(search.ngrams, &longer, END)


cdef int units_before(SearchC* search, WorkspaceC* workspace, const StateC* state, const AheadC* ahead,
                      int word) noexcept nogil:
    """How much more probable the words to the right become with a word before them."""
    cdef const SlotC* slot
    if ahead.n == 0:
        return 0
    slot = bigram(search, workspace, state, ahead.words[0], word)
    return workspace.own_backoffs[word] if slot == NULL else units_of(search, ahead, workspace.known_words[word], slot)


cdef int units_of_beginning(SearchC* search, const AheadC* ahead, uint64_t form) noexcept nogil:
    """How much more probable a whole sentence becomes as one that begins with its first word."""
    cdef const SlotC* slot
    cdef AheadC longer
    cdef int i
    longer.n = min(search.ngrams.order - 1, ahead.n + 1)
    if longer.n == 0:
        return 0
    longer.words[0] = form
    for i in range(1, longer.n):
        longer.words[i] = ahead.words[i - 1]
    look_ahead(search, &longer)
    slot = find(search.ngrams, mix(longer.hashes[0], BEGIN))
    if slot != NULL:
        return units_of(search, &longer, BEGIN, slot)
    slot = find(search.ngrams, mix(SEED, BEGIN))
    return search.ngrams.backoffs[0][slot.backoff] if slot != NULL else 0


cdef int units_of(SearchC* search, const AheadC* ahead, uint64_t form, const SlotC* slot) noexcept nogil:
    """The same for a word whose 2-gram with the next one is in the model. Longer n-grams begin with that."""
    cdef int total = 0, i
    cdef uint8_t backoff
    for i in range(ahead.n):
        if i:
            backoff = slot.backoff
            slot = find(search.ngrams, mix(ahead.hashes[i], form)) if ahead.hashes[i] else NULL
            if slot == NULL:
                return total + search.ngrams.backoffs[i][backoff]
        total += search.ngrams.probabilities[i + 1][slot.probability] - ahead.units[i]
    return total
