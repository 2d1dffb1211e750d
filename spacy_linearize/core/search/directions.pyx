"""Searches in one direction, or in two whose results are ranked by the sum of both scores.

A search sees what it has placed and guesses what is to come; the other direction sees the rest. So their errors differ,
and an order that both score well is more often right than the best one of either.
"""
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport reverse, sort
from libcpp.pair cimport pair
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from ..bag.bag cimport BagC, PackedBag, hash_sentence
from ..hashing cimport mix
from ..interrupt cimport did
from ..systems.derivation cimport TargetC
from .beam cimport Decoder, Workspace, read_off, run, score_derivation, to_order
from .workspace cimport SearchC, WorkspaceC


cdef cppclass CandidateC:
    TargetC target      # in the direction of the first search
    double scores[2]    # of the searches
    bint scored[2]      # which of these are known
    uint64_t words      # a hash of what a reader sees
    uint64_t content    # a hash of all that it is


cdef cppclass JobC:
    # One bag to order.
    int n_searches                              # 1 or 2
    SearchC searches[2]
    vector[CandidateC] candidates
    unordered_map[uint64_t, size_t] number      # of the candidate with a content
    vector[pair[double, int]] ranks             # the negative score of each candidate, with its number; best first


def decode(decoders, bags, *, widths, weights, n_best):
    """The best orders of some bags, best first, no sequence of words twice: of those with the same words the best
    counts. The GIL is released once for all of them.

    decoders (Sequence[Sequence[Decoder]]): For each bag one decoder, or the same system in both directions.
    bags (Sequence[PackedBag]): The bags.
    widths (Sequence[int]): For each bag, the width of the beams.
    weights (Sequence[float]): For each bag, the weight of the language model.
    n_best (Sequence[int]): For each bag, how many orders to return at most.
    RETURNS (List[List[Order]]): For each bag. There are none if precedences led all hypotheses into dead ends.
    """
    cdef vector[JobC] jobs
    cdef Workspace forth, back
    cdef Decoder first, last
    cdef size_t i
    if not len(bags):
        return []
    jobs.resize(len(bags))
    first, *_ = decoders[0]
    *_, last = decoders[0]
    forth, back = first.take_workspace(), last.take_workspace()
    for i, (own, bag, width, weight, _) in enumerate(zip(decoders, bags, widths, weights, n_best, strict=True)):
        set_job(&jobs[i], own, bag, forth, back, width, weight)
    with nogil:
        for i in range(jobs.size()):
            solve(&jobs[i], &forth.c, &back.c)
    results = [
        best_of(&jobs[i], bag, n_best[i], jobs[i].searches[0].context.mirrored) for i, bag in enumerate(bags)
    ]
    first.return_workspace(forth)
    last.return_workspace(back)
    return results


cdef int set_job(JobC* job, decoders, PackedBag bag, Workspace forth, Workspace back, int width,
                 double weight) except -1:
    cdef Decoder decoder
    job.n_searches = 0
    for decoder in decoders[:2]:
        job.searches[job.n_searches] = decoder.prepare_decoding(bag, back if job.n_searches else forth, width, weight)
        job.n_searches += 1
    return 0


cdef list best_of(JobC* job, PackedBag bag, int n_best, bint mirrored):
    """The best results with different words."""
    cdef CandidateC* candidate
    cdef size_t i
    cdef long work = 0
    results = []
    seen = set()
    for i in range(job.ranks.size()):
        if len(results) == n_best:
            break
        candidate = &job.candidates[job.ranks[i].second]
        did(&work, 1 + candidate.target.order.size())
        if candidate.words not in seen:
            seen.add(candidate.words)
            results.append(to_order(bag, &candidate.target, -job.ranks[i].first, mirrored))
    return results


cdef int solve(JobC* job, WorkspaceC* forth, WorkspaceC* back) except -1 nogil:
    """Search, and rank what is found."""
    cdef CandidateC* candidate
    cdef size_t i
    cdef double score
    collect(job, 0, forth)
    if job.n_searches == 2:
        collect(job, 1, back)
    for i in range(job.candidates.size()):
        candidate = &job.candidates[i]
        did(&forth.work, candidate.target.order.size())
        if not candidate.scored[0]:
            candidate.scores[0] = score_derivation(&job.searches[0], forth, &candidate.target)
        score = candidate.scores[0]
        if job.n_searches == 2:
            if not candidate.scored[1]:
                turn(&candidate.target)
                candidate.scores[1] = score_derivation(&job.searches[1], back, &candidate.target)
                turn(&candidate.target)
            score += candidate.scores[1]
        job.ranks.push_back(pair[double, int](-score, <int>i))
    sort(job.ranks.begin(), job.ranks.end())
    return 0


cdef int collect(JobC* job, bint is_back, WorkspaceC* workspace) except -1 nogil:
    """Search, and add the results that are not there yet. Of those that both searches find, both scores are known."""
    cdef SearchC* search = &job.searches[is_back]
    cdef CandidateC candidate
    cdef int rank
    cdef size_t i
    run(search, workspace)
    for rank in range(<int>workspace.beam.size()):
        read_off(search, workspace, rank, &candidate.target)
        if is_back:
            turn(&candidate.target)
        hash_candidate(search.context.bag, &candidate, search.context.mirrored != is_back)
        did(&workspace.work, candidate.target.order.size())
        if job.number.count(candidate.content) == 0:
            job.number[candidate.content] = job.candidates.size()
            candidate.scored[0] = candidate.scored[1] = False
            job.candidates.push_back(candidate)
        i = job.number[candidate.content]
        # A beam is sorted by rank: of two derivations of the same result the first is the better one.
        if not job.candidates[i].scored[is_back]:
            job.candidates[i].scored[is_back] = True
            job.candidates[i].scores[is_back] = workspace.beam[rank].score
    return 0


cdef int hash_candidate(BagC* bag, CandidateC* candidate, bint mirrored) except -1 nogil:
    """Compute the hashes. Twins count as the same word, and a head is identified by its place in the order."""
    cdef TargetC* target = &candidate.target
    cdef vector[int] place
    cdef uint64_t content = 0
    cdef int i, k, head, n = target.order.size()
    place.resize(n)
    for i in range(n):
        place[target.order[i]] = i
    for i in range(n):
        k = target.order[i]
        head = target.head[k]
        if head >= 0:
            head = place[head]
        content = mix(mix(mix(content, head), target.tag[k]), target.label[k])
        while bag.forest.twin[k] >= 0:
            k = bag.forest.twin[k]
        content = mix(content, k)
    candidate.words = hash_sentence(bag, target.order, mirrored)
    candidate.content = content
    return 0


cdef inline void turn(TargetC* target) noexcept nogil:
    reverse(target.order.begin(), target.order.end())
