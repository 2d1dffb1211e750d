"""spacy_linearize.CausalLM.v1: the opinion of a pretrained causal language model, through `transformers`.

The score of a text is the sum of the logarithms of its tokens' probabilities. All candidates of a question share their
beginnings in a `PrefixTree`, which goes through the model in one pass.
"""

import io
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.records import Array
from ..errors import LinearizeError, error
from .prefix_tree import PrefixTree, Tokens, cut_tails, in_batches
from .reranker import Question, RerankOptions

DTYPES = ("auto", "float32", "bfloat16", "float16")
GGUF = ".gguf"
TOLERANCE = 0.05  # of a sum of logarithms, between one pass over a tree and a pass over each sequence, in float32


@dataclass(frozen=True, kw_only=True)
class CausalSettings:
    """How to ask a causal language model.

    model (str): A name or folder of Hugging Face `transformers`, or a .gguf file.
    batch_size (int): How many tokens go through the model at once.
    device (str): "cpu", "cuda", "cuda:1", "mps".
    dtype (str): "float32", "bfloat16" or "float16"; "auto" for that of the model.
    prompt (str): A text that stands before all others.
    context (int): How many tokens of what was said before the model sees, the last ones; 0 for none.
    normalise (bool): Whether to divide the score of a text by the number of its tokens.
    tail (Optional[int]): How many tokens to score of the end that all candidates share. It tells little, but what
        stands before it differs. None for all.
    share_prefixes (bool): Whether candidates share their beginnings, for models that can do this.
    """

    model: str
    batch_size: int = 512
    device: str = "cpu"
    dtype: str = "auto"
    prompt: str = ""
    context: int = 0
    normalise: bool = False
    tail: int | None = 2
    share_prefixes: bool = True

    def __post_init__(self) -> None:
        checks: dict[str, tuple[bool, str]] = {
            "model": (isinstance(self.model, str) and bool(self.model), "a name, a folder or a .gguf file"),
            "batch_size": (type(self.batch_size) is int and self.batch_size > 0, "a whole number, 1 or more"),
            "device": (isinstance(self.device, str) and bool(self.device), "a device of torch, such as 'cpu'"),
            "dtype": (self.dtype in DTYPES, f"one of {', '.join(DTYPES)}"),
            "prompt": (isinstance(self.prompt, str), "a text"),
            "context": (type(self.context) is int and self.context >= 0, "a whole number, 0 or more"),
            "normalise": (type(self.normalise) is bool, "true or false"),
            "tail": (self.tail is None or (type(self.tail) is int and self.tail >= 0), "a whole number, or null"),
            "share_prefixes": (type(self.share_prefixes) is bool, "true or false"),
        }
        for key, (is_right, expected) in checks.items():
            if not is_right:
                raise error("SL022", key=key, value=getattr(self, key), expected=expected)


class CausalLM:
    """A `Reranker`. The model is loaded when it is first asked, in each process: pickled, it is only its settings.

    Example:

        settings = CausalSettings(model="HuggingFaceTB/SmolLM2-135M")
        CausalLM(settings, RerankOptions.same(n_candidates=12, weight=32.0))
    """

    def __init__(self, settings: CausalSettings, options: RerankOptions) -> None:
        self.settings = settings
        self.options = replace(options, context=settings.context > 0)
        self._network: Network | LinearizeError | None = None
        self._process = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "options": self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def network(self) -> "Network":
        """The model, loaded."""
        if self._network is None or self._process != os.getpid():  # the threads of a model do not survive a fork
            try:
                self._network = Network(self.settings)
            except LinearizeError as problem:
                self._network = problem  # is not tried again
            self._process = os.getpid()
        if isinstance(self._network, LinearizeError):
            raise self._network.with_traceback(None)  # or it would hold on to all that ever asked
        return self._network

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """The logarithm of the probability of each text, after prompt and context."""
        with self._lock:  # threads share the model
            network = self.network
            sequences, starts = [], []
            for question in questions:
                start, candidates = network.encode(question)
                sequences += candidates if self.settings.tail is None else cut_tails(candidates, self.settings.tail)
                starts += [start] * len(candidates)
            scores = self._scores(network, sequences, starts)
        found = iter(scores)
        return [[next(found) for _ in question.texts] for question in questions]

    def _scores(self, network: "Network", sequences: list[Tokens], starts: list[int]) -> list[float]:
        scores = [0.0] * len(sequences)
        for batch in in_batches(sequences, self.settings.batch_size):
            logs = self._run(network, [sequences[i] for i in batch])
            for i, own in zip(batch, logs, strict=True):
                text = own[starts[i] - 1 :]
                scores[i] = float(text.mean() if self.settings.normalise else text.sum())
        return scores

    def _run(self, network: "Network", sequences: list[Tokens]) -> list[Array]:
        """As `Network.run`, with smaller batches where memory is short."""
        try:
            return network.run(sequences)
        except (MemoryError, RuntimeError) as problem:
            if not isinstance(problem, MemoryError) and "memory" not in str(problem):
                raise
            if len(sequences) == 1:
                raise error("SL235", n=len(sequences[0]), device=self.settings.device) from problem
        half = len(sequences) // 2
        return [*self._run(network, sequences[:half]), *self._run(network, sequences[half:])]


class Network:
    """A causal model and its tokenizer, ready to be asked.

    settings (CausalSettings): Which one, and how.
    """

    def __init__(self, settings: CausalSettings) -> None:
        self.settings = settings
        try:
            import torch
            import transformers
        except ImportError as problem:
            raise error("SL234", model=settings.model, problem=f"{problem.name} is not installed") from problem
        self.torch = torch
        name: str = settings.model
        more: dict[str, Any] = {}
        if name.endswith(GGUF):
            name, more = str(Path(name).parent), {"gguf_file": Path(name).name}
        dtype: Any = settings.dtype if settings.dtype == "auto" else getattr(torch, settings.dtype)
        weights = dict(more)
        if more and hasattr(transformers, "GgufConfig"):
            # On a CPU, weights of 4 bits would be unpacked again for each batch.
            weights["quantization_config"] = transformers.GgufConfig(dequantize=True)
        try:
            if more and not Path(settings.model).is_file():
                raise FileNotFoundError(f"there is no file {settings.model}")
            with _quiet(transformers):
                self.tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name, **more)
                model: Any = transformers.AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **weights)
            self.model: Any = model.to(settings.device).eval()
        except Exception as problem:  # of transformers, its hub, safetensors, gguf or torch
            first = str(problem).strip().split("\n")[0]
            raise error("SL234", model=settings.model, problem=f"{type(problem).__name__}: {first}") from problem
        self.limit = int(getattr(self.model.config, "max_position_embeddings", None) or 1 << 30)
        self.first = self._first_token()
        self.shares = settings.share_prefixes and self._can_share()

    def _first_token(self) -> int:
        """What stands before a text: the token that ends or begins texts. Some token has to."""
        ids = (self.tokenizer.convert_tokens_to_ids("<|endoftext|>"), self.tokenizer.bos_token_id)
        unknown = self.tokenizer.unk_token_id
        known = [i for i in (*ids, self.tokenizer.eos_token_id) if i is not None and (i != unknown or i == ids[1])]
        return int(known[0]) if known else 0

    def encode(self, question: Question) -> tuple[int, list[Tokens]]:
        """The tokens of each text, behind those of prompt and context, and how many these are."""
        settings = self.settings
        try:
            start = [self.first, *self._ids(settings.prompt)]
            if settings.context and question.context:
                start += self._ids(question.context)[-settings.context :]
            gap = " " if len(start) > 1 else ""
            texts = [self._ids(gap + text) for text in question.texts]
        except Exception as problem:  # of a tokenizer
            raise error(
                "SL237", text=question.texts[0][:80], problem=f"{type(problem).__name__}: {problem}"
            ) from problem
        for text, tokens in zip(question.texts, texts, strict=True):
            if not tokens:
                raise error("SL237", text=text[:80], problem="it finds no tokens")
            if len(start) + len(tokens) > self.limit:
                raise error("SL236", n=len(start) + len(tokens), limit=self.limit, text=text[:80])
        return len(start), [(*start, *tokens) for tokens in texts]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids if text else []
        return ids

    def run(self, sequences: Sequence[Tokens]) -> list[Array]:
        """For each sequence, the logarithms of the probabilities of its tokens but the first."""
        return self._run_tree(sequences) if self.shares else self._run_padded(sequences)

    def _run_tree(self, sequences: Sequence[Tokens]) -> list[Array]:
        torch, device = self.torch, self.settings.device
        tree = PrefixTree()
        # The last token of a sequence is only asked for: nothing comes after it.
        paths = [tree.add(tokens[:-1]) for tokens in sequences]
        mask = torch.from_numpy(tree.attention()).to(device)
        bias = torch.zeros(mask.shape, dtype=self.model.dtype, device=device)
        bias = bias.masked_fill_(~mask, torch.finfo(self.model.dtype).min)[None, None]
        with torch.inference_mode():
            logits = self.model(
                input_ids=torch.tensor([tree.tokens], device=device),
                position_ids=torch.tensor([tree.depths], device=device),
                attention_mask=bias,
                use_cache=False,
            ).logits[0]
            nodes = torch.tensor([node for path in paths for node in path], device=device)
            following = torch.tensor([token for tokens in sequences for token in tokens[1:]], device=device)
            logs = (logits[nodes, following].float() - torch.logsumexp(logits.float(), -1)[nodes]).cpu().numpy()
        return np.split(logs, np.cumsum([len(path) for path in paths])[:-1])

    def _run_padded(self, sequences: Sequence[Tokens]) -> list[Array]:
        torch, device = self.torch, self.settings.device
        longest = max(map(len, sequences))
        ids = torch.tensor([[*tokens, *[self.first] * (longest - len(tokens))] for tokens in sequences], device=device)
        with torch.inference_mode():
            # What is filled up stands behind all that counts: a causal model does not see it.
            logits = self.model(input_ids=ids, use_cache=False).logits[:, :-1].float()
            logs = (logits.gather(-1, ids[:, 1:, None])[..., 0] - torch.logsumexp(logits, -1)).cpu().numpy()
        return [own[: len(tokens) - 1] for own, tokens in zip(logs, sequences, strict=True)]

    def _can_share(self) -> bool:
        """Whether the model gives the same answers for a tree: it must know positions and masks of this kind."""
        size = int(self.model.config.vocab_size)
        sequences = [
            (self.first, 7 % size, 5 % size),
            (self.first, 7 % size, 3 % size, 2 % size),
            (self.first, 4 % size),
        ]
        try:
            pairs = zip(self._run_tree(sequences), self._run_padded(sequences), strict=True)
            differences = [float(np.abs(one - two).max()) for one, two in pairs]
        except Exception:  # a model that takes no such masks
            return False
        return max(differences) < (TOLERANCE if self.model.dtype == self.torch.float32 else 20 * TOLERANCE)


@contextmanager
def _quiet(transformers: Any) -> Any:
    """Without the progress bars of `transformers`. It has some that no setting switches off."""
    logger = transformers.utils.logging
    level, bar = logger.get_verbosity(), logger.is_progress_bar_enabled()
    logger.set_verbosity(logging.ERROR)
    logger.disable_progress_bar()
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.set_verbosity(level)
        if bar:
            logger.enable_progress_bar()
