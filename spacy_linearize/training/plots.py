"""The papers' figures, drawn with matplotlib (the extra `plots`)."""

import importlib.util
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ..atomic import save
from ..errors import error


def require_matplotlib() -> None:
    """Report at once, and not after a long evaluation, that plots cannot be drawn."""
    if importlib.util.find_spec("matplotlib") is None:
        raise error("SL050")


def draw(figures: dict[str, Any], folder: Path, suffix: str = "svg") -> list[Path]:
    """Draw what an evaluation found.

    figures (Dict[str, Any]): As in the JSON of `spacy linearize evaluate`: any of "span_lengths", "beams", "steps",
        "epochs" and "spans"; or of `spacy linearize compare`: "lengths".
    folder (Path): Where the files go.
    suffix (str): "svg" or "png".
    RETURNS (List[Path]): The files.
    """
    require_matplotlib()
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, plot in PLOTS.items():
        if not figures.get(name):
            continue
        figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
        plot(axes, figures[name])
        axes.grid(alpha=0.3)
        files.append(folder / f"{name}.{suffix}")
        drawn = io.BytesIO()
        figure.savefig(drawn, format=suffix)
        save(files[-1], drawn.getvalue())
        pyplot.close(figure)
    return files


def _span_lengths(axes: Any, shares: dict[str, dict[int, float]]) -> None:
    for name, style in (("output", "-o"), ("gold", "--s")):
        lengths = [length for length in shares[name] if int(length) <= 30]
        axes.plot([int(length) for length in lengths], [shares[name][length] for length in lengths], style, label=name)
    axes.set(xlabel="words in the span", ylabel="share of the spans", title="Lengths of projective spans")
    axes.legend()


def _bleu(key: str, name: str, axes: Any, rows: list[dict[str, float]]) -> None:
    """BLEU by the value of a key.

    name (str): The name of the key, as the axis shows it.
    """
    axes.plot([row[key] for row in rows], [row["bleu"] for row in rows], marker="o")
    if key == "beam_width":
        axes.set_xscale("log", base=2)
    axes.set(xlabel=name, ylabel="BLEU", title=f"BLEU by {name}")


def _lengths(axes: Any, lines: dict[str, dict[str, float]]) -> None:
    for (name, line), style in zip(lines.items(), ("-o", "--s"), strict=True):
        axes.plot(list(line), list(line.values()), style, label=name)
    axes.set(xlabel="words in the sentence", ylabel="BLEU", title="BLEU by length")
    axes.legend()


def _spans(axes: Any, rows: list[dict[str, float]]) -> None:
    for name, style in (("precision", "-o"), ("recall", "-s"), ("f", "--^")):
        axes.plot([f"< {row['shorter_than']}" for row in rows], [row[name] for row in rows], style, label=name)
    axes.set(xlabel="words in the span", ylabel="percent", title="Projective spans")
    axes.legend()


PLOTS: dict[str, Callable[[Any, Any], None]] = {
    "span_lengths": _span_lengths,
    "beams": partial(_bleu, "beam_width", "beam width"),
    "steps": partial(_bleu, "step", "step"),
    "epochs": partial(_bleu, "epoch", "epoch"),
    "spans": _spans,
    "lengths": _lengths,
}
