"""The lines of a guide do what it says."""

import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    """Indented blocks, in order."""
    text = (ROOT / "docs/guide" / page).read_text(encoding="utf-8")
    return re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)


def test_lightgbm():
    pytest.importorskip("lightgbm")
    page = ROOT / "docs/guide/lightgbm.md"
    if not page.exists():
        pytest.skip("the guide is not part of this package")
    source = "\n".join(re.sub(r"^    ", "", block, flags=re.M) for block in blocks("lightgbm.md"))
    names, here = {}, os.getcwd()
    os.chdir(ROOT)
    try:
        exec(compile(source, "lightgbm.md", "exec"), names)  # noqa: S102
    finally:
        os.chdir(here)
    assert names["naive"] < 0.25
    for told in names["told"].values():
        assert told["error"]["honest"] > 1.5 * names["naive"]
    assert names["votes"].shape == (14980, 2)
