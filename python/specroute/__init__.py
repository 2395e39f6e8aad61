"""Voting ensembles on rows that depend on each other, with the honest error.

>>> import specroute
>>> table, risk = specroute.simulate("ar1:n=400,tmix=20,d=3", random_state=1)
>>> model = specroute.SpecrouteClassifier(n_estimators=20, random_state=0).fit(table.X, table.y)
>>> model.naive_error_ < model.honest_error_
True

Everything that counts is in the C library below; this package converts arrays, keeps references
and raises. Names are imported when they are first used, so that ``import specroute`` costs little.
"""

__version__ = "0.1.0"

_MODULES = {
    "SpecrouteClassifier": "estimator",
    "RoutedBagging": "estimator",
    "Stream": "stream",
    "PartKFold": "split",
    "ForwardSplit": "split",
    "Table": "table",
    "read": "table",
    "Structure": "functions",
    "Plan": "functions",
    "Report": "functions",
    "Fiedler": "functions",
    "diagnose": "functions",
    "fiedler": "functions",
    "parts": "functions",
    "plan": "functions",
    "compare": "functions",
    "tune": "functions",
    "judge": "functions",
    "simulate": "functions",
    "methods": "functions",
    "load": "estimator",
    "plot_errors": "plot",
    "plot_parts": "plot",
    "plot_covariance": "plot",
    "plot_autocorrelation": "plot",
    "SpecrouteError": "_library",
    "ArgumentError": "_library",
    "NotFoundError": "_library",
    "DataError": "_library",
    "FormatError": "_library",
    "UnsupportedError": "_library",
    "FileError": "_library",
    "OutOfMemoryError": "_library",
    "TooLargeError": "_library",
    "InternalError": "_library",
    "NotConvergedWarning": "_library",
}

__all__ = sorted(_MODULES) + ["__version__", "build_info"]


def build_info():
    """What the library says of its own build.

    >>> sorted(specroute.build_info())
    ['build_type', 'commit', 'compiler', 'features', 'levels', 'missing', 'version']
    """
    from ._library import lib, text

    build = lib.sr_build_info()
    return {name: text(getattr(build, name)) for name, _ in build._fields_}


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module 'specroute' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("." + _MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
