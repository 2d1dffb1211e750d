"""spacy linearize serve"""

import typer

from ..errors import error
from . import _util
from ._util import app, linearizer_name, load, one_line_errors, say, stopped_politely

PORT = 5000  # as displaCy's own


@app.command("serve")
@one_line_errors
def serve_command(
    model: str = _util.MODEL,
    port: int = typer.Option(PORT, "--port", "-p", help="The port on this computer; 0 for one that is free"),
    beam: int = _util.BEAM,
    nbest: int = typer.Option(5, "--n-best", "--nbest", "-n", help="How many orders of each bag to show"),
    reranker: str = _util.RERANKER,
    use_tags: bool = _util.USE_TAGS,
    use_heads: bool = _util.USE_HEADS,
) -> None:
    """Serve a playground for the browser, and JSON for programs, on this computer alone.

    In the playground words are tiles: drag one to its place, draw an arc, keep a tag, keep words together, and see
    what the order becomes, and why. A program posts a bag as JSON to /order, and gets the best orders; or a sentence
    to /score, and gets how good its order is, and what to move. Ctrl-C ends it.

    \b
    Examples:
      spacy linearize serve
      curl localhost:5000/order --json '{"words": ["door", "the", "opened", "?", "Who"]}'
      curl localhost:5000/score --json '{"text": "He always is late."}'
    """
    from ..serve.playground import Playground
    from ..serve.server import Server

    if not 0 <= port < 1 << 16:
        raise error("SL022", key="port", value=port, expected="from 0 to 65,535")
    nlp = load(model, beam, nbest=nbest, reranker=reranker, use_tags=use_tags, use_heads=use_heads)
    playground = Playground(nlp, linearizer_name(nlp), model=model, n_best=nbest)
    try:
        server = Server(playground, port)
    except OSError as problem:
        raise error("SL276", port=port, problem=problem.strerror or problem) from problem
    with server, stopped_politely():
        say(f"✔ The playground is at {server.address}. Ctrl-C ends it.")
        server.serve_forever()
