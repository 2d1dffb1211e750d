"""Order a bag of words into a sentence with its dependency tree."""

__version__ = "0.1.0"
