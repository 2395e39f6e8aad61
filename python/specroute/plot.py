"""Pictures with matplotlib. Each function draws on ``ax`` (a new one by default) and gives it."""

import numpy as np


def _axes(ax):
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    return ax


def plot_errors(model, ax=None):
    """The naive beside the honest error, with its interval.

    ``model`` is a fitted :class:`specroute.SpecrouteClassifier`, what :func:`specroute.judge` gave,
    or any dict with the key ``error``.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import specroute
    >>> ax = specroute.plot_errors({"error": {"naive": .1, "honest": .3, "honest_low": .2,
    ...                                       "honest_high": .4}})
    >>> [float(bar.get_height()) for bar in ax.patches]
    [0.1, 0.3]
    """
    ax = _axes(ax)
    error = getattr(model, "report_", model)["error"]
    shown = [(name, error[name], error.get(name + "_low"), error.get(name + "_high"))
             for name in ("naive", "honest", "forward") if error.get(name) is not None]
    names = [name for name, *_ in shown]
    values = np.array([value for _, value, *_ in shown], dtype=float)
    low = np.array([value if low is None else low for _, value, low, _ in shown], dtype=float)
    high = np.array([value if high is None else high for _, value, _, high in shown], dtype=float)
    colors = {"naive": "#9aa5b1", "honest": "#2f6f9f", "forward": "#b5651d"}
    ax.bar(names, values, color=[colors[name] for name in names],
           yerr=np.abs(np.array([values - low, high - values])), capsize=4)
    ax.set_ylabel("error")
    ax.set_ylim(bottom=0)
    return ax


def plot_parts(coords, parts, ax=None, **style):
    """Parts on a map: ``coords`` has two columns, ``parts`` is the part of each row.

    Neighboring parts get colors that differ, in no order.
    """
    ax = _axes(ax)
    coords, parts = np.asarray(coords), np.asarray(parts)
    if coords.ndim == 1:
        coords = np.column_stack([np.arange(len(coords)), coords])
    color = (parts * 7919 % 20) / 20
    ax.scatter(coords[:, 0], coords[:, 1], c=color, cmap="tab20", **{"s": 6, **style})
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def plot_covariance(model, X, y, ax=None):
    """The covariance of members' margins on the rows of X, as a matrix of members.

    The margin of a member is 1 where it votes for the row's class and -1 where it does not.
    """
    ax = _axes(ax)
    margin = np.where(model.votes(X) == np.asarray(y)[None, :], 1.0, -1.0)
    covariance = np.atleast_2d(np.cov(margin, bias=True))
    most = np.abs(covariance).max() or 1.0
    image = ax.imshow(covariance, cmap="RdBu_r", vmin=-most, vmax=most)
    ax.figure.colorbar(image, ax=ax, label="covariance of margins")
    ax.set_xlabel("member")
    ax.set_ylabel("member")
    return ax


def plot_autocorrelation(structure, ax=None):
    """The correlation of rows by how far they are apart; the line is at T.

    ``structure`` is what :func:`specroute.diagnose` gave.
    """
    ax = _axes(ax)
    if structure.correlation is None:
        raise ValueError("nothing was estimated: the structure was given, or came from bytes")
    lag, correlation = structure.correlation
    ax.plot(lag, correlation, color="#2f6f9f")
    ax.axhline(0, color="#9aa5b1", linewidth=0.8)
    ax.axvline(structure.tmix, color="#b5651d", linestyle="--", label=f"T = {structure.tmix:.3g}")
    ax.set_xlabel("rows apart")
    ax.set_ylabel("correlation")
    ax.legend()
    return ax
