"""spacy linearize surface"""

from itertools import islice
from pathlib import Path

import typer

from ..errors import error
from ._util import app, check_places, one_line_errors, say


@app.command("surface")
@one_line_errors
def surface_command(
    corpus: Path = typer.Argument(..., help="A .spacy file of sentences in their right order", exists=True),
    pipeline: Path = typer.Argument(..., help="The folder of a trained pipeline, which is changed", exists=True),
) -> None:
    """Teach a pipeline anew how words become text: contractions, spaces and capitals.

    Only the file surface.json of its linearizer is written. Training does the same from its own sentences.

    \b
    Example:
      spacy linearize surface corpus/train.spacy training/model-best
    """
    from spacy.util import load_config
    from spacy.vocab import Vocab

    from ..atomic import save
    from ..doc.gold import MAX_WRITTEN
    from ..doc.spacy_files import read_spacy
    from ..doc.surface import FILE_NAME, Surface, read_written

    components = load_config(pipeline / "config.cfg")["components"]
    names = [name for name, settings in components.items() if settings.get("factory") == "linearizer"]
    if not names:
        raise error("SL052", model=pipeline)
    target = pipeline / names[-1] / FILE_NAME
    check_places([corpus], [target])
    surface = Surface.from_json(target.read_bytes(), str(target))  # where the corpus has no spaces, the old ones stay
    texts = [read_written(doc) for doc in islice(read_spacy(corpus, Vocab()), MAX_WRITTEN)]
    if not any(text.words for text in texts):
        raise error("SL185", path=corpus)
    surface.learn(texts)
    save(target, surface.to_json())
    say(f"✔ {target}")
