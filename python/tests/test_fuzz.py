"""Whatever comes in: an answer, or an exception that a user can read. Never a crash, never an invariant."""

import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

import specroute
from specroute import SpecrouteClassifier

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402
from hypothesis.extra import numpy as arrays  # noqa: E402

READABLE = (ValueError, TypeError, NotImplementedError, MemoryError, OverflowError)
EXAMPLES = 1000 if os.environ.get("SR_FULL") else 30
many = settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True,
                suppress_health_check=list(HealthCheck))

TYPES = st.one_of(
    arrays.floating_dtypes(endianness="?"), arrays.integer_dtypes(endianness="?"),
    arrays.unsigned_integer_dtypes(endianness="?"), arrays.boolean_dtypes(), arrays.complex_number_dtypes(),
    arrays.datetime64_dtypes(), arrays.timedelta64_dtypes(), arrays.unicode_string_dtypes(max_len=3),
    arrays.byte_string_dtypes(max_len=3))


@st.composite
def matrices(draw, rows=None):
    """Any type, any layout, missing and infinite values, no rows, no columns."""
    rows = draw(st.integers(0, 40)) if rows is None else rows
    columns = draw(st.integers(0, 5))
    if draw(st.integers(0, 9)) == 0:
        items = st.sampled_from([None, 1, 2.5, "a", b"b", np.nan, np.inf, 10**400, object(), [1], {}])
        X = np.empty((rows, columns), dtype=object)
        for place in np.ndindex(X.shape):
            X[place] = draw(items)
    elif draw(st.integers(0, 2)):
        X = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(rows, columns))
        for value in draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 1e300, 1e-300, 3e38]), max_size=2)):
            X[np.random.default_rng(draw(st.integers(0, 9))).random(X.shape) < 0.2] = value
    else:
        X = draw(arrays.arrays(draw(TYPES), (rows, columns)))
    layout = draw(st.integers(0, 6))
    if layout == 1:
        X = np.asfortranarray(X)
    elif layout == 2:
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == 3:
        X = X[::-1, ::-1]
    elif layout == 4 and rows:
        X = np.broadcast_to(X[:1], X.shape)
    elif layout == 5:
        X = np.stack([X, X], axis=1)
    elif layout == 6 and X.dtype.itemsize and X.dtype.kind in "iuf" and X.size:
        packed = np.zeros(X.shape, dtype=[("pad", "u1"), ("value", X.dtype)])  # no value is aligned
        packed["value"] = X
        X = packed["value"]
    if draw(st.booleans()):
        X.flags.writeable = False
    return X


def targets(rows):
    return st.one_of(
        st.integers(1, 4).map(lambda k: np.arange(rows) % k),
        st.just(np.where(np.arange(rows) < rows // 2, "one", "two")),
        arrays.arrays(TYPES, rows), arrays.arrays(np.float64, (rows, 1)), st.none(),
        st.just(np.array([None, "x"] * (rows // 2 + 1), dtype=object)[:rows]))


def answered(work):
    """What the work gives, or None where it is refused as it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            try:
                return work()
            except specroute.InternalError:
                raise
            except READABLE as error:
                assert str(error), type(error)
                return None


@many
@given(data=st.data())
def test_any_table(data):
    X = data.draw(matrices())
    rows = X.shape[0]
    y = data.draw(targets(rows))
    how = SpecrouteClassifier(
        data.draw(st.sampled_from(["tree", "tree:max_depth=1", "ridge", "quant", "minirocket"])),
        data.draw(st.sampled_from(["uniform", "routed", "auto", "spectral", "whole"])),
        data.draw(st.sampled_from([None, "none", "time", "features:2"])), n_estimators=3, n_jobs=1,
        evaluate=data.draw(st.booleans()), random_state=0)
    weight = data.draw(st.one_of(st.none(), arrays.arrays(np.float64, rows)))
    fitted = answered(lambda: how.fit(X, y, sample_weight=weight))
    if fitted is not None:
        found = answered(lambda: fitted.predict_proba(X))
        assert found is None or (found.shape == (rows, len(fitted.classes_)) and np.isfinite(found).all())
        answered(lambda: fitted.predict(data.draw(matrices())))


@many
@given(data=st.data())
def test_any_knowledge_of_rows(data):
    X = data.draw(matrices())
    rows = X.shape[0]
    known = {}
    for name in data.draw(st.sets(st.sampled_from(["groups", "coords", "times", "parts", "tmix"]))):
        shape = (rows, data.draw(st.integers(0, 4))) if name == "coords" else rows
        known[name] = data.draw(st.floats() if name == "tmix" else arrays.arrays(data.draw(TYPES), shape))
    found = answered(lambda: specroute.diagnose(X, **known))
    if found is not None:
        told = not np.isnan(found.tmix)
        assert told == ("cannot be told" not in repr(found))
        assert (not told or found.tmix >= 1) and found.parts.shape == (rows,)
    bags = answered(lambda: specroute.plan(X, plan=data.draw(st.sampled_from(["routed", "uniform", "moving"])),
                                           n_estimators=2, random_state=0, **known))
    if bags is not None:
        assert all(((0 <= bag) & (bag < rows)).all() for bag in bags)
    known.pop("groups", None)
    folds = answered(lambda: list(specroute.PartKFold(data.draw(st.integers(-1, 4)), **known).split(X)))
    for train, test in folds or []:
        assert not set(train) & set(test)


@many
@given(data=st.data())
def test_any_graph(data):
    n = data.draw(st.integers(0, 12))
    weight = data.draw(arrays.arrays(data.draw(st.sampled_from(["float64", "float32", "int8", "bool", "complex64"])),
                                     (n, n)))
    if data.draw(st.booleans()):
        weight = np.abs(np.nan_to_num(weight)) if weight.dtype != bool else weight
        weight = np.maximum(weight, weight.T) if weight.dtype.kind != "c" else weight
    graph = data.draw(st.sampled_from([sparse.csr_matrix, sparse.coo_matrix, sparse.csc_array, np.asarray]))(weight)
    found = answered(lambda: specroute.fiedler(graph, pairs=data.draw(st.integers(-1, 3))))
    assert found is None or np.isfinite(found.value).all()
    count = data.draw(st.integers(-1, 14))
    label = answered(lambda: specroute.parts(graph, count, exact=data.draw(st.booleans())))
    assert label is None or (label.shape == (n,) and set(label) <= set(range(count)))


@many
@given(data=st.data())
def test_any_predictions(data):
    rows = data.draw(st.integers(0, 60))
    y = data.draw(targets(rows))
    predictions = data.draw(st.one_of(targets(rows), matrices(rows), targets(rows + 1)))
    told = answered(lambda: specroute.judge(y, predictions, tmix=data.draw(st.sampled_from([None, 1, 5, -3]))))
    assert told is None or 0 <= told["error"]["honest"] <= 1
