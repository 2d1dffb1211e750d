"""What setup.cfg names, and what spaCy's own commands do with a linearizer, on the mini treebank."""

import json
import os
import random
import re
import subprocess
import sys
import sysconfig
import venv
from types import SimpleNamespace

import pytest
import spacy
import srsly
from helpers.docs import read_docs, write_corpus
from helpers.processes import ENVIRONMENT
from spacy.cli.init_config import fill_config
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.util import load_config
from thinc.api import Config

import spacy_linearize
from spacy_linearize.errors import LinearizeError
from spacy_linearize.training.corpus import Corpus, give, without_spaces
from spacy_linearize.training.scorer import SCORES

pytestmark = pytest.mark.slow

PATHS = ("--paths.train", "mini.spacy", "--paths.dev", "mini.spacy")
READERS = """
[corpora]

[corpora.train]
@readers = "spacy_linearize.Corpus.v1"
path = ${paths.train}
resample = true

[corpora.dev]
@readers = "spacy_linearize.Corpus.v1"
path = ${paths.dev}
"""
LINEARIZER = """
[paths]
train = null
dev = null

[nlp]
lang = "en"
pipeline = ["linearizer"]

[components]

[components.linearizer]
factory = "linearizer"

[components.linearizer.model]
@architectures = "spacy_linearize.TransitionLinearizer.v1"
table_bits = 16
attach_bits = 14

[training]
dropout = 0.0
max_epochs = -1
max_steps = 40
eval_frequency = 20

[initialize]

[initialize.components]

[initialize.components.linearizer]

[initialize.components.linearizer.corpus]
@readers = "spacy_linearize.Corpus.v1"
path = ${paths.train}
"""
SOURCED = """
[paths]
train = null
dev = null
trained = null

[nlp]
lang = "en"
pipeline = ["linearizer"]

[components]

[components.linearizer]
source = ${paths.trained}

[training]
dropout = 0.0
max_epochs = -1
max_steps = 1
eval_frequency = 1
"""
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 300,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
TAGGER = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": TOK2VEC}
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "parser",
    "extra_state_tokens": False,
    "hidden_width": 32,
    "maxout_pieces": 2,
    "use_upper": True,
    "nO": None,
    "tok2vec": TOK2VEC,
}


def test_a_missing_extension_module_does_not_break_spacy(tmp_path):
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('spacy_linearize.core.') or name == 'spacy_linearize.doc.arrays':\n"
        "            raise ImportError('blocked: ' + name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "import spacy\n"
        "nlp = spacy.blank('en')\n"
        "assert nlp.has_factory('linearizer')\n"
        "try:\n"
        "    nlp.add_pipe('linearizer')\n"
        "except ValueError as problem:\n"
        "    print(problem)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "[SL046]" in result.stdout
    assert "blocked: spacy_linearize.core" in result.stdout


def test_the_package_imports_nothing_heavy(tmp_path):
    code = "import sys, spacy_linearize; sys.exit('spacy' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=tmp_path)
    assert spacy_linearize.__version__


def run(*command, cwd, fails=False, **env):
    """Run `python -m spacy`, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "spacy", *map(str, command)],
        cwd=cwd,
        env={**os.environ, "ANSI_COLORS_DISABLED": "1", "PYTHONUTF8": "1", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf8",
    )
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


def scores_of(nlp, path, **given):
    """A fresh evaluation, of what this package scores."""
    scores = nlp.evaluate(list(Corpus(path, **given)(nlp)))
    return {name: scores[name] for name in SCORES}


def performance(model):
    """What training wrote down about a pipeline."""
    return srsly.read_json(model / "meta.json")["performance"]


def same_scores(scores, written):
    """meta.json has ten digits, and nothing of what has no weight in the config."""
    return all(scores[name] == pytest.approx(written[name], abs=1e-9) for name in SCORES if name in written)


def train_here(config, output, work, trained):
    """`spacy init fill-config` and `spacy train` with a sourced component, without a new process."""
    config["paths"] = {"train": str(work / "mini.spacy"), "dev": str(work / "mini.spacy"), "trained": str(trained.best)}
    output.mkdir()
    config.to_disk(output / "base.cfg")
    fill_config(output / "full.cfg", output / "base.cfg", silent=True)
    train(output / "full.cfg", output)


def shuffled(doc, vocab):
    """The words of a Doc in another order, with their tree."""
    order = list(range(len(doc)))
    random.Random(1).shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    return Doc(
        vocab,
        words=[doc[i].text for i in order],
        tags=[doc[i].tag_ for i in order],
        heads=[place[doc[i].head.i] for i in order],
        deps=[doc[i].dep_ for i in order],
    )


def texts_of(docs):
    return [" ".join(token.text for token in doc) for doc in docs]


def ordered_texts(nlp):
    return texts_of(nlp.pipe(shuffled(doc, nlp.vocab) for doc in read_docs()))


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with the treebank and a filled config."""
    path = tmp_path_factory.mktemp("commands")
    write_corpus(path / "mini.spacy")
    DocBin(docs=[without_spaces(doc) for doc in read_docs()]).to_disk(path / "bare.spacy")
    (path / "base.cfg").write_text(LINEARIZER + READERS, encoding="utf8")
    run("init", "fill-config", "base.cfg", "full.cfg", cwd=path)
    return path


@pytest.fixture(scope="module")
def trained(work):
    """What `spacy train` makes of it."""
    log = run("train", "full.cfg", "--output", "out", *PATHS, cwd=work)
    return SimpleNamespace(log=log, best=work / "out" / "model-best", last=work / "out" / "model-last")


@pytest.fixture(scope="module")
def nlp(trained):
    return spacy.load(trained.best)


def test_init_config_makes_a_config_that_trains(work):
    run("init", "config", "init.cfg", "--lang", "en", "--pipeline", "linearizer", cwd=work)
    config = load_config(work / "init.cfg")
    assert config["components"]["linearizer"]["model"]["@architectures"] == "spacy_linearize.TransitionLinearizer.v1"
    assert config["training"]["score_weights"] == {"bleu": 1.0, "exact": 0.0}
    # It comes with spaCy's reader, which gives nothing, and will do where the spaces are not known.
    small = {"components.linearizer.model.table_bits": 16, "components.linearizer.model.attach_bits": 14}
    steps = {"training.max_steps": 10, "training.eval_frequency": 5}
    paths = {"paths.train": str(work / "mini.spacy"), "paths.dev": str(work / "bare.spacy")}
    train(work / "init.cfg", work / "free", overrides={**small, **steps, **paths})
    written = performance(work / "free" / "model-best")
    assert written["bleu"] > 0.5
    assert set(written) == {"bleu", "exact", "linearizer_loss"}  # nothing else is measured
    with_spaces = {**paths, "paths.train": str(work / "mini.spacy"), "paths.dev": str(work / "mini.spacy")}
    for overrides in (with_spaces, {**paths, "corpora.dev.gold_preproc": True}):
        with pytest.raises(LinearizeError, match=r'SL250.*@readers = "spacy_linearize.Corpus.v1"'):
            train(work / "init.cfg", work / "refused", overrides={**small, **steps, **overrides})
    # What the error says, and nothing else, helps.
    text = (work / "init.cfg").read_text(encoding="utf8")
    (work / "changed.cfg").write_text(text.replace("spacy.Corpus.v1", "spacy_linearize.Corpus.v1"), encoding="utf8")
    train(work / "changed.cfg", work / "changed", overrides={**small, **steps, **with_spaces})
    assert performance(work / "changed" / "model-best")["bleu"] > 0.5
    free = spacy.load(work / "free" / "model-best")
    assert same_scores(scores_of(free, work / "mini.spacy", tags=0, heads=0), written)


def test_fill_config_fills_every_setting(work):
    config = load_config(work / "full.cfg")
    settings = config["components"]["linearizer"]
    defaults = Language.get_factory_meta("linearizer").default_config
    assert {**settings, "model": None} == {"factory": "linearizer", **defaults, "model": None}
    assert settings["model"] == {**defaults["model"], "table_bits": 16, "attach_bits": 14}
    assert config["corpora"]["train"]["resample"] is True
    assert config["corpora"]["dev"]["heads"] == 1.0
    assert "Nothing to auto-fill" in run("init", "fill-config", "full.cfg", "again.cfg", cwd=work)
    assert load_config(work / "again.cfg") == config


def test_debug_config(work):
    assert "Config is valid" in run("debug", "config", "full.cfg", *PATHS, cwd=work)
    wrong = ("--components.linearizer.model.table_bits", "many")
    assert "table_bits" in run("debug", "config", "full.cfg", *PATHS, *wrong, cwd=work, fails=True)


def test_debug_data(work):
    report = run("debug", "data", "full.cfg", *PATHS, cwd=work)
    assert "Pipeline can be initialized with data" in report
    assert "Corpus is loadable" in report
    assert f"{len(read_docs())} training docs" in report


def test_init_labels(work):
    # All of them, although with max_epochs = -1 spaCy hands over no more than 100 examples.
    run("init", "labels", "full.cfg", "labels", *PATHS, cwd=work)
    labels = srsly.read_json(work / "labels" / "linearizer.json")
    tokens = [token for doc in read_docs() for token in doc]
    assert labels == {
        "tags": sorted({token.tag_ for token in tokens}),
        "labels": sorted({token.dep_ for token in tokens}),
    }
    # The labels of the file count beside those of the corpus.
    reader = {"@readers": "spacy.read_labels.v1", "path": str(work / "labels" / "linearizer.json"), "require": True}
    paths = {"paths": {"train": str(work / "mini.spacy"), "dev": str(work / "mini.spacy")}}
    config = load_config(work / "full.cfg").merge(paths)
    config["initialize"]["components"] = {"linearizer": {"labels": reader}}
    config["corpora"]["train"]["limit"] = 1
    assert init_nlp(config).get_pipe("linearizer").label_data == labels


def test_train_learns_its_own_sentences(trained):
    assert performance(trained.best)["bleu"] >= 0.9
    assert performance(trained.best)["exact"] >= 0.8


def test_model_best_scores_what_training_said(trained, nlp, work):
    written = performance(trained.best)
    assert same_scores(scores_of(nlp, work / "mini.spacy"), written)
    rows = re.findall(r"^ +\d+ +(\d+) +\S+ +(\S+) .* (\S+) *$", trained.log, re.MULTILINE)
    assert [int(step) for step, _, _ in rows] == [0, 20, 40]
    assert f"{written['bleu']:.4f}" == f"{max(float(bleu) for _, bleu, _ in rows) / 100:.4f}"
    assert same_scores(scores_of(spacy.load(trained.last), work / "mini.spacy"), performance(trained.last))


def test_evaluate(trained, nlp, work):
    """spaCy's command has spaCy's reader, so nothing is given, and the corpus must be one without spaces."""
    run("evaluate", trained.best, "bare.spacy", "--output", "scores.json", cwd=work)
    free = scores_of(nlp, work / "mini.spacy", tags=0, heads=0)
    assert same_scores(free, srsly.read_json(work / "scores.json"))
    assert free["bleu"] < scores_of(nlp, work / "mini.spacy")["bleu"]


def test_assemble(trained, nlp, work):
    (work / "assemble.cfg").write_text(SOURCED + READERS, encoding="utf8")
    run("assemble", "assemble.cfg", "assembled", "--paths.trained", trained.best, cwd=work)
    texts = ordered_texts(spacy.load(work / "assembled"))
    assert texts == ordered_texts(nlp)
    assert sum(text == gold for text, gold in zip(texts, texts_of(read_docs()), strict=True)) > 0.8 * len(texts)


def test_package_works_in_a_fresh_environment(trained, nlp, work):
    (work / "package").mkdir()
    build = ("--build", "wheel", "--name", "mini", "--version", "1.2.3")
    run("package", trained.best, "package", *build, cwd=work, PIP_NO_INDEX="1")
    (wheel,) = (work / "package" / "en_mini-1.2.3" / "dist").glob("*.whl")
    # An environment of its own, that finds what this one has: nothing is fetched.
    builder = venv.EnvBuilder(with_pip=False)
    builder.create(work / "env")
    python = builder.ensure_directories(work / "env").env_exe
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.check_output([python, "-c", ask], encoding="utf8").strip()
    with open(os.path.join(packages, "outer.pth"), "w", encoding="utf8") as file:
        for kind in ("purelib", "platlib"):
            file.write(f"import site; site.addsitedir({sysconfig.get_path(kind)!r})\n")
    install = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", str(wheel)]
    subprocess.check_call([sys.executable, "-m", "pip", "--python", python, *install])

    doc = read_docs(nlp.vocab)[1]
    bag = shuffled(doc, nlp.vocab)
    bag.to_disk(work / "bag")
    program = (
        "import json, spacy, en_mini; from spacy.tokens import Doc; nlp = spacy.load('en_mini');"
        "doc = nlp(Doc(nlp.vocab).from_disk('bag'));"
        "print(json.dumps([en_mini.__file__, nlp.meta['requirements'], doc.text]))"
    )
    place, requirements, text = json.loads(subprocess.check_output([python, "-c", program], cwd=work, encoding="utf8"))
    assert os.path.realpath(place).startswith(os.path.realpath(work / "env"))
    assert any(requirement.startswith("spacy-linearize") for requirement in requirements)
    assert text == nlp(bag).text == doc.text.strip()


def test_benchmark_speed(trained, work):
    few = ("--batches", "30", "--batch-size", "10", "--warmup", "1")
    report = run("benchmark", "speed", trained.best, "mini.spacy", *few, cwd=work)
    assert float(re.search(r"Mean: ([\d.]+) words/s", report)[1]) > 0


@pytest.mark.parametrize(
    ("registry", "name"),
    [
        ("architectures", "spacy_linearize.TransitionLinearizer.v1"),
        ("readers", "spacy_linearize.Corpus.v1"),
        ("scorers", "spacy_linearize.linearizer_scorer.v1"),
    ],
)
def test_find_function(registry, name, work):
    found = run("find-function", name, "--registry", registry, cwd=work)
    assert "Found registered function" in found
    assert "spacy_linearize" in found.replace(name, "").replace("\n", "")


def test_train_goes_on_from_a_trained_pipeline(trained, work):
    train_here(Config().from_str(SOURCED + READERS, interpolate=False), work / "resumed", work, trained)
    # Two steps from the beginning are far from this.
    assert performance(work / "resumed" / "model-best")["bleu"] >= 0.9


def test_resume_training_in_a_program(trained, work):
    nlp = spacy.load(trained.best)
    before = scores_of(nlp, work / "mini.spacy")
    sgd = nlp.resume_training()
    for _ in range(3):
        losses = nlp.update(list(Corpus(work / "mini.spacy", resample=True)(nlp)), drop=0.0, sgd=sgd)
    after = scores_of(nlp, work / "mini.spacy")
    assert losses["linearizer"] < len(read_docs()) / 4
    assert after["bleu"] > before["bleu"] - 0.02
    copied = spacy.blank("en")
    copied.add_pipe("linearizer", source=nlp)
    assert scores_of(copied, work / "mini.spacy") == after


@pytest.mark.parametrize("way", ["unscored", "disabled"])
def test_a_frozen_linearizer_beside_a_tagger_in_training(way, trained, nlp, work):
    """spaCy's scorers cannot compare a reordered Doc. So either the tagger has none, or the linearizer is disabled."""
    config = Config().from_str(SOURCED + READERS, interpolate=False)
    config["nlp"]["pipeline"] = ["tagger", "linearizer"]
    config["components"]["tagger"] = {"factory": "tagger", "model": TAGGER}
    if way == "unscored":
        config["components"]["tagger"]["scorer"] = None
    else:
        config["nlp"]["disabled"] = ["linearizer"]
    config["corpora"]["dev"]["tags"] = 0
    config["training"].update(max_steps=40, eval_frequency=40, frozen_components=["linearizer"])
    config["training"]["optimizer"] = {"@optimizers": "Adam.v1", "learn_rate": 0.01}
    train_here(config, work / way, work, trained)
    written = performance(work / way / "model-last")
    both = spacy.load(work / way / "model-last")
    if way == "disabled":
        both.enable_pipe("linearizer")

    frozen, original = (pipeline.get_pipe("linearizer") for pipeline in (both, nlp))
    assert frozen.to_bytes(exclude=["vocab"]) == original.to_bytes(exclude=["vocab"])
    if way == "unscored":
        assert written["bleu"] > 0.8
        assert same_scores(scores_of(both, work / "mini.spacy", tags=0), written)
    else:
        assert written["tag_acc"] > 0.8
    new = both(Doc(both.vocab, words=["dog", "sleeps", "The", "."]))
    assert {token.text: token.tag_ for token in new} == {"The": "DT", "dog": "NN", "sleeps": "VBZ", ".": "."}
    assert all(new._.linearization["given_tags"])


def test_a_tagger_and_parser_before_and_components_after(nlp):
    """What they say about the words holds for the linearizer, and those that come later get a valid Doc."""
    full = spacy.blank("en")
    full.add_pipe("tagger", config={"model": TAGGER})
    full.add_pipe("parser", config={"model": PARSER})
    golds = read_docs(full.vocab)
    examples = [Example(give(doc, 0, 0), doc) for doc in golds]
    sgd = full.initialize(lambda: examples)
    sgd.learn_rate = 0.01
    for _ in range(8):
        for i in range(0, len(examples), 16):
            full.update(examples[i : i + 16], sgd=sgd)
    before = [full(give(doc, 0, 0)) for doc in golds]

    full.add_pipe("linearizer", source=nlp)
    names = full.add_pipe("entity_ruler")
    names.add_patterns([{"label": "NAME", "pattern": [{"TAG": "NNP"}]}])
    full.add_pipe("merge_entities")
    n_ordered = 0
    for parsed, gold in zip(before, golds, strict=True):
        if len(list(parsed.sents)) > 1:
            continue  # a bag has one root
        new = full(give(gold, 0, 0))
        n_ordered += 1
        info = new._.linearization
        assert all(info["given_tags"])
        assert all(info["given_heads"])
        old = [parsed[i] for i in info["order"]]
        assert [token.text for token in new] == [token.text for token in old]
        assert [token.tag_ for token in new] == [token.tag_ for token in old]
        assert [info["order"][token.head.i] for token in new] == [token.head.i for token in old]
        assert all(a.dep_ == b.dep_ or b.dep_ == "dep" for a, b in zip(new, old, strict=True))  # "dep": label missing
        assert [ent.text for ent in new.ents] == [token.text for token in new if token.tag_ == "NNP"]
        assert len(list(new.sents)) == 1
        assert Doc(full.vocab).from_bytes(new.to_bytes()).to_json() == new.to_json()
    assert n_ordered > len(golds) / 2


def test_import_gives_no_warning(tmp_path):
    program = "import spacy_linearize, spacy_linearize.core.engine; print(spacy_linearize.__version__)"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path
    )
    assert (result.returncode, result.stdout.strip(), result.stderr) == (0, spacy_linearize.__version__, "")
