"""Every example in a docstring does what it says."""

import doctest
import importlib

import pytest

import specroute


@pytest.mark.parametrize("name", ["__init__", "table", "functions", "estimator", "split", "plot"])
def test_docstrings(name):
    module = specroute if name == "__init__" else importlib.import_module(f"specroute.{name}")
    found = doctest.testmod(module, extraglobs={"specroute": specroute},
                            optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0 and found.failed == 0


def test_everything_public_has_a_docstring():
    for name in specroute.__all__:
        value = getattr(specroute, name)
        assert isinstance(value, str) or value.__doc__, name
