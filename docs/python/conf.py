"""Sphinx: the reference of the Python package, made from its docstrings."""

project = "specroute"
author = "the specroute authors"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "none"
html_theme = "alabaster"
nitpicky = False
suppress_warnings = ["ref.ref", "ref.term"]  # inherited docstrings point into scikit-learn's own pages
