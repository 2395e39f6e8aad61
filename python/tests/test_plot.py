"""Pictures show the numbers they are made of."""

import numpy as np
import pytest

import specroute

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_errors(model):
    ax = specroute.plot_errors(model, ax=plt.figure().add_subplot())
    heights = [bar.get_height() for bar in ax.patches]
    assert heights[:2] == [pytest.approx(model.naive_error_), pytest.approx(model.honest_error_)]


def test_parts_and_covariance(witness, model):
    X, y = witness
    points = specroute.plot_parts(X[:, :2], model.parts_, ax=plt.figure().add_subplot()).collections[0].get_offsets()
    np.testing.assert_allclose(points, X[:, :2])
    assert specroute.plot_parts(np.arange(600.0), model.parts_) is not None
    ax = specroute.plot_covariance(model, X[:50], y[:50], ax=plt.figure().add_subplot())
    margin = np.where(model.votes(X[:50]) == y[:50], 1.0, -1.0)
    np.testing.assert_allclose(ax.images[0].get_array(), np.cov(margin, bias=True))


def test_autocorrelation(witness):
    found = specroute.diagnose(*witness)
    ax = specroute.plot_autocorrelation(found, ax=plt.figure().add_subplot())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), found.correlation[1])
