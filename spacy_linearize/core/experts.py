"""Which weights order which kind of bag, with how wide a beam.

A bag has all arcs given ("tree"), some ("partial") or none ("free"). Each kind can have an expert: searches with
templates and weights of their own. Bags of a kind without one go to the expert for partial trees.
"""

from collections.abc import Iterator

from .bag.bag import PackedBag
from .features.plan import Features
from .hashing import mix_values
from .lexicon import Lexicon
from .ngrams.table import Ngrams
from .records import SearchOptions
from .search.beam import Decoder
from .settings import SYSTEMS, Settings
from .weights import Weights


def kind_of(bag: PackedBag) -> str:
    """The kind of a bag: "tree", "partial" or "free"."""
    if not bag.is_open:
        return "tree"
    return "partial" if bag.has_arcs else "free"


def width_for(bag: PackedBag, options: SearchOptions) -> int:
    """The width of the beam for a bag. It is at least the number of results that are asked for."""
    width = options.beam_width if bag.is_open else options.tree_beam_width or options.beam_width
    wanted = n_found_for(bag, options)
    return width if wanted == 1 else max(width, wanted)


def n_found_for(bag: PackedBag, options: SearchOptions) -> int:
    """How many orders of a bag to find."""
    return max(options.n_best, options.n_found.get(kind_of(bag), 1))


class Experts:
    """The decoders of a model: for each expert, one for each direction of the search. They share the language model.

    settings (Settings): What the model is made of.
    lexicon (Lexicon): Shared by all of them.
    """

    def __init__(self, settings: Settings, lexicon: Lexicon) -> None:
        self.settings = settings
        self.ngrams = Ngrams()
        self._decoders = {
            kind: self._make(Features(settings.expand(kind), atomic_shift=settings.atomic_shift), lexicon)
            for kind in settings.groups
        }

    def _make(self, features: Features, lexicon: Lexicon) -> list[Decoder]:
        settings = self.settings
        return [
            Decoder(
                SYSTEMS[settings.system](),
                features,
                Weights(settings.bits, settings.min_updates),
                lexicon,
                mirrored=mirrored,
                labelled=settings.labelled,
                search_tags=settings.tags == "search",
                ngrams=self.ngrams,
            )
            for mirrored in settings.directions
        ]

    def __getitem__(self, kind: str) -> list[Decoder]:
        return self._decoders.get(kind, self._decoders["partial"])

    def __iter__(self) -> Iterator[tuple[str, Decoder]]:
        """Every decoder, by the name that its weights are stored under."""
        for kind, decoders in self._decoders.items():
            for i, decoder in enumerate(decoders):
                yield f"{kind}.{i}", decoder

    def decoders_for(self, bag: PackedBag) -> list[Decoder]:
        """The decoders that order a bag."""
        return self[kind_of(bag)]

    def ngram_weight_for(self, bag: PackedBag) -> float:
        """How much the language model counts for a bag."""
        return self.settings.ngram_weights[kind_of(bag)]

    @property
    def fingerprint(self) -> int:
        """One number for all templates."""
        return mix_values(decoders[0].features.fingerprint for decoders in self._decoders.values())
