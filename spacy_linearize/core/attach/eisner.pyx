"""The best projective tree over a sentence, given a score for each arc: exact, first order (Eisner 1996).

Departs from the paper in one point: exactly one word is the root, chosen in a last step instead of by a word 0. The
caller fills chart.arcs, with -infinity for arcs that are not allowed; row n holds the scores of being the root.
"""
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from ..bag.forest cimport ROOT
from ..interrupt cimport did


cdef int fill_chart(ChartC* chart, Py_ssize_t n) except -1 nogil:
    cdef Py_ssize_t width, i, j, m, split
    cdef double best, score
    cdef size_t cells = n * n
    cdef long work = 0
    chart.right.assign(cells, -INFINITY)
    chart.left.assign(cells, -INFINITY)
    chart.right_open.assign(cells, -INFINITY)
    chart.left_open.assign(cells, -INFINITY)
    chart.right_split.resize(cells)
    chart.left_split.resize(cells)
    chart.open_split.resize(cells)
    for i in range(n):
        chart.right[i * n + i] = chart.left[i * n + i] = 0
    for width in range(1, n):
        did(&work, <long>((n - width) * width // 64))
        for i in range(n - width):
            j = i + width
            best = -INFINITY
            split = i
            for m in range(i, j):
                score = chart.right[i * n + m] + chart.left[j * n + m + 1]
                if score > best:
                    best = score
                    split = m
            chart.open_split[i * n + j] = <int>split
            chart.right_open[i * n + j] = best + chart.arcs[i * n + j]
            chart.left_open[j * n + i] = best + chart.arcs[j * n + i]
            best = -INFINITY
            split = j
            for m in range(i + 1, j + 1):
                score = chart.right_open[i * n + m] + chart.right[m * n + j]
                if score > best:
                    best = score
                    split = m
            chart.right[i * n + j] = best
            chart.right_split[i * n + j] = <int>split
            best = -INFINITY
            split = i
            for m in range(i, j):
                score = chart.left[m * n + i] + chart.left_open[j * n + m]
                if score > best:
                    best = score
                    split = m
            chart.left[j * n + i] = best
            chart.left_split[j * n + i] = <int>split
    return 0


cdef enum SpanKind:
    RIGHT_COMPLETE
    LEFT_COMPLETE
    RIGHT_OPEN
    LEFT_OPEN


cdef struct SpanC:
    int kind
    Py_ssize_t i
    Py_ssize_t j


cdef int read_tree(ChartC* chart, Py_ssize_t n, vector[int]* heads) except -1 nogil:
    """The best tree of a filled chart. Returns 0, or 1 if there is none."""
    cdef Py_ssize_t root = -1, r, m
    cdef double score, best = -INFINITY
    cdef vector[SpanC] todo
    cdef SpanC span
    for r in range(n):
        score = chart.left[r * n] + chart.right[r * n + n - 1] + chart.arcs[n * n + r]
        if score > best:
            best = score
            root = r
    if root < 0:
        return 1
    heads.assign(n, ROOT)
    todo.push_back(SpanC(LEFT_COMPLETE, 0, root))
    todo.push_back(SpanC(RIGHT_COMPLETE, root, n - 1))
    while not todo.empty():
        span = todo.back()
        todo.pop_back()
        if span.i == span.j:
            continue
        if span.kind == RIGHT_COMPLETE:
            m = chart.right_split[span.i * n + span.j]
            todo.push_back(SpanC(RIGHT_OPEN, span.i, m))
            todo.push_back(SpanC(RIGHT_COMPLETE, m, span.j))
        elif span.kind == LEFT_COMPLETE:
            m = chart.left_split[span.j * n + span.i]
            todo.push_back(SpanC(LEFT_COMPLETE, span.i, m))
            todo.push_back(SpanC(LEFT_OPEN, m, span.j))
        else:
            if span.kind == RIGHT_OPEN:
                heads[0][span.j] = <int>span.i
            else:
                heads[0][span.i] = <int>span.j
            m = chart.open_split[span.i * n + span.j]
            todo.push_back(SpanC(RIGHT_COMPLETE, span.i, m))
            todo.push_back(SpanC(LEFT_COMPLETE, m + 1, span.j))
    return 0
