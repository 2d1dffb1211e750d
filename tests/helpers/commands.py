"""Commands in this process."""

from typer.testing import CliRunner

from spacy_linearize.cli import app


def run(*arguments, stdin=None):
    """Run a command in this process: exit code, standard output, standard error."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr
