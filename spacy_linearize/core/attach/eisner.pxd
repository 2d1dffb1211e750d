"""The chart of Eisner's algorithm."""
from libcpp.vector cimport vector


cdef cppclass ChartC:
    # Best scores of spans (i, j) by where the head is. Those with the head on the right stand under [j][i].
    vector[double] arcs             # [head][dependent]
    vector[double] right            # head i, complete
    vector[double] left             # head j, complete
    vector[double] right_open       # the arc i -> j
    vector[double] left_open        # the arc j -> i
    vector[int] right_split
    vector[int] left_split
    vector[int] open_split


cdef int fill_chart(ChartC* chart, Py_ssize_t n) except -1 nogil
cdef int read_tree(ChartC* chart, Py_ssize_t n, vector[int]* heads) except -1 nogil
