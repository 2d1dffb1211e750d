"""Commands in this process."""

import spacy
from typer.testing import CliRunner

from spacy_linearize.cli import app
from spacy_linearize.model import engine_of as engine_of_model

ARPA = r"""\data\
ngram 1=4
ngram 2=1

\1-grams:
-99 <s> -0.3
-1.0 </s>
-1.0 the -0.3
-1.0 <unk>

\2-grams:
-0.2 <s> the

\end\
"""


def run(*arguments, stdin=None):
    """Run a command in this process: exit code, standard output, standard error."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def engine_of(path):
    """The engine of a pipeline on disk."""
    return engine_of_model(spacy.load(path).get_pipe("linearizer").model)
