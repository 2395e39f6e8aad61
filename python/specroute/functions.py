"""Parts for everyone: dependence, graphs, parts, plans and honest judging of any model."""

import ctypes
import html
import json

import numpy as np

from . import _declarations as c
from ._library import (ArgumentError, Handle, call, described, encode, lib, made, set_options, text,
                       threads_of, to_bytes)
from .table import Table, codes_of, shown, whole


def seed_of(random_state):
    """A seed of the library from what scikit-learn calls ``random_state``."""
    if random_state is None:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ArgumentError(f"random_state is {random_state}, expected 0 or more")
        return int(random_state)
    return int(random_state.randint(0, 2**31 - 1))


# ---- what the library says --------------------------------------------------------------------


class Report(dict):
    """What the library says of an object: a dict of its JSON that shows itself as a page.

    ``print(report)`` gives lines for a terminal, a notebook shows the page with its pictures, and
    :meth:`save` writes it.
    """

    def __init__(self, name, handle):
        super().__init__(json.loads(described(name, handle, c.SR_DESCRIPTION_JSON)))
        self._text = described(name, handle, c.SR_DESCRIPTION_TEXT)
        self._describe = (name, handle)
        self._page = None

    def __str__(self):
        return self._text

    def page(self):
        """The page as one HTML text."""
        if self._page is None:
            self._page = described(*self._describe, c.SR_DESCRIPTION_HTML)
        return self._page

    def save(self, path):
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page())

    def _repr_html_(self):
        page = html.escape(self.page(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:32em;border:0"></iframe>'

    def __reduce__(self):
        return _stored_report, (dict(self), self._text, self.page())


class _StoredReport(Report):
    def __init__(self, values, lines, page):
        dict.__init__(self, values)
        self._text, self._page = lines, page


def _stored_report(values, lines, page):
    return _StoredReport(values, lines, page)


# ---- structure --------------------------------------------------------------------------------


class Structure:
    """All that is known of how rows depend on each other: T, parts, and what to do about it.

    Made by :func:`diagnose`. ``tmix`` is the number of rows until a row is new, ``interval`` its
    interval, ``parts`` the part of each row, ``report`` everything else.
    """

    def __init__(self, handle, order=None):
        self._handle, self._order = handle, order

    @property
    def _view(self):
        return lib.sr_structure_get(self._handle).contents

    def _in_order(self, values):
        """Values by row of the table, by row of the user."""
        if self._order is None:
            return np.array(values)
        out = np.empty_like(values)
        out[self._order] = values
        return out

    @property
    def tmix(self):
        """Rows until a row is new; NaN where it cannot be told."""
        return self._view.tmix

    @property
    def interval(self):
        """Low and high of ``tmix``; NaN where it was given."""
        return self._view.tmix_low, self._view.tmix_high

    @property
    def independent(self):
        """Whether the rows are as good as independent."""
        return bool(self._view.independent)

    @property
    def recommend(self):
        """The plan to use."""
        return text(self._view.recommend)

    @property
    def parts(self):
        """The part of each row."""
        return self._in_order(_labels(self._view.parts))

    def cut(self, count):
        """The rows cut into ``count`` parts."""
        label = np.empty(self._view.rows, dtype=np.int32)
        call("sr_structure_cut", self._handle, int(count), label.ctypes.data, long=True)
        return self._in_order(label)

    @property
    def report(self):
        """Everything as a :class:`Report`."""
        return Report("sr_describe_structure", self._handle)

    @property
    def correlation(self):
        """Lags and the correlation of rows that far apart; None where it was not estimated."""
        if not self._view.dependence:
            return None
        view = lib.sr_dependence_get(self._view.dependence).contents
        return (np.array(shown(view.lag, view.lag_count, np.float64, self)),
                np.array(shown(view.correlation, view.lag_count, np.float64, self)))

    def __repr__(self):
        scale = "T cannot be told" if np.isnan(self.tmix) else f"new after about {self.tmix:.3g}"
        return f"<specroute.Structure: {self._view.rows} rows, {scale}>"

    def __str__(self):
        return str(self.report)

    def _repr_html_(self):
        return self.report._repr_html_()

    def __reduce__(self):
        return _structure_from_bytes, (to_bytes("sr_structure_to_bytes", self._handle), self._order)


def _structure_from_bytes(data, order):
    return Structure(made("sr_structure_free", "sr_structure_from_bytes", data, len(data)), order)


def _labels(parts):
    view = lib.sr_parts_get(parts).contents
    return np.array(shown(view.part, view.nodes, np.int32, None))


def _graph_handle(graph):
    """A SciPy matrix as a graph of the library."""
    from scipy import sparse

    graph = sparse.csr_matrix(graph, copy=True)
    if graph.shape[0] != graph.shape[1]:
        raise ArgumentError(f"the graph has the shape {graph.shape}, expected as many rows as columns")
    if np.iscomplexobj(graph.data):
        raise ArgumentError("the graph has complex weights, expected real ones above 0")
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.sort_indices()
    offset = np.ascontiguousarray(graph.indptr, dtype=np.int64)
    neighbor = np.ascontiguousarray(graph.indices, dtype=np.int32)
    plain = graph.data.dtype == bool or (graph.data == 1).all()
    weight = None if plain else np.ascontiguousarray(graph.data, dtype=np.float32)
    view = c.sr_graph_view(nodes=graph.shape[0], arcs=len(neighbor), offset=offset.ctypes.data,
                           neighbor=neighbor.ctypes.data,
                           weight=None if plain else weight.ctypes.data, builder=b"")
    return made("sr_graph_free", "sr_graph_new", ctypes.byref(view), long=True)


def _is_matrix(graph):
    return graph is not None and not isinstance(graph, str)


def structure_of(table, order, graph=None, tmix=None, parts=None, groups=None, seed=1, threads=0,
                 verbose=False):
    """The structure of a table: estimated, or made of a graph or parts that the user brings."""
    rows = lib.sr_table_get(table).contents.rows
    given = None if parts is None or np.ndim(parts) == 0 else np.asarray(parts)
    if not _is_matrix(graph) and given is None:
        options = set_options("diagnose", "sr_structure_option_list", c.sr_structure_options,
                              "sr_structure_options_init",
                              {"graph": graph, "tmix": tmix if tmix is None else float(tmix),
                               "parts": parts if parts is None else int(parts)})
        return Structure(made("sr_structure_free", "sr_structure_estimate", table,
                              ctypes.byref(options), seed, threads=threads, verbose=verbose,
                              long=True), order)
    handle = None
    if _is_matrix(graph):
        if order is not None:
            graph = graph.tocsr()[order][:, order]
        handle = _graph_handle(graph)
    elif graph is not None:
        handle = made("sr_graph_free", "sr_graph_build", table, encode(graph), seed, threads=threads,
                      long=True)
    if tmix is None:
        found = made("sr_dependence_free", "sr_dependence_estimate", table, handle, None, seed,
                     threads=threads, long=True)
        tmix = lib.sr_dependence_get(found).contents.tmix.estimate
        tmix = float(tmix) if tmix >= 1 and np.isfinite(tmix) else np.nan
    made_of = c.sr_structure_input(rows=rows, tmix=float(tmix))
    kept = [handle]
    if handle is not None:
        made_of.graph = handle.address
    if given is not None:
        if given.shape != (rows,):
            raise ArgumentError(f"parts has the shape {given.shape}, expected one part for {rows} rows")
        codes, _ = codes_of(given if order is None else given[order])
        kept.append(codes)
        made_of.part, made_of.parts = codes.ctypes.data, int(codes.max()) + 1
    elif parts is not None:
        made_of.parts = int(parts)
    view = lib.sr_table_get(table).contents
    if view.group:
        made_of.group, made_of.groups = view.group, view.groups.count
    return Structure(made("sr_structure_free", "sr_structure_new", ctypes.byref(made_of),
                          threads=threads, long=True), order)


def diagnose(X, y=None, *, graph=None, groups=None, regions=None, coords=None, times=None, tmix=None, parts=None,
             random_state=1, n_jobs=None, verbose=False):
    """Says how dependent the rows are and what to do about it.

    ``X`` is an array, a data frame, a list of series or a :class:`Table`. ``graph`` names a
    dependency graph (``"time:3"``, ``"space:8"``, ``"features"``) or is a SciPy matrix; ``parts``
    is a number or the part of each row. Gives a :class:`Structure`.

    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=2000,tmix=20,d=4", random_state=3)
    >>> found = specroute.diagnose(table.X, table.y)
    >>> bool(found.interval[0] < found.tmix < found.interval[1]), found.independent
    (True, False)
    """
    threads = threads_of(n_jobs)
    label, classes = (None, None) if y is None else codes_of(y)
    if isinstance(X, Table) and all(given is None for given in (y, groups, regions, coords, times)):
        table, order = X._handle, None
    else:
        table, order = whole(X, label, classes, None, groups, coords, times, threads, regions)
    return structure_of(table, order, graph, tmix, parts, groups, seed_of(random_state), threads,
                        bool(verbose))


# ---- graphs -----------------------------------------------------------------------------------


class Fiedler(tuple):
    """Eigenvalue and vector, with ``residual``, ``iterations``, ``solver`` and ``components``."""

    def __new__(cls, value, vector, **more):
        self = super().__new__(cls, (value, vector))
        self.value, self.vector = value, vector
        self.__dict__.update(more)
        return self


def fiedler(graph, *, solver=None, tolerance=1e-6, pairs=1, random_state=1, n_jobs=None):
    """The smallest non-trivial eigenpairs of a graph's normalized Laplacian.

    ``graph`` is a symmetric SciPy matrix (or what becomes one) of weights above 0. The vectors are
    those of L x = lambda D x with x' D x = 1; with ``pairs`` above 1, values and columns of
    vectors. The pair of the largest component is given where there are several.

    >>> import scipy.sparse as sparse, specroute
    >>> path = sparse.diags([1.0, 1.0], [-1, 1], shape=(50, 50))
    >>> value, vector = specroute.fiedler(path)
    >>> round(value, 6), bool((vector[0] > 0) != (vector[-1] > 0))
    (0.002055, True)
    """
    options = set_options("fiedler", "sr_spectrum_option_list", c.sr_spectrum_options,
                          "sr_spectrum_options_init",
                          {"solver": solver, "tolerance": float(tolerance), "pairs": int(pairs)})
    handle = made("sr_spectrum_free", "sr_spectrum_compute", _graph_handle(graph),
                  ctypes.byref(options), seed_of(random_state), threads=threads_of(n_jobs), long=True)
    view = lib.sr_spectrum_get(handle).contents
    value = np.array(shown(view.value, view.pairs, np.float64, handle))
    vector = np.array(shown(view.vector, (view.pairs, view.nodes), np.float64, handle)).T
    if pairs == 1:
        value, vector = float(value[0]), np.ascontiguousarray(vector[:, 0])
    return Fiedler(value, vector, residual=view.residual, iterations=view.iterations,
                   solver=text(view.solver), components=view.components)


def parts(graph, count, *, exact=False, refine=True, imbalance=0.03, n_jobs=None):
    """Cuts a graph into ``count`` balanced parts by recursive Fiedler bisection.

    Gives the part of each node. ``exact`` bisects every piece at the median of its own Fiedler
    vector; the default bisects coarse graphs and refines.

    >>> import scipy.sparse as sparse, specroute
    >>> path = sparse.diags([1.0, 1.0], [-1, 1], shape=(8, 8))
    >>> specroute.parts(path, 4).tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    if count < 1:
        raise ArgumentError(f"count is {count}, expected at least one part")
    options = set_options("parts", "sr_parts_option_list", c.sr_parts_options, "sr_parts_options_init",
                          {"parts": int(count), "pure": not refine,
                           "mode": "exact" if exact else "fast", "imbalance": float(imbalance)})
    handle = made("sr_parts_free", "sr_parts_compute", _graph_handle(graph), ctypes.byref(options),
                  threads=threads_of(n_jobs), long=True)
    return _labels(handle)


# ---- plans ------------------------------------------------------------------------------------


class Plan:
    """Bags of rows, one per member, each made when asked for.

    Iterating gives index arrays with repeats; :meth:`bag` gives distinct rows and their counts.
    """

    def __init__(self, handle, order=None):
        self._handle, self._order = handle, order

    @property
    def _view(self):
        return lib.sr_plan_get(self._handle)

    def __len__(self):
        return self._view.members

    def bag(self, member):
        """Distinct rows of a bag, increasing, and how often each occurs."""
        view = self._view
        rows, counts = np.empty(view.capacity, np.int64), np.empty(view.capacity, np.int32)
        length = ctypes.c_int64()
        call("sr_plan_bag", self._handle, int(member), rows.ctypes.data, counts.ctypes.data,
             ctypes.byref(length))
        rows, counts = rows[:length.value].copy(), counts[:length.value].copy()
        if self._order is not None:
            rows = self._order[rows]
            sort = np.argsort(rows)
            rows, counts = rows[sort], counts[sort]
        return rows, counts

    def __getitem__(self, member):
        if not -len(self) <= member < len(self):
            raise IndexError(f"the plan has {len(self)} bags")
        return np.repeat(*self.bag(member % len(self)))

    def __iter__(self):
        return (self[member] for member in range(len(self)))

    @property
    def text(self):
        """The scheme with its options."""
        return text(self._view.text)

    @property
    def parameters(self):
        """What the scheme worked with."""
        view = self._view
        return {text(view.parameters[k].name): view.parameters[k].value
                for k in range(view.parameter_count)}

    def __repr__(self):
        return f"<specroute.Plan: {self.text}, {len(self)} bags of {self._view.rows} rows>"

    def write(self, path):
        """Writes every bag as .npy (members x rows) or .csv (member, row, count)."""
        call("sr_plan_write", self._handle, encode(path), None, long=True)

    def __reduce__(self):
        return _plan_from_bytes, (to_bytes("sr_plan_to_bytes", self._handle), self._order)


def _plan_from_bytes(data, order):
    return Plan(made("sr_plan_free", "sr_plan_from_bytes", data, len(data)), order)


def plan_from_bags(bags, rows):
    """A plan of index arrays in memory."""
    bags = [np.asarray(bag, dtype=np.int64).reshape(-1) for bag in bags]
    offset = np.zeros(len(bags) + 1, dtype=np.int64)
    np.cumsum([len(bag) for bag in bags], out=offset[1:])
    row = np.ascontiguousarray(np.concatenate(bags)) if bags else np.empty(0, np.int64)
    return Plan(made("sr_plan_free", "sr_plan_from_bags", rows, len(bags), offset.ctypes.data,
                     row.ctypes.data, None))


def plan(X, y=None, *, plan="routed", n_estimators=100, graph=None, groups=None, coords=None,
         times=None, tmix=None, parts=None, random_state=None, n_jobs=None):
    """The bags that each member of an ensemble learns from, for any trainer.

    ``X`` may also be a :class:`Structure`. Gives a :class:`Plan`, which yields index arrays.

    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=300,tmix=10,d=2", random_state=1)
    >>> bags = specroute.plan(table.X, plan="routed", n_estimators=5, random_state=1)
    >>> len(bags), all(0 <= rows.min() and rows.max() < 300 for rows in bags)
    (5, True)
    """
    seed = seed_of(random_state)
    structure = X
    if not isinstance(X, Structure):
        structure = diagnose(X, y, graph=graph, groups=groups, coords=coords, times=times, tmix=tmix,
                             parts=parts, random_state=seed, n_jobs=n_jobs)
    handle = made("sr_plan_free", "sr_plan_new", structure._handle, encode(plan), int(n_estimators),
                  seed, threads=threads_of(n_jobs), long=True)
    return Plan(handle, structure._order)


# ---- comparing ----------------------------------------------------------------------------------


def compare(X, y, *, plans="uniform,auto", learners=None, n_estimators=100, sample_weight=None,
            class_weight=None, graph=None, groups=None, coords=None, times=None, tmix=None, parts=None,
            vote=None, folds=None, buffer=None, forward=False, level=None, random_state=1, n_jobs=None,
            verbose=False):
    """Plans and learners on the same honest folds, with paired tests.

    ``plans`` and ``learners`` are comma separated names with their options. The rest is as in
    :class:`SpecrouteClassifier`. Gives a :class:`Report`: ``rows`` has the error of each with its
    interval, ``best`` the one with the least, ``wilcoxon`` the tests of it against the others.

    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=400,tmix=5,d=2", random_state=1)
    >>> told = specroute.compare(table.X, table.y, plans="uniform,routed", n_estimators=9)
    >>> [row["plan"] for row in told["rows"]]
    ['uniform', 'routed']
    """
    options = {"plans": plans, "learners": learners, "members": n_estimators, "vote": vote,
               "forward": bool(forward), "level": level, "folds": folds, "buffer": buffer}
    return _side_by_side("compare", "comparison", options, X, y, sample_weight, class_weight, graph,
                         groups, coords, times, tmix, parts, random_state, n_jobs, verbose)


def _side_by_side(task, result, options, X, y, sample_weight, class_weight, graph, groups, coords,
                  times, tmix, parts, random_state, n_jobs, verbose):
    """What comparing and searching share: settings tried on honest folds of one table."""
    from .estimator import weights_of

    options.update(class_weight=class_weight if isinstance(class_weight, str) else None, graph=graph,
                   tmix=tmix, parts=parts)
    options = set_options(task, f"sr_{task}_option_list", getattr(c, f"sr_{task}_options"),
                          f"sr_{task}_options_init", options)
    threads = threads_of(n_jobs)
    label, classes = codes_of(y)
    weight = weights_of(sample_weight, class_weight, X, y)
    table, _ = whole(X, label, classes, weight, groups, coords, times, threads)
    return Report(f"sr_describe_{result}", made(
        f"sr_{result}_free", f"sr_{task}", table, ctypes.byref(options), seed_of(random_state),
        threads=threads, verbose=bool(verbose), long=True))


# ---- searching ----------------------------------------------------------------------------------


def tune(X, y, *, plans=None, learners=None, tries=None, n_estimators=100, sample_weight=None,
         class_weight=None, graph=None, groups=None, coords=None, times=None, tmix=None, parts=None,
         vote=None, folds=None, buffer=None, level=None, random_state=1, n_jobs=None, verbose=False):
    """Searches plans, learners and their options on honest folds, by successive halving.

    ``plans`` and ``learners`` are comma separated names: options that are named stay, others are
    tried. ``tries`` settings are drawn. The rest is as in :class:`SpecrouteClassifier`. Gives a
    :class:`Report`: ``best`` has the plan and the learner to train with, ``error`` what they reach on
    rows that the search never saw, ``tried`` every try.

    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=600,tmix=5,d=2", random_state=1)
    >>> found = specroute.tune(table.X, table.y, plans="uniform,routed", tries=3, n_estimators=9)
    >>> best = specroute.SpecrouteClassifier(found["best"]["learner"], found["best"]["plan"])
    >>> 0 <= found["error"]["honest"] <= 1, len(found["tried"]) >= 3
    (True, True)
    """
    options = {"plans": plans, "learners": learners, "tries": tries, "members": n_estimators,
               "vote": vote, "level": level, "folds": folds, "buffer": buffer}
    return _side_by_side("tune", "tuning", options, X, y, sample_weight, class_weight, graph, groups,
                         coords, times, tmix, parts, random_state, n_jobs, verbose)


# ---- what predictions are worth -----------------------------------------------------------------


def judge(y, predictions, *, X=None, classes=None, graph=None, groups=None, coords=None, times=None,
          tmix=None, parts=None, level=0.95, random_state=1, n_jobs=None):
    """The honest evaluation of anybody's held-out predictions.

    ``predictions`` has one class per row (None or NaN where there is none), or one column of
    probabilities per class, in the order of ``classes`` (sorted by default). What the rows depend
    on comes from ``X``, ``groups``, ``coords``, ``times``, ``graph`` and ``tmix`` as in
    :func:`diagnose`; without ``X`` from the errors themselves. Gives a :class:`Report` with
    ``error`` (with its interval, and what it would be were the rows independent) and ``metrics``.

    >>> import numpy as np, specroute
    >>> y = np.arange(2000) % 2
    >>> wrong = np.repeat(np.random.default_rng(0).random(40) < 0.25, 50)   # fifty in a row
    >>> told = specroute.judge(y, np.where(wrong, 1 - y, y))["error"]
    >>> told["honest_high"] - told["honest_low"] > 2 * (told["naive_high"] - told["naive_low"])
    True
    """
    y, predictions = np.asarray(y), np.asarray(predictions)
    if y.ndim != 1 or predictions.ndim not in (1, 2) or len(y) != len(predictions):
        raise ArgumentError(f"y has the shape {y.shape} and predictions {predictions.shape}, expected "
                            "one class and one prediction, or a row of probabilities, per row")
    proba = vote = None
    if predictions.ndim == 2:
        names = np.unique(y) if classes is None else np.asarray(classes)
        if predictions.shape[1] != len(names):
            raise ArgumentError(f"predictions has {predictions.shape[1]} columns for {len(names)} classes")
        label = _codes_in(y, names)
        if (label < 0).any():
            raise ArgumentError("y holds a class that is not in classes")
        proba = np.ascontiguousarray(predictions, dtype=np.float32)
        vote = np.where(np.isnan(proba).any(axis=1), -1, proba.argmax(axis=1)).astype(np.int32)
    else:
        missing = np.array([value is None or value != value for value in predictions.tolist()], dtype=bool)
        told = predictions[~missing]
        told = told.astype(y.dtype) if told.dtype.kind == "O" and y.dtype.kind != "O" else told
        names = np.unique(np.concatenate([y, told]))
        label, vote = _codes_in(y, names), _codes_in(predictions, names)
        vote[missing] = -1
    if X is None:
        X = np.column_stack([label, np.where(vote < 0, np.nan, vote != label)]).astype(np.float32)
    threads = threads_of(n_jobs)
    table, order = whole(X, label, names, None, groups, coords, times, threads)
    structure = structure_of(table, order, graph, tmix, parts, groups, seed_of(random_state), threads)
    if order is not None:
        vote, proba = vote[order], None if proba is None else proba[order]
    vote = np.ascontiguousarray(vote, dtype=np.int32)
    given = c.sr_predictions(label=vote.ctypes.data, proba=None if proba is None else proba.ctypes.data)
    options = set_options("judge", "sr_judge_option_list", c.sr_judge_options, "sr_judge_options_init",
                          {"level": float(level)})
    told = c.sr_judgment()
    call("sr_judge", table, structure._handle, ctypes.byref(given), ctypes.byref(options),
         ctypes.byref(told), threads=threads)
    return Report("sr_describe_judgment", ctypes.byref(told))


def _codes_in(values, names):
    """The place of each value in names that are sorted or not; -1 where it is none of them."""
    place = {name: code for code, name in enumerate(names.tolist())}
    return np.array([place.get(value, -1) for value in values.tolist()], dtype=np.int32)


# ---- simulated rows and methods -----------------------------------------------------------------


def simulate(name, *, random_state=1, replicate=0, n_jobs=None):
    """Witness data whose dependence and Bayes risk are known, as a :class:`Table` and the risk.

    >>> import specroute
    >>> table, risk = specroute.simulate("ar1:n=50,tmix=5,d=2", random_state=1)
    >>> len(table), 0 < risk < 0.5
    (50, True)
    """
    risk, handle = ctypes.c_double(), Handle("sr_table_free")
    call("sr_simulate", encode(name), seed_of(random_state), int(replicate), handle.out(),
         ctypes.byref(risk), threads=threads_of(n_jobs), long=True)
    return Table(handle), risk.value


def methods(kind=None):
    """Every method of the library with its options: a list of dicts.

    >>> import specroute
    >>> "tree" in [method["name"] for method in specroute.methods("learner")]
    True
    """
    kinds, index = [], 0
    while entry := lib.sr_method_kind_at(index):
        kinds.append(entry)
        index += 1
    known = [text(entry.contents.name) for entry in kinds]
    if kind is not None and kind not in known:
        raise ArgumentError(f"kind is {kind!r}, expected one of {', '.join(known)}")
    wanted = [entry for entry, name in zip(kinds, known) if kind in (None, name)]
    array = (ctypes.POINTER(c.sr_method_kind) * len(wanted))(*wanted)
    out = ctypes.c_void_p()
    call("sr_describe_methods", len(wanted), ctypes.cast(array, c.FUNCTIONS["sr_describe_methods"][1][2]),
         c.SR_DESCRIPTION_JSON, ctypes.byref(out))
    try:
        return json.loads(ctypes.string_at(out.value))["methods"]
    finally:
        lib.sr_bytes_free(ctypes.byref(out))
