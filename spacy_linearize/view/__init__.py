"""Linearizations as HTML pages."""

from .page import render

__all__ = ["render"]
