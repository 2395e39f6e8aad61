"""Arrays, data frames and series arrive as they are, whatever their type and layout."""

import datetime

import numpy as np
import pytest

import specroute
from specroute.table import Table, features, whole


def through(X):
    """X as the library holds it."""
    return np.array(Table(features(X)).X)


TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
         "float32", "float64", ">f8", ">i4", "longdouble"]


@pytest.mark.parametrize("dtype", TYPES)
def test_types_and_layouts(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype == "bool" else 100, (37, 5)).astype(dtype)
    for layout in (X, np.asfortranarray(X), X[::-1], X[::2, ::-2], X[:, :0], X[:0], X.T.copy().T,
                   np.broadcast_to(X[:1], (9, 5)), X[:, [0]]):
        np.testing.assert_array_equal(through(layout), layout.astype(np.float32))


def test_missing_and_read_only():
    X = np.array([[1.0, np.nan], [np.nan, 2.0]])
    X.flags.writeable = False
    np.testing.assert_array_equal(through(X), X.astype(np.float32))


def test_infinite_values_are_refused():
    for bad in (np.inf, -np.inf, 1e300):
        with pytest.raises(ValueError, match="holds .* in row 1"):
            features(np.array([[1.0], [bad]]))


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((2, 2, 2, 2)), np.array([["a"]]), 5, None,
                                 np.array([[1 + 2j]]), np.array([[object()]])])
def test_what_is_no_table_is_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        features(bad)


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({
        "number": [1.5, np.nan, 3.0, 4.0],
        "whole": np.arange(4, dtype=np.int16),
        "flag": [True, False, True, True],
        "text": ["b", "a", None, "b"],
        "category": pandas.Categorical(["low", "high", None, "low"], categories=["low", "mid", "high"]),
        "nullable": pandas.array([1, None, 3, 4], dtype="Int64"),
        "when": pandas.to_datetime(["1970-01-01", "1970-01-02", None, "1970-01-03"]),
    })


def check_frame(table, skip=()):
    X = dict(zip(table.feature_names, np.array(table.X).T))
    nan = np.nan
    expected = {"number": [1.5, nan, 3, 4], "whole": [0, 1, 2, 3], "flag": [1, 0, 1, 1],
                "text": [1, 0, nan, 1], "nullable": [1, nan, 3, 4], "when": [0, 86400, nan, 172800],
                "category": [0, 2, nan, 0]}
    for name in expected.keys() - set(skip):
        np.testing.assert_array_equal(X[name], np.array(expected[name], np.float32), err_msg=name)


def test_pandas():
    check_frame(Table(features(frame())))
    check_frame(Table(features(frame().set_index(np.array(list("wxyz"))))))


def test_pyarrow_and_polars():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(frame())
    check_frame(Table(features(table)))
    check_frame(Table(features(pyarrow.concat_tables([table.slice(0, 1), table.slice(1, 3)]))))
    polars = pytest.importorskip("polars")
    check_frame(Table(features(polars.from_arrow(table))), skip=["category"])
    with pytest.raises(NotImplementedError, match="'nested' has the Arrow type"):
        features(pyarrow.table({"nested": [[1], [2, 3]]}))


def test_series():
    X = np.arange(24.0).reshape(2, 3, 4)
    table = Table(features(X))
    view = table._view
    assert (view.rows, view.channels, view.features) == (2, 3, 0)
    ragged = [np.arange(3.0), np.arange(5.0)]
    back = Table(features(ragged)).X
    assert [row.tolist() for row in back] == [[[0, 1, 2]], [[0, 1, 2, 3, 4]]]
    with pytest.raises(ValueError, match="row 1 has the shape"):
        features([np.zeros((2, 3)), np.zeros((3, 3))])
    with pytest.raises(ValueError, match="infinite"):
        features(np.full((1, 1, 2), np.inf))
    with pytest.raises(ValueError, match="row 1, channel 1, holds"):
        features([np.zeros((2, 3)), np.array([[0, 1], [2, np.inf]]), np.zeros((2, 1))])


def test_everything_that_is_known_of_rows():
    X = np.arange(6.0).reshape(6, 1)
    times = np.array(["2020-01-0" + str(day) for day in (3, 1, 2, 3, 1, 2)], dtype="datetime64[D]")
    table, order = whole(X, np.array([0, 1, 0, 1, 0, 1]), ["no", "yes"], np.ones(6),
                         ["b"] * 3 + ["a"] * 3, np.zeros((6, 2)), times, regions=[7, 7, 7, 5, 5, 7])
    assert order.tolist() == [4, 5, 3, 1, 2, 0]
    table = Table(table)
    assert table.X[:, 0].tolist() == [4, 5, 3, 1, 2, 0]
    assert table.y.tolist() == ["no", "yes", "yes", "yes", "no", "no"]
    assert table.groups.tolist() == ["a"] * 3 + ["b"] * 3
    assert table.regions.tolist() == ["5", "7", "5", "7", "7", "7"]
    assert table.coords.shape == (6, 2) and table.weight.tolist() == [1.0] * 6
    second = datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc).timestamp()
    assert table.times[1] == second
    for wrong in ({"groups": [1, 2]}, {"regions": ["a"]}, {"coords": np.zeros((6, 4))}, {"times": np.zeros((6, 2))},
                  {"coords": np.full((6, 2), np.nan)}, {"times": [np.nan] * 6}, {"weight": [1]}):
        with pytest.raises(ValueError):
            whole(X, **wrong)


def test_memory_outlives_the_table():
    X = specroute.simulate("ar1:n=1000,d=3", random_state=1)[0].X
    copy = X.copy()
    for _ in range(5):
        specroute.simulate("ar1:n=1000,d=3", random_state=2)
    np.testing.assert_array_equal(X, copy)
    assert not X.flags.writeable


def test_files_come_back(tmp_path):
    table, _ = specroute.simulate("ar1:n=60,d=2", random_state=1)
    table.write(tmp_path / "rows.csv")
    back = specroute.read(tmp_path / "rows.csv", target="y")
    np.testing.assert_array_equal(back.X, table.X)
    assert back.y.tolist() == table.y.tolist() and len(back) == 60
    assert "60 rows" in repr(back)
    assert specroute.read(tmp_path / "rows.csv", target="x1", number=True).y.dtype == np.float64
    with pytest.raises(ValueError, match="no column"):
        specroute.read(tmp_path / "rows.csv", target="z")
    kept = specroute.read(tmp_path / "rows.csv", target="y", drop=["x1"])
    assert kept.feature_names == ["x2"]


def test_rows_are_put_in_the_order_of_group_and_time():
    """Groups that take turns, as two sensors in one log, are the table of groups one after the other."""
    straight = specroute.simulate("ar1:n=1200,tmix=40,d=2", random_state=4)[0]
    groups, times = np.repeat(["a", "b"], 600), np.tile(np.arange(600.0), 2)
    turns = np.random.default_rng(0).permutation(1200)
    plain = specroute.diagnose(straight.X, groups=groups, times=times)
    with pytest.warns(UserWarning, match="sorted by group and time"):
        mixed = specroute.diagnose(straight.X[turns], groups=groups[turns], times=times[turns])
    assert mixed.tmix == plain.tmix > 5
    with pytest.raises(specroute.DataError, match="the same time"):
        specroute.diagnose(straight.X[turns], times=times[turns])
    with pytest.raises(specroute.DataError, match="time is missing in row 0"):
        specroute.diagnose(straight.X, times=np.where(np.arange(1200) == 0, np.nan, np.arange(1200.0)))
    with pytest.warns(UserWarning, match="column 1 counts or names the rows"):
        specroute.diagnose(np.column_stack([np.arange(1200.0), straight.X]))
