"""The numbers that compiled code uses for atoms, compared with the table of atoms."""

cdef int check_numbers() except -1
