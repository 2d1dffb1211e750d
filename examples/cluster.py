"""The batch job on a cluster: Dask spreads a large file of bags over its workers.

    pip install -e ".[dask]"
    python examples/cluster.py bags.txt sentences --workers 4

Here the workers are processes of this computer. On a real cluster, give `Client` the address of its scheduler; each
worker needs spacy_linearize installed, and sees the files under the same paths. Every worker loads the pipeline once.
The output is a folder of numbered files, one for each block of the input, in its sequence.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dask.bag
from distributed import Client, LocalCluster, WorkerPlugin, get_worker
from spacy.tokens import Doc

import spacy_linearize


class LoadPipeline(WorkerPlugin):
    """Loads the pipeline when a worker starts."""

    def setup(self, worker: Any) -> None:
        worker.linearizer = spacy_linearize.load()


def order_block(lines: Iterable[str]) -> list[str]:
    """Order the bags of one block, each a line of words set apart by spaces. Runs on a worker."""
    nlp = get_worker().linearizer
    with nlp.memory_zone():
        return [doc.text for doc in nlp.pipe(Doc(nlp.vocab, words=line.split()) for line in lines)]


def order_file(client: Client, path: Path, folder: Path, *, block: str = "4MB") -> list[str]:
    """Order a file of bags. Returns the files that were written.

    block (str): How much of the input is one task.
    """
    client.register_plugin(LoadPipeline())
    sentences = dask.bag.read_text(str(path), blocksize=block, encoding="utf8").map_partitions(order_block)
    return sentences.to_textfiles(str(folder / "*.txt"), encoding="utf8", last_endline=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", type=Path, help="a text file, one bag a line")
    parser.add_argument("output", type=Path, help="a folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--block", default="4MB", help="how much of the input is one task")
    options = parser.parse_args(arguments)
    with (
        LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        files = order_file(client, options.input, options.output, block=options.block)
    print(f"{len(files)} files in {options.output}")


if __name__ == "__main__":
    main()
