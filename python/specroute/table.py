"""Arrays, data frames and series as tables of the library, and back."""

import ctypes

import numpy as np

from . import _declarations as c
from ._library import ArgumentError, DataError, call, encode, lib, made, text, threads_of

_TYPES = {
    np.dtype(kind): number
    for kind, number in {
        "bool": c.SR_TYPE_BOOL,
        "int8": c.SR_TYPE_INT8,
        "int16": c.SR_TYPE_INT16,
        "int32": c.SR_TYPE_INT32,
        "int64": c.SR_TYPE_INT64,
        "uint8": c.SR_TYPE_UINT8,
        "uint16": c.SR_TYPE_UINT16,
        "uint32": c.SR_TYPE_UINT32,
        "uint64": c.SR_TYPE_UINT64,
        "float16": c.SR_TYPE_FLOAT16,
        "float32": c.SR_TYPE_FLOAT32,
        "float64": c.SR_TYPE_FLOAT64,
    }.items()
}

_COLUMN = np.dtype({
    "names": ["type", "data", "stride"],
    "formats": ["i4", "i8", "i8"],
    "offsets": [getattr(c.sr_column, name).offset for name in ("type", "data", "stride")],
    "itemsize": ctypes.sizeof(c.sr_column),
})


# ---- memory of the library as arrays ----------------------------------------------------------


class _Memory:
    """Memory of an object of the library, which lives as long as an array shows it."""

    def __init__(self, address, shape, dtype, owner):
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, True), "shape": shape, "typestr": np.dtype(dtype).str, "version": 3,
        }


def shown(address, shape, dtype, owner):
    """A read-only array on memory of the library; None where there is none."""
    if not address:
        return None
    shape = shape if isinstance(shape, tuple) else (shape,)
    if 0 in shape:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(address, shape, dtype, owner))


def names_of(names, count):
    """C texts as a list."""
    return [text(names[i]) for i in range(count)] if names else None


def _texts(names):
    return (ctypes.c_char_p * len(names))(*[encode(name) for name in names])


def _dictionary(names):
    return c.sr_dictionary(len(names), _texts(names))


# ---- features ---------------------------------------------------------------------------------


def is_frame(X):
    """Whether X has named columns: pandas, polars, pyarrow."""
    return hasattr(X, "columns") or hasattr(X, "column_names") or hasattr(X, "__arrow_c_stream__")


def is_series(X):
    """Whether X is one series per row: a 3-D array, or a list of arrays that are no plain rows."""
    if isinstance(X, np.ndarray):
        return X.ndim == 3
    if not isinstance(X, (list, tuple)) or not len(X) or not isinstance(X[0], np.ndarray):
        return False
    shapes = {row.shape for row in X if isinstance(row, np.ndarray)}
    return len(shapes) > 1 or any(len(shape) == 2 for shape in shapes)


def _native(array):
    """The array in a type that the library reads, without a copy where it is one."""
    if array.dtype in _TYPES:
        return array
    if array.dtype.kind == "M" or array.dtype.kind == "m":
        return seconds(array)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if not array.dtype.isnative:
        native = array.dtype.newbyteorder("=")
        if native in _TYPES:
            return array.astype(native)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"values of type {array.dtype} are no numbers: {error}") from error


def seconds(array):
    """Dates and times as seconds, NaN where missing; numbers as they are."""
    array = np.asarray(array)
    if array.dtype.kind in "Mm":
        unit = "datetime64[ns]" if array.dtype.kind == "M" else "timedelta64[ns]"
        missing = np.isnat(array)
        array = array.astype(unit).astype(np.int64) / 1e9
        array[missing] = np.nan
        return array
    return array.astype(np.float64)


def _pandas_column(series):
    """The values of a column and, for texts and categories, the names of its codes."""
    dtype = series.dtype
    if hasattr(series, "cat"):
        return series.cat.codes.to_numpy(), [str(name) for name in series.cat.categories]
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcMm":
        return _native(series.to_numpy()), None
    if not isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return series.to_numpy(dtype=np.float64, na_value=np.nan), None
    if getattr(dtype, "kind", "") in "Mm":
        return seconds(series.to_numpy(dtype="datetime64[ns]")), None
    try:
        codes, names = series.factorize(sort=True)
    except TypeError:
        codes, names = series.factorize()
    return codes, [str(name) for name in names]


def _columns_of(X):
    """Name, values and names of codes of every column."""
    if isinstance(X, np.ndarray):
        X = _native(X)
        return [(None, X[:, j], None) for j in range(X.shape[1])]
    columns = []
    for j, name in enumerate(X.columns):
        values, names = _pandas_column(X.iloc[:, j])
        if names is not None and not names:
            values, names = np.full(len(X), np.nan), None
        columns.append((str(name), values, names))
    return columns


def _from_columns(rows, columns, threads):
    described = (c.sr_column * len(columns))()
    for one, (name, values, names) in zip(described, columns):
        one.name = encode(name)
        one.type = _TYPES[values.dtype]
        one.data = values.ctypes.data if values.size else ctypes.addressof(described)
        one.stride = values.strides[0]
        if names:
            one.categories = _dictionary(names)
    return made("sr_table_free", "sr_table_from_columns", rows, len(columns), described,
                threads=threads)


def _from_array(X, threads):
    """A matrix of numbers: the columns differ by their address alone."""
    X = _native(X)
    rows, count = X.shape
    described = np.zeros(count, dtype=_COLUMN)
    described["type"] = _TYPES[X.dtype]
    described["data"] = X.ctypes.data + np.arange(count, dtype=np.int64) * X.strides[1]
    described["stride"] = X.strides[0]
    pointer = described.ctypes.data_as(ctypes.POINTER(c.sr_column))
    return made("sr_table_free", "sr_table_from_columns", rows, count, pointer, threads=threads)


def _from_stream(X, threads):
    capsule = X.__arrow_c_stream__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return made("sr_table_free", "sr_table_from_arrow", get(capsule, b"arrow_array_stream"), None,
                threads=threads)


def _from_series(X):
    """One series per row and channel: a 3-D array, or a list of 1-D or 2-D arrays."""
    if isinstance(X, np.ndarray):
        rows, channels, length = X.shape
        values = np.ascontiguousarray(X, dtype=np.float32).reshape(-1)
        offset = np.arange(rows * channels + 1, dtype=np.int64) * length
    else:
        pieces = [np.atleast_2d(np.asarray(row, dtype=np.float32)) for row in X]
        rows, channels = len(pieces), pieces[0].shape[0]
        for i, piece in enumerate(pieces):
            if piece.ndim != 2 or piece.shape[0] != channels:
                raise ArgumentError(
                    f"row {i} has the shape {piece.shape}, expected {channels} channels of any "
                    "length; give one 1-D array, or one 2-D array of channels, per row"
                )
        offset = np.zeros(rows * channels + 1, dtype=np.int64)
        np.cumsum(np.repeat([piece.shape[1] for piece in pieces], channels), out=offset[1:])
        values = np.concatenate([piece.reshape(-1) for piece in pieces])
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        row, channel = divmod(int(np.searchsorted(offset, infinite[0], "right")) - 1, channels)
        raise DataError(
            f"the series of row {row}, channel {channel}, holds an infinite value; clip it or make it missing (NaN)"
        )
    view = c.sr_table_view(rows=rows, channels=channels, series_offset=offset.ctypes.data,
                           series=values.ctypes.data if values.size else None)
    return made("sr_table_free", "sr_table_wrap", ctypes.byref(view), keep=(offset, values))


def features(X, threads=0):
    """A table of the library with the features or the series of X and nothing else."""
    if isinstance(X, Table):
        return X._handle
    if is_series(X):
        return _from_series(X)
    if is_frame(X):
        if hasattr(X, "iloc"):
            return _from_columns(len(X), _columns_of(X), threads)
        if hasattr(X, "__arrow_c_stream__"):
            return _from_stream(X, threads)
    X = np.asarray(X)
    if X.ndim != 2:
        raise ArgumentError(
            f"X has {X.ndim} dimensions, expected 2 (rows, features) or 3 (rows, channels, length)"
        )
    return _from_array(X, threads)


# ---- whole tables -----------------------------------------------------------------------------


def _column(values, rows, what):
    values = np.asarray(values)
    if values.shape[:1] != (rows,):
        raise ArgumentError(f"{what} has {len(values) if values.ndim else 1} entries for {rows} rows")
    return values


def _places(coords, rows, what):
    """Coordinates as rows x 2 or 3 numbers."""
    coords = _column(coords, rows, what).astype(np.float64)
    if coords.ndim != 2 or coords.shape[1] not in (2, 3):
        raise ArgumentError(f"{what} has the shape {coords.shape}, expected two or three columns")
    if not np.isfinite(coords).all():
        raise DataError(f"{what} holds a value that is not finite")
    return coords


def ground(where, table, threads=0):
    """The places where a model of the rows of ``table`` will be used, in the system of their coordinates."""
    own = lib.sr_table_get(table).contents
    if own.coordinate_count < 2:
        raise ArgumentError("predict_on needs rows with places: give coords")
    rows, view = None, c.sr_table_view()
    if isinstance(where, tuple) and len(where) == 2 and np.ndim(where[1]) == 2:
        X, where = where
    else:
        X = where if isinstance(where, Table) else None
    kept = [] if X is None else [features(X, threads)]
    if kept:
        view = c.sr_table_view.from_buffer_copy(lib.sr_table_get(kept[0]).contents)
        rows = view.rows
    if isinstance(where, Table):
        where = where.coords
        if where is None:
            raise ArgumentError("the table of predict_on has no coordinates; read it with coords")
    places = _places(where, len(where) if rows is None else rows, "predict_on")
    if places.shape[1] != own.coordinate_count:
        raise ArgumentError(f"predict_on has {places.shape[1]} coordinates, expected {own.coordinate_count} as coords has")
    columns = np.ascontiguousarray(places.T)
    view.rows, view.coordinate_count, view.coordinates = len(places), places.shape[1], columns.ctypes.data
    view.projection = own.projection
    kept += [columns, table, view]
    return made("sr_table_free", "sr_table_wrap", ctypes.byref(view), keep=kept)


def codes_of(values):
    """Codes from 0 and their values, as np.unique gives them."""
    values = np.asarray(values)
    if values.dtype.kind == "O":
        try:
            unique, codes = np.unique(values, return_inverse=True)
        except TypeError:
            unique, codes = np.unique(values.astype(str), return_inverse=True)
    else:
        unique, codes = np.unique(values, return_inverse=True)
    return np.ascontiguousarray(codes.reshape(-1), dtype=np.int32), unique


def order_of(table, rows):
    """The order of group and time by the library, which also says what a file of these rows would be told; None where the rows
    stand in it."""
    order, moved = np.empty(rows, dtype=np.int64), ctypes.c_int()
    call("sr_table_examine", table, order.ctypes.data, ctypes.byref(moved))
    return order if moved.value else None


def whole(X, label=None, classes=None, weight=None, groups=None, coords=None, times=None, threads=0,
          regions=None):
    """A table of everything that is known of the rows, and the order in which they stand in it.

    ``label`` are codes of ``classes``. The order is None where the rows stay where they are.
    """
    part = features(X, threads)
    view = c.sr_table_view.from_buffer_copy(lib.sr_table_get(part).contents)
    rows, kept = view.rows, [part]

    def take(array, dtype):
        array = np.ascontiguousarray(array, dtype=dtype)
        kept.append(array)
        return array.ctypes.data

    if label is not None:
        view.label, view.value = take(_column(label, rows, "y"), np.int32), None
        view.classes = _dictionary([str(name) for name in classes])
    if weight is not None:
        view.weight = take(_column(weight, rows, "sample_weight"), np.float32)
    if groups is not None:
        codes, names = codes_of(_column(groups, rows, "groups"))
        view.group, view.groups = take(codes, np.int32), _dictionary([str(n) for n in names])
    if regions is not None:
        codes, names = codes_of(_column(regions, rows, "regions"))
        view.region, view.regions = take(codes, np.int32), _dictionary([str(n) for n in names])
    if coords is not None:
        coords = _places(coords, rows, "coords")
        view.coordinate_count, view.coordinates = coords.shape[1], take(coords.T, np.float64)
    if times is not None:
        times = seconds(_column(times, rows, "times"))
        if times.ndim != 1:
            raise ArgumentError(f"times has {times.ndim} dimensions, expected 1")
        view.time = take(times, np.float64)
    kept.append(view)
    table = made("sr_table_free", "sr_table_wrap", ctypes.byref(view), keep=kept)
    order = order_of(table, rows)
    if order is not None:
        table = made("sr_table_free", "sr_table_select", table, order.ctypes.data, rows)
    return table, order


class Table:
    """Rows with what is known of them, as the library read or simulated them.

    ``X`` and ``y`` go into any estimator; ``groups``, ``regions``, ``coords`` and ``times`` are
    None where the table has none. Arrays show the library's own memory, read-only.

    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=100,d=2", random_state=1)
    >>> table.X.shape, table.feature_names, table.classes
    ((100, 2), ['x1', 'x2'], ['-1', '1'])
    """

    def __init__(self, handle):
        self._handle = handle
        self._view = lib.sr_table_get(handle).contents

    def __len__(self):
        return self._view.rows

    def __repr__(self):
        view = self._view
        series = f", {view.channels} channels" if view.channels else ""
        return f"<specroute.Table: {view.rows} rows, {view.features} features{series}>"

    @property
    def X(self):
        """Features as rows x features, or the list of series where rows carry these."""
        view = self._view
        if view.channels and not view.features:
            count = view.rows * view.channels
            offset = shown(view.series_offset, count + 1, np.int64, self._handle)
            values = shown(view.series, int(offset[-1]), np.float32, self._handle)
            pieces = [values[offset[i]:offset[i + 1]] for i in range(count)]
            if view.channels == 1 and len({len(piece) for piece in pieces}) == 1:
                return np.stack(pieces)[:, None, :]
            step = view.channels
            return [np.stack(pieces[i * step:(i + 1) * step]) for i in range(view.rows)]
        return shown(view.x, (view.features, view.rows), np.float32, self._handle).T

    @property
    def y(self):
        """The target: names of classes (None where missing), or numbers."""
        view = self._view
        if view.value:
            return shown(view.value, view.rows, np.float64, self._handle)
        label = shown(view.label, view.rows, np.int32, self._handle)
        if label is None:
            return None
        names = self.classes + [None] if (label < 0).any() else self.classes
        return np.array(names, dtype=object if names[-1:] == [None] else None)[label]

    @property
    def classes(self):
        """Names of the classes."""
        return names_of(self._view.classes.names, self._view.classes.count)

    @property
    def feature_names(self):
        """Names of the features; None where they have none."""
        return names_of(self._view.feature_names, self._view.features)

    @property
    def groups(self):
        """The group of each row by its name."""
        return self._named(self._view.group, self._view.groups)

    @property
    def regions(self):
        """The region of each row of a map by its name."""
        return self._named(self._view.region, self._view.regions)

    def _named(self, codes, dictionary):
        codes = shown(codes, self._view.rows, np.int32, self._handle)
        return None if codes is None else np.array(names_of(dictionary.names, dictionary.count))[codes]

    @property
    def times(self):
        """The time of each row."""
        return shown(self._view.time, self._view.rows, np.float64, self._handle)

    @property
    def coords(self):
        """Two or three coordinates of each row."""
        view = self._view
        shape = (view.coordinate_count, view.rows)
        coords = shown(view.coordinates, shape, np.float64, self._handle)
        return None if coords is None else coords.T

    @property
    def weight(self):
        """The weight of each row."""
        return shown(self._view.weight, self._view.rows, np.float32, self._handle)

    def write(self, path):
        """Writes the table; the ending of the path names the format."""
        call("sr_table_write", self._handle, encode(path), long=True)


def _list(names):
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    array = (ctypes.c_char_p * (len(names) + 1))()
    for i, name in enumerate(names):
        array[i] = encode(name)
    return array


def read(path, target=None, *, time=None, group=None, region=None, coords=None, weight=None, drop=None,
         categorical=None, format=None, date_format=None, number=False, n_jobs=None):
    """Reads a file of any format that the library knows; columns are named by name or number.

    ``target`` may be a comparison such as ``"pm2.5 > 75"``; with ``number`` it is read as a number.
    ``date_format`` is the order of dates such as 31/12/2010: ``"dmy"``, ``"mdy"`` or ``"ymd"``. Gives a :class:`Table`.

    >>> import os, tempfile, specroute
    >>> path = os.path.join(tempfile.mkdtemp(), "small.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("a,b,y\\n1,2,no\\n3,4,yes\\n")
    >>> specroute.read(path, target="y").X.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    options = c.sr_read_options()
    lib.sr_read_options_init(ctypes.byref(options))
    options.format, options.target = encode(format), encode(target)
    options.date_format = encode(date_format)
    options.target_kind = c.SR_TARGET_NUMBER if number else c.SR_TARGET_CLASS
    for name, value in (("time", time), ("group", group), ("region", region), ("weight", weight)):
        setattr(options, name, encode(value if value is None or isinstance(value, str) else ",".join(value)))
    kept = [_list(coords), _list(drop), _list(categorical)]
    for name, value in zip(("coordinates", "drop", "categorical"), kept):
        if value is not None:
            setattr(options, name, value)
    return Table(made("sr_table_free", "sr_table_read", encode(path), ctypes.byref(options),
                      threads=threads_of(n_jobs), long=True))
