"""Every Python block of README.md and docs/guide runs as it is written, after the commands that stand above it."""

import os
import pathlib
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "tests"))
pages = pytest.importorskip("pages")
# Of the build tree that is tested, or of the environment that the package is installed in.
TREE = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0]
COMMAND = pathlib.Path(TREE or sys.executable).parent / "specroute"


def with_python():
    for page in pages.pages(SOURCE):
        blocks, _ = pages.blocks(SOURCE, page)
        if any(block.runs and block.language == "python" for block in blocks):
            yield pytest.param(page, blocks, id=page)


def lightgbm_holds(names):
    assert names["naive"] < 0.25
    for told in names["told"].values():
        assert told["error"]["honest"] > 1.5 * names["naive"]
    assert names["votes"].shape == (14980, 2)


CLAIMS = {"docs/guide/lightgbm.md": lightgbm_holds}  # what a page says, beside that its blocks run


@pytest.mark.parametrize("page, blocks", list(with_python()))
def test_blocks(page, blocks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages.prepare(SOURCE, tmp_path)
    state = {}
    made_of_python = " ".join(block.text for block in blocks if block.language == "python")
    for block in blocks:
        if not block.runs:
            continue
        if block.language == "python":
            pages.run_python(block, state)
        elif block.language == "sh" and any(name in made_of_python for name in made_by(block)):
            assert pages.run_shell(block, tmp_path, COMMAND) is None
    CLAIMS.get(page, lambda names: None)(state)


def made_by(block):
    """The files that a block of commands writes."""
    words = block.text.split()
    return [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-o", ">")]
