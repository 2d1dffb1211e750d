"""Best-first word ordering after Zhang (2013), the baseline of Liu et al. 2015 and Puduppully et al. 2016.

Hypotheses cover sets of words and grow bottom-up: two of them are joined as head and dependent, side by side. An agenda
holds what could be built next, best score first. What is taken from it goes into the chart and is joined with all that
is there. The first hypothesis that covers all words is the answer. If time runs out before, the largest ones of the
chart are glued together.

A baseline and no part of the package: it has a time limit, and it may run into dead ends under partial trees.
"""
