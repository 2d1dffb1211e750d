"""Templates by hand, and every feature and score against the slow reference."""

import random
from collections import Counter

import pytest
from helpers import brute, slow
from helpers.core import decoder, pack, settings

from spacy_linearize.core.engine import Engine
from spacy_linearize.core.features.atom_table import ACTION_ATOMS, PAIR_ATOMS, STATE_ATOMS
from spacy_linearize.core.features.templates import GROUPS
from spacy_linearize.core.hashing import hash_text
from spacy_linearize.core.search.stepper import Stepper
from spacy_linearize.trees import FREE, ROOT

BITS = 24  # large enough that no two of the features below share a slot

# John saw the dog, with its tree and labels
WORDS = ["John", "saw", "the", "dog"]
TAGS = ["NNP", "VBD", "DT", "NN"]
HEADS = [1, ROOT, 3, 1]
LABELS = ["nsubj", "root", "det", "obj"]
JOHN, SAW, THE, DOG = range(4)


def keys(texts):
    return [hash_text(text) if text else 0 for text in texts]


def start(chosen, heads=HEADS, labels=LABELS, tags=TAGS):
    engine = Engine(chosen)
    return Stepper(
        decoder(engine),
        pack(
            engine,
            forms=keys(WORDS),
            tags=keys(tags),
            heads=heads,
            labels=keys(labels),
            lowers=keys(word.lower() for word in WORDS),
        ),
    )


def walk(state, *actions):
    """Follow actions: a word for its SHIFT, or the name of an arc."""
    for action in actions:
        state = state.step(find(state, action))
    return state


def find(state, action):
    names = [name if word is None else WORDS[word] for name, word, _ in state.legal]
    return names.index(action)


def slot_by_hand(instance):
    """The slot of a template instance that is spelt out as "S0.w=John A=SHIFT"."""
    atoms = dict(part.rsplit("=", 1) for part in instance.split())
    template = " ".join(atoms)
    state_part, action_part = hash_text(template), 0
    for atom in template.split():
        if atom in STATE_ATOMS:
            state_part = slow.mix(state_part, value_by_hand(atom, atoms[atom]))
    for atom in ACTION_ATOMS:
        if atom in atoms:
            action_part = slow.mix(action_part, value_by_hand(atom, atoms[atom]))
    return template, (((state_part ^ action_part) * 0x9E3779B97F4A7C15) & slow.MASK) >> (64 - BITS)


def value_by_hand(atom, text):
    if atom == "A":
        parts = text.split("-")
        h = slow.mix(0, slow.TYPES[parts[0]])
        for part in parts[1:]:
            h = slow.mix(h, hash_text(part) if part else 0)
        return h
    if atom == "SHIFT":
        return slow.SHIFT
    if text.startswith("{"):
        return slow.set_hash(hash_text(member) for member in text[1:-1].split(",") if member)
    if text.startswith("+"):
        return slow.mix(slow.SET, hash_text(text[1:]))
    special = {"<start>": slow.START, "<root>": slow.NO_HEAD, "<itself>": slow.ITSELF, "<unshifted>": 1, "<shifted>": 2}
    if text in special:
        return special[text]
    return int(text) if text.isdigit() else hash_text(text)


def check_by_hand(state, action, expected):
    found = state.features(find(state, action))
    want = [slot_by_hand(instance) for instance in expected]
    assert Counter(found) == Counter(want)


def test_first_word_by_hand():
    """Nothing on the stack: only the templates of the words before, and of L."""
    state = start(
        settings(
            groups=("unigram", "bigram", "linearization"),
            templates=("L.w", "L.p rest", "Lcls Lclns", "Lsls L.d", "Lslns Lspns", "Lps Llp Lpp Lwp", "S0cls"),
            table_bits=BITS,
        )
    )
    check_by_hand(state, "John", [
        "W0.w=<start> A=SHIFT",
        "W0.p=<start> A=SHIFT",
        "W1.w=<start> W0.w=<start> A=SHIFT",
        "W1.p=<start> W0.p=<start> A=SHIFT",
        "W2.w=<start> W1.w=<start> W0.w=<start> A=SHIFT",
        "W2.p=<start> W1.p=<start> W0.p=<start> A=SHIFT",
        "L.w=John",
        "L.p=NNP rest=4",
        "Lcls={} Lclns={}",
        "Lsls={} L.d=nsubj",
        "Lslns={obj} Lspns={NN}",
        "Lps=<unshifted> Llp=nsubj Lpp=VBD Lwp=saw",
    ])  # fmt: skip


def test_open_head_by_hand():
    """John saw | the: the subject is attached on the left, the object is still to come."""
    state = walk(
        start(
            settings(
                groups=("unigram", "trigram", "linearization"),
                templates=(
                    "S0cls S0clns S0cps S0cpns",
                    "S0ps S0lp",
                    "S0sls L.w",
                    "S0.d L.d",
                    "S0l.d L.p",
                    "Lps Lpp",
                    "Lslns L.w",
                    "S0.w Lclns SHIFT",
                ),
                table_bits=BITS,
            )
        ),
        "John",
        "saw",
    )
    assert [WORDS[k] for k in state.stack] == ["saw"]
    check_by_hand(state, "the", [
        "S0.w=saw A=SHIFT",
        "S0.p=VBD A=SHIFT",
        "S0l.w=John A=SHIFT",
        "S0l.p=NNP A=SHIFT",
        "S0.w=saw S0.p=VBD S0l.w=John A=SHIFT",
        "S0.w=saw S0l.w=John S0l.p=NNP A=SHIFT",
        "S0.w=saw S0.p=VBD S0l.p=NNP A=SHIFT",
        "S0.p=VBD S0l.w=John S0l.p=NNP A=SHIFT",
        "W0.w=saw A=SHIFT",
        "W0.p=VBD A=SHIFT",
        "W1.w=John W0.w=saw A=SHIFT",
        "W1.p=NNP W0.p=VBD A=SHIFT",
        "W2.w=<start> W1.w=John W0.w=saw A=SHIFT",
        "W2.p=<start> W1.p=NNP W0.p=VBD A=SHIFT",
        "S0cls={nsubj} S0clns={obj} S0cps={NNP} S0cpns={NN}",
        "S0ps=<root> S0lp=<root>",
        "S0.d=root L.d=det",
        "S0l.d=nsubj L.p=DT",
        "Lps=<unshifted> Lpp=NN",
        "Lslns={} L.w=the",
        "S0.w=saw Lclns={} SHIFT=1",
    ])  # fmt: skip


def test_family_by_hand():
    """John saw | the: anchor, neighbours, the constituent that is opened, and what is known of it."""
    state = walk(
        start(
            settings(
                groups=(),
                templates=(
                    "H.w Hs Hrest",
                    "H.frame P.d",
                    "P.w P2.w P2.d",
                    "C.w C.mark C.company",
                    "Csize Cheavy Cself",
                    "C2.p C2.d LW0",
                    "L.frame Lfp",
                    "marks allmarks ask",
                    "T.w U.w",
                    "depth L.w",
                ),
                markers=[hash_text("det")],
                table_bits=BITS,
            )
        ),
        "John",
        "saw",
    )
    check_by_hand(state, "the", [
        "H.w=saw Hs=<shifted> Hrest=2",
        "H.frame={nsubj,obj} P.d=<itself>",
        "P.w=saw P2.w=John P2.d=nsubj",
        "C.w=dog C.mark=+the C.company={DT}",
        "Csize=2 Cheavy=2 Cself=3",
        "C2.p=DT C2.d=det LW0=5",
        "L.frame={} Lfp={det}",
        "marks={} allmarks={} ask=1",
    ])  # fmt: skip


def test_components_by_hand():
    """the dog | John: two components, and one of them is done."""
    state = start(
        settings(groups=(), templates=("T.w U.w", "depth tops", "Cself C.w", "P.w", "H.w", "Lfp"), table_bits=BITS),
        heads=[FREE, FREE, 3, FREE],
        labels=["", "", "det", ""],
    )
    check_by_hand(state, "the", [
        "T.w=<start> U.w=dog",
        "depth=1 tops=4",
        "Cself=5 C.w=the",
        "Lfp={det}",
    ])  # fmt: skip
    check_by_hand(walk(state, "the"), "dog", [
        "T.w=dog U.w=dog",
        "depth=2 tops=4",
        "Cself=1 C.w=dog",
        "P.w=the",
        "H.w=dog",
    ])  # fmt: skip
    check_by_hand(walk(state, "the", "dog"), "John", [
        "T.w=dog U.w=John",
        "depth=1 tops=3",
        "Cself=4 C.w=John",
    ])  # fmt: skip


def test_arc_by_hand():
    """John saw the dog, joint and with nothing given but tags: the arc from saw to dog."""
    state = start(
        settings(system="joint", groups=("unigram", "bigram"), templates=("L.w", "S0cls", "W0.w SHIFT"), labelled=False,
                 table_bits=BITS),
        heads=[FREE] * 4, labels=[""] * 4)  # fmt: skip
    state = walk(state, "John", "saw", "LEFTARC", "the", "dog", "LEFTARC")
    assert [WORDS[k] for k in state.stack] == ["saw", "dog"]
    assert {action for action, _, _ in state.legal} == {"LEFTARC", "RIGHTARC"}
    check_by_hand(state, "RIGHTARC", [
        "S0.w=dog A=RIGHTARC-",
        "S0.p=NN A=RIGHTARC-",
        "S0l.w=the A=RIGHTARC-",
        "S0l.p=DT A=RIGHTARC-",
        "S1.w=saw A=RIGHTARC-",
        "S1.p=VBD A=RIGHTARC-",
        "S1l.w=John A=RIGHTARC-",
        "S1l.p=NNP A=RIGHTARC-",
        "S0.w=dog S0l.w=the A=RIGHTARC-",
        "S0.w=dog S0l.p=DT A=RIGHTARC-",
        "S0.p=NN S0l.w=the A=RIGHTARC-",
        "S0.p=NN S0l.p=DT A=RIGHTARC-",
        "S1.w=saw S1l.w=John A=RIGHTARC-",
        "S1.w=saw S1l.p=NNP A=RIGHTARC-",
        "S1.p=VBD S1l.w=John A=RIGHTARC-",
        "S1.p=VBD S1l.p=NNP A=RIGHTARC-",
        "S0.w=dog S1.w=saw A=RIGHTARC-",
        "S0.w=dog S1.p=VBD A=RIGHTARC-",
        "S0.p=NN S1.w=saw A=RIGHTARC-",
        "S0.p=NN S1.p=VBD A=RIGHTARC-",
    ])  # fmt: skip


def test_atomic_shift_by_hand():
    """Liu et al. 2015: the action is SHIFT with its word and tag."""
    state = start(settings(groups=(), templates=("W0.w A",), atomic_shift=True, table_bits=BITS))
    check_by_hand(walk(state, "John"), "saw", ["W0.w=John A=SHIFT-saw-VBD"])


def test_pairs_by_hand():
    """What each SHIFT decides: every pair of a family once, when its first member is opened."""
    state = start(settings(groups=(), templates=("X.w Y.w", "Z.p X.d Y.d", "X.size Y.size"), table_bits=BITS))
    # John before saw and dog; "saw", as the head, stands for itself alone.
    check_pairs_by_hand(state, "John", [
        ("saw", "John", "saw", "Z.p=VBD X.d=nsubj Y.d=<itself>", "X.size=1 Y.size=1"),
        ("saw", "John", "dog", "Z.p=VBD X.d=nsubj Y.d=obj", "X.size=1 Y.size=2"),
    ])  # fmt: skip
    # "the" opens the object too: before John and saw, and before its own head.
    check_pairs_by_hand(state, "the", [
        ("dog", "the", "dog", "Z.p=NN X.d=det Y.d=<itself>", "X.size=1 Y.size=1"),
        ("saw", "dog", "John", "Z.p=VBD X.d=obj Y.d=nsubj", "X.size=2 Y.size=1"),
        ("saw", "dog", "saw", "Z.p=VBD X.d=obj Y.d=<itself>", "X.size=2 Y.size=1"),
    ])  # fmt: skip
    check_pairs_by_hand(walk(state, "John"), "saw", [
        ("saw", "saw", "dog", "Z.p=VBD X.d=<itself> Y.d=obj", "X.size=1 Y.size=2"),
    ])  # fmt: skip
    check_pairs_by_hand(walk(state, "John", "saw", "the"), "dog", [])


def check_pairs_by_hand(state, action, expected):
    want = []
    for family, first, second, *instances in expected:
        roles = 2 if first == family else 1, 2 if second == family else 1
        for instance in (f"X.w={first} Y.w={second}", *instances):
            atoms = dict(part.split("=") for part in instance.split())
            parts = [slow.mix(hash_text(" ".join(atoms)), roles[0]), slow.mix(0, roles[1])]
            for atom in sorted(atoms, key=lambda atom: "ZXY".index(atom[0])):
                side = atom[0] == "Y"
                parts[side] = slow.mix(parts[side], value_by_hand(atom, atoms[atom]))
            want.append((" ".join(atoms), slow.slot_of(*parts, BITS)))
    assert Counter(state.features(find(state, action))) == Counter(want)


def random_heads(rng, n):
    """Some forest, or one with few heads and many dependents."""
    if rng.random() < 0.5:
        return brute.random_forest(rng, n, rng.choice([0, 0.5, 1]))
    below = (rng.randrange(min(k, 5)) if rng.random() < 0.9 else FREE for k in range(1, n))
    return [rng.choice([FREE, ROOT]), *below]


@pytest.mark.slow
@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("direction", ["left_to_right", "right_to_left"])
@pytest.mark.parametrize("system", ["order_first", "joint"])
def test_features_and_scores_equal_the_slow_reference(system, direction, atomic):
    """Random derivations over random forests: every feature of every legal action, and the score of the beam."""
    markers = (1, 2)
    every_atom = (*STATE_ATOMS, *(f"Hs rest {atom}" for atom in ACTION_ATOMS), *PAIR_ATOMS)
    every_template = dict.fromkeys(template for group in GROUPS.values() for template in group)
    engine = Engine(
        settings(
            system=system,
            direction=direction,
            groups=(),
            templates=(*every_template, *every_atom),
            markers=markers,
            atomic_shift=atomic,
            table_bits=16,
        )
    )
    slow.random_weights(decoder(engine).weights)
    table = decoder(engine).weights.to_array().astype(float)
    templates = decoder(engine).features.templates + decoder(engine).features.pair_templates
    rng = random.Random(3)
    fired = set()
    for _ in range(30):
        n = rng.choice([2, 4, 6, 8, 10, 12])
        puncts = [rng.choice([0, 0, 0, 1, 1, 2]) for _ in range(n)]
        bag = pack(
            engine,
            forms=[rng.randint(1, 6) for _ in range(n)],
            tags=[rng.randint(1, 3) for _ in range(n)],
            heads=random_heads(rng, n),
            labels=[rng.randint(0, 3) for _ in range(n)],
            lowers=[rng.randint(1, 6) for _ in range(n)],
            suffixes=[rng.randint(0, 3) for _ in range(n)],
            shapes=[rng.randint(0, 3) for _ in range(n)],
            puncts=puncts,
        )
        state = Stepper(decoder(engine), bag)
        reference = slow.SlowState(slow.slow_words(bag, puncts, markers), system)
        total = 0.0
        while not state.is_final:
            legal = state.legal
            for i, action in enumerate(legal):
                want = reference.features(templates, action, 16, atomic)
                assert Counter(state.features(i)) == Counter(want)
                fired.update(template for template, _ in want)
                assert state.score(i) == pytest.approx(sum(table[slot] for _, slot in want), abs=1e-4)
            choice = rng.randrange(len(legal))
            total += sum(table[slot] for _, slot in reference.features(templates, legal[choice], 16, atomic))
            reference.apply(legal[choice])
            state = state.step(choice)
            assert state.stack == tuple(reference.stack)
            assert state.total == pytest.approx(total, abs=1e-4)
    # Every atom was there at some time, but for what is rare by chance: markers of dependents of S0 and S1.
    missing = [template for template in every_atom if template not in fired]
    assert [template for template in missing if template[:2] not in ("S0", "S1") or "." not in template] == []
