"""Two searches, from left to right and from right to left, whose results are ranked by the sum of both scores.

A search sees what it has placed and guesses what is to come; the other direction has it the other way round. So their
errors differ, and an order that both find good is more often right than the best one of either.
"""
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport reverse, sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from .bag cimport FORM, Bag, BagC
from .hashing cimport mix
from .search cimport Decoder, SearchC, Workspace, WorkspaceC, read_off, run, score_derivation, to_arrays
from .system cimport GoldC


cdef cppclass CandidateC:
    GoldC result        # in the direction of the first search
    double scores[2]    # of both searches
    bint scored[2]      # which of these are known
    uint64_t words      # a hash of the forms in order
    uint64_t content    # a hash of all that it is


def decode_both(Decoder first not None, Decoder second not None, Bag bag not None, *, int width, int n_best=1,
                double ngram_weight=0):
    """The best orders of a bag, best first, no sequence of words twice: of those with the same words the best counts.

    first, second (Decoder): The same system in the two directions.
    width (int): Of each beam.
    n_best (int): How many results to return at most.
    ngram_weight (float): Weight of the language models.
    RETURNS: As `Decoder.decode`.
    """
    cdef Workspace a = first.take_workspace(), b = second.take_workspace()
    cdef SearchC forth = first.prepare(bag, a, first.weights.for_decoding(), width)
    cdef SearchC back = second.prepare(bag, b, second.weights.for_decoding(), width)
    forth.ngram_weight = ngram_weight if first.ngrams.order else 0
    back.ngram_weight = ngram_weight if second.ngrams.order else 0
    cdef vector[CandidateC] candidates
    cdef vector[pair[double, int]] ranks
    cdef size_t i
    with nogil:
        collect(&forth, &a.c, candidates, False)
        collect(&back, &b.c, candidates, True)
        for i in range(candidates.size()):
            if not candidates[i].scored[0]:
                candidates[i].scores[0] = score_derivation(&forth, &a.c, &candidates[i].result)
            if not candidates[i].scored[1]:
                turn(&candidates[i].result)
                candidates[i].scores[1] = score_derivation(&back, &b.c, &candidates[i].result)
                turn(&candidates[i].result)
            ranks.push_back(pair[double, int](-(candidates[i].scores[0] + candidates[i].scores[1]), <int>i))
        sort(ranks.begin(), ranks.end())
    results = []
    seen = set()
    for i in range(ranks.size()):
        if len(results) == n_best:
            break
        words = candidates[ranks[i].second].words
        if words not in seen:
            seen.add(words)
            results.append(to_arrays(bag, &candidates[ranks[i].second].result, -ranks[i].first, first.mirrored))
    first.return_workspace(a)
    second.return_workspace(b)
    return results


cdef int collect(SearchC* search, WorkspaceC* workspace, vector[CandidateC]& candidates, bint is_back) except -1 nogil:
    """Search, and add the results that are not there yet. Of those that both searches find, both scores are known."""
    cdef CandidateC candidate
    cdef int rank
    cdef size_t i
    run(search, workspace)
    for rank in range(<int>workspace.beam.size()):
        read_off(search, workspace, rank, &candidate.result)
        if is_back:
            turn(&candidate.result)
        hash_candidate(search.context.bag, &candidate)
        i = 0
        while i < candidates.size() and candidates[i].content != candidate.content:
            i += 1
        if i == candidates.size():
            candidate.scored[0] = candidate.scored[1] = False
            candidates.push_back(candidate)
        # A beam stands by rank: of two derivations of the same result the first is the better one.
        if not candidates[i].scored[is_back]:
            candidates[i].scored[is_back] = True
            candidates[i].scores[is_back] = workspace.beam[rank].score
    return 0


cdef int hash_candidate(BagC* bag, CandidateC* candidate) except -1 nogil:
    """Fill in the hashes. Twins are the same word, and a head is named by its place."""
    cdef GoldC* result = &candidate.result
    cdef vector[int] place
    cdef uint64_t words = 0, content = 0
    cdef int i, k, head, n = result.order.size()
    place.resize(n)
    for i in range(n):
        place[result.order[i]] = i
    for i in range(n):
        k = result.order[i]
        words = mix(words, bag.words[k].columns[<int>FORM])
        head = result.head[k]
        if head >= 0:
            head = place[head]
        content = mix(mix(mix(content, head), result.tag[k]), result.label[k])
        while bag.forest.twin[k] >= 0:
            k = bag.forest.twin[k]
        content = mix(content, k)
    candidate.words = words
    candidate.content = content
    return 0


cdef inline void turn(GoldC* result) noexcept nogil:
    reverse(result.order.begin(), result.order.end())
