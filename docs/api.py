"""Writes docs/api.md, every public name with its signature and docstring: python docs/api.py"""

import inspect
import re
from pathlib import Path

import spacy_linearize
from spacy_linearize.insight.explain import Explanation
from spacy_linearize.insight.score import OrderScore

PATH = Path(__file__).with_name("api.md")
INTRO = """# API

What is public: the names of `spacy_linearize.__all__`, and what their methods return. Everything else may change. This
page is made from the docstrings by `python docs/api.py`. A test holds it to them.

The registered names are `linearizer` (factory), `spacy_linearize.TransitionLinearizer.v1` (architecture),
`spacy_linearize.Corpus.v1` (reader) and `spacy_linearize.linearizer_scorer.v1` (scorer): see
[configuration](configuration.md). The commands are in [cli](cli.md).
"""
METHODS = {
    "Linearizer": ("__call__", "pipe", "alternatives", "score_order", "explain", "predict", "initialize", "update"),
    "Options": ("change",),
    "OrderScore": ("best", "gap", "gap_per_word"),
    "Explanation": ("to_dict",),
}


def main() -> None:
    PATH.write_text(page(), encoding="utf8")


def page() -> str:
    """The whole page."""
    names = {name: getattr(spacy_linearize, name) for name in spacy_linearize.__all__}
    names |= {"OrderScore": OrderScore, "Explanation": Explanation}
    functions = [name for name, value in names.items() if not inspect.isclass(value)]
    classes = [name for name, value in names.items() if inspect.isclass(value)]
    parts = [INTRO]
    for name in (*sorted(functions), *sorted(classes)):
        shown = name if name in ("OrderScore", "Explanation") else f"spacy_linearize.{name}"
        parts.append(entry(shown, names[name], "##"))
        for method in METHODS.get(name, ()):
            parts.append(entry(f"{name}.{method}", getattr(names[name], method), "###"))
    return "\n".join(parts)


def entry(name: str, value: object, level: str) -> str:
    """One name: its signature, and its docstring with the arguments as a list and the example as code."""
    text = inspect.getdoc(value) or ""
    text, _, example = text.partition("\n\nExample:\n\n")
    lines = [f"{level} `{name}{signature(value)}`", "", listed(text)]
    if example:
        lines += ["", "```py", inspect.cleandoc(example), "```"]
    return "\n".join(lines) + "\n"


def signature(value: object) -> str:
    if isinstance(value, property) or not callable(value):
        return ""
    text = str(inspect.signature(value)).replace("(self, ", "(").replace("(self)", "()")
    text = re.sub(r"(spacy|spacy_linearize|thinc|collections|pathlib)(\.\w+)*\.(?=\w+)", "", text)
    return text.replace("'", "").replace("typing.", "").replace("Optional[Options]", "Options | None")


def listed(text: str) -> str:
    """A docstring with its arguments as a list."""
    lines: list[str] = []
    for line in text.splitlines():
        if found := re.match(r"(\w[\w, ]*) \(([^)]*\)?[^)]*)\): (.*)", line):
            lines.append(f"- **{found[1]}** ({found[2]}): {found[3]}")
        elif line.startswith("    ") and lines:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
