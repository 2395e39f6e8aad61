"""Estimators after the conventions of scikit-learn."""

import ctypes
import numbers

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (_check_feature_names, _check_n_features, _check_sample_weight,
                                      check_is_fitted, column_or_1d, validate_data)

from . import _declarations as c
from ._library import (ArgumentError, call, encode, lib, made, set_options, text, threads_of,
                       to_bytes)
from .functions import Plan, Report, Structure, plan_from_bags, structure_of
from .table import Table, codes_of, features, ground, is_frame, is_series, names_of, shown, whole


def _seed(random_state):
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def _check_names(estimator, X, reset):
    """Columns by name, whatever frames this scikit-learn knows: some know pandas alone."""
    if hasattr(X, "iloc"):
        _check_feature_names(estimator, X, reset=reset)
        return
    names = list(getattr(X, "column_names", None) or X.columns)
    if reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
        return
    known = getattr(estimator, "feature_names_in_", None)
    if known is None or names == known.tolist():
        return
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    what = (f"unseen at fit time: {', '.join(unseen)}" if unseen
            else f"yet now missing: {', '.join(missing)}" if missing
            else "in the same order as they were in fit")
    raise ValueError(f"The feature names should match those that were passed during fit. "
                     f"Feature names must be {what}")


def _checked(estimator, X, reset):
    """X as the library takes it, after the checks that scikit-learn asks for."""
    if isinstance(X, Table):
        X = X.X if not X._view.channels else X
    if isinstance(X, Table) or is_series(X):
        channels = X._view.channels if isinstance(X, Table) else (
            X.shape[1] if isinstance(X, np.ndarray) else np.atleast_2d(X[0]).shape[0])
        if reset:
            estimator.n_features_in_ = channels
        elif channels != estimator.n_features_in_:
            raise ValueError(f"X has {channels} channels, but {type(estimator).__name__} is "
                             f"expecting {estimator.n_features_in_} channels")
        return X
    if is_frame(X) and getattr(X, "ndim", 2) == 2:
        _check_names(estimator, X, reset)
        _check_n_features(estimator, X, reset=reset)
        if not len(X):
            raise ValueError(f"Found array with 0 sample(s) (shape={tuple(X.shape)}) while a minimum "
                             "of 1 is required")
        if X.shape[1] == 0:
            raise ValueError(f"0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
        return X
    return validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False,
                         accept_sparse=False)


def weights_of(sample_weight, class_weight, X, y):
    """The weight of each row, classes by a dict included; None where all are the same."""
    if isinstance(class_weight, dict):
        codes, classes = codes_of(y)
        names = classes.tolist()
        unknown = [name for name in class_weight if name not in names]
        if unknown:
            raise ArgumentError(f"class_weight has {unknown[0]!r}, which y has not; expected some of {names}")
        by_class = np.array([class_weight.get(name, 1.0) for name in names], dtype=np.float64)[codes]
        sample_weight = by_class if sample_weight is None else np.asarray(sample_weight) * by_class
    elif class_weight is not None and class_weight != "balanced":
        raise ArgumentError(f"class_weight is {class_weight!r}, expected 'balanced', a dict or None")
    if sample_weight is None:
        return None
    rows = len(X) if not isinstance(X, np.ndarray) else X.shape[0]
    weight = _check_sample_weight(sample_weight, np.empty((rows, 1), np.float32), dtype=np.float64,
                                  ensure_non_negative=True)
    if not (weight > 0).any():
        raise ValueError("sample_weight is 0 in every row; give at least one row some weight")
    if len(weight) and (weight == weight[0]).all():
        return None
    return weight


class SpecrouteClassifier(ClassifierMixin, BaseEstimator):
    """A voting ensemble on rows that depend on each other, which tells its honest error.

    Every value is checked by the library; ``specroute.methods()`` lists learners, plans and graphs
    with their options.

    Parameters
    ----------
    learner : str, default="tree"
        ``NAME[:KEY=VALUE,...]`` of a learner, such as ``"tree:min_leaf=5"``.
    plan : str, Plan or list of index arrays, default="auto"
        Which rows each member learns from: the name of a plan, or bags.
    graph : str, SciPy matrix or None
        The dependency graph, such as ``"time:3"`` or ``"space:8"``; None: as the rows are.
    n_estimators : int, default=100
        Number of members.
    vote : {"auto", "hard", "soft", "gated"}, default="auto"
        Soft where members are calibrated and else hard; majority; mean probability; or weighted by
        nearness of parts.
    tmix : float or None
        Rows until a row is new; None estimates it.
    parts : int, array of labels or None
        Number of parts, or the part of each row; None: the groups, or about four T rows each.
    evaluate : bool, default=True
        Whether the errors are estimated.
    importance : bool, default=True
        Whether the importance of every feature is measured, with the errors.
    forward : bool, default=False
        Whether the error on the future is estimated too, by training on the past alone.
    level : float, default=0.95
        Probability of the intervals.
    folds : int or None
        Folds of the honest error; None: as many as the library takes.
    buffer : int or None
        Rows or graph steps left out around what is held out; None: by T.
    class_weight : "balanced", dict or None
        What rows of a class weigh: as much as those of any other class together, or as the dict
        says; None: all the same.
    min_weight_fraction_leaf : float, default=0.0
        Trees: the least share of the weight of all its rows that a tree leaves in a leaf.
    options : dict or None
        Any other option of training by its key.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads; None is all cores.
    verbose : int, default=0
        1 shows progress on stderr.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    honest_error_, honest_interval_ : float, (float, float)
        The error on rows of the same process far from every training row.
    naive_error_, forward_error_ : float
        The error on new rows of the same stretch, and on the future; NaN where it was not told.
    use_error_, use_interval_ : float, (float, float)
        With ``predict_on``: the error at the distances of use; NaN where it was not told.
    tmix_ : float
        Rows until a row is new.
    parts_ : array
        The part of each training row.
    plan_ : dict
        The plan that was used, with its parameters and weights.
    report_ : Report
        All of it; shows itself as a page in a notebook.

    Examples
    --------
    >>> import specroute
    >>> table, _ = specroute.simulate("ar1:n=500,tmix=20,d=3", random_state=1)
    >>> model = specroute.SpecrouteClassifier(n_estimators=30, random_state=0)
    >>> model.fit(table.X, table.y).predict(table.X[:3]).shape
    (3,)
    >>> low, high = model.honest_interval_
    >>> low <= model.honest_error_ <= high
    True
    """

    def __init__(self, learner="tree", plan="auto", graph=None, n_estimators=100, *, vote="auto",
                 tmix=None, parts=None, evaluate=True, importance=True, forward=False, level=0.95,
                 folds=None, buffer=None, class_weight=None, min_weight_fraction_leaf=0.0, options=None,
                 random_state=None, n_jobs=None, verbose=0):
        self.learner = learner
        self.plan = plan
        self.graph = graph
        self.n_estimators = n_estimators
        self.vote = vote
        self.tmix = tmix
        self.parts = parts
        self.evaluate = evaluate
        self.importance = importance
        self.forward = forward
        self.level = level
        self.folds = folds
        self.buffer = buffer
        self.class_weight = class_weight
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.three_d_array = True
        return tags

    # ---- fitting ------------------------------------------------------------------------------

    def _train_options(self):
        learner = self.learner
        if self.min_weight_fraction_leaf:
            learner += f"{',' if ':' in learner else ':'}min_share={self.min_weight_fraction_leaf}"
        values = {
            "learner": learner, "members": self.n_estimators, "vote": self.vote,
            "plan": self.plan if isinstance(self.plan, str) else None,
            "graph": self.graph if isinstance(self.graph, str) else None, "tmix": self.tmix,
            "parts": self.parts if isinstance(self.parts, numbers.Integral) else None,
            "evaluation": bool(self.evaluate), "importance": bool(self.importance),
            "forward": bool(self.forward),
            "level": self.level, "folds": self.folds, "buffer": self.buffer,
            "class_weight": self.class_weight if isinstance(self.class_weight, str) else None,
            **(self.options or {}),
        }
        return set_options("SpecrouteClassifier", "sr_train_option_list", c.sr_train_options,
                           "sr_train_options_init", values)

    def _given(self, table, order, seed, threads, rows):
        """The structure and the bags that the user brings."""
        structure = plan = None
        if isinstance(self.graph, Structure):
            structure = self.graph
        elif (self.graph is not None and not isinstance(self.graph, str)) or np.ndim(self.parts) == 1:
            structure = structure_of(table, order, self.graph, self.tmix, self.parts, None, seed,
                                     threads)
        if not isinstance(self.plan, str):
            plan = self.plan if isinstance(self.plan, Plan) else plan_from_bags(self.plan, rows)
        return structure, plan

    def fit(self, X, y, sample_weight=None, groups=None, coords=None, times=None, regions=None,
            predict_on=None):
        """Trains on rows and classes; every other array has one entry per row.

        ``groups`` names rows that belong together, ``coords`` holds two or three coordinates,
        ``times`` says when each row was seen: rows are put in that order. ``regions`` names the ground of
        rows with ``coords`` whose law may differ; None: as the coordinates show. ``predict_on`` is where
        the model will be used, in the system of ``coords``: a :class:`Table` with coordinates, a pair
        ``(X, coords)``, or coordinates alone; it tells the error at these distances (``use_error_``).
        """
        X = _checked(self, X, reset=True)
        if y is None:
            raise ValueError("This SpecrouteClassifier estimator requires y to be passed, but the "
                             "target y is None")
        y = column_or_1d(np.asarray(y), warn=True)
        check_classification_targets(y)
        rows = len(X) if not isinstance(X, np.ndarray) else X.shape[0]
        if len(y) != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: "
                             f"[{rows}, {len(y)}]")
        if rows == 1:
            raise ValueError("n_samples=1: one row teaches nothing; give at least two")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        label, self.classes_ = codes_of(y)
        threads, seed = threads_of(self.n_jobs), _seed(self.random_state)
        options = self._train_options()
        weight = weights_of(sample_weight, self.class_weight, X, y)
        table, order = whole(X, label, self.classes_, weight, groups, coords, times, threads, regions)
        structure, plan = self._given(table, order, seed, threads, rows)
        use = None if predict_on is None else ground(predict_on, table, threads)
        if use is not None:
            options.evaluate.predict_on = use.address
        made_of = c.sr_train_input(structure=structure._handle.address if structure else None,
                                   plan=plan._handle.address if plan else None)
        self._model = made("sr_ensemble_free", "sr_train_with", table, ctypes.byref(made_of),
                           ctypes.byref(options), seed, threads=threads, verbose=bool(self.verbose),
                           long=True)
        taught = np.arange(rows) if order is None else order
        if weight is not None and structure is None and plan is None:
            taught = taught[weight[taught].astype(np.float32) != 0]
        self._tell(rows, taught)
        return self

    def _tell(self, rows=None, taught=None):
        """What the library says of the model, as attributes; taught: the rows that were learned from,
        None where they are not known any more.
        """
        view = lib.sr_ensemble_get(self._model).contents
        self.report_ = Report("sr_describe_ensemble", self._model)
        error = self.report_.get("error") or {}

        def number(key):
            value = error.get(key)
            return float("nan") if value is None else float(value)

        self.plan_ = self.report_.get("plan")
        self.tmix_ = view.tmix
        self.honest_error_, self.naive_error_ = number("honest"), number("naive")
        self.honest_interval_ = number("honest_low"), number("honest_high")
        self.forward_error_ = number("forward")
        error = next((asked for asked in error.get("questions") or () if asked["name"] == "use"), {})
        self.use_error_ = number("estimate")
        self.use_interval_ = number("low"), number("high")
        self.parts_ = None
        if view.structure and taught is not None:
            self.parts_ = np.full(rows, -1, np.int32)
            self.parts_[taught] = Structure(view.structure).parts
        importance = None
        if view.evaluation:
            evaluation = view.evaluation.contents
            importance = shown(evaluation.importance, evaluation.features, np.float64, self._model)
        self._importances = None if importance is None else np.array(importance)

    @property
    def feature_importances_(self):
        """Error gained by shuffling each feature inside parts."""
        check_is_fitted(self)
        if self._importances is None:
            raise AttributeError("importance was not measured: set evaluate and importance to True")
        return self._importances

    # ---- predicting ---------------------------------------------------------------------------

    def _predict(self, X, proba):
        check_is_fitted(self)
        X = _checked(self, X, reset=False)
        threads = threads_of(self.n_jobs)
        table = features(X, threads)
        rows = lib.sr_table_get(table).contents.rows
        label = np.empty(rows, np.int32)
        shares = np.empty((rows, len(self.classes_)), np.float32) if proba else None
        call("sr_ensemble_predict_view", self._model, lib.sr_table_get(table), label.ctypes.data,
             shares.ctypes.data if proba else None, threads=threads, long=rows > 1000)
        return label, shares

    def predict(self, X):
        """The class of each row."""
        check_is_fitted(self)
        return self.classes_[self._predict(X, False)[0]]

    def predict_proba(self, X):
        """The share of votes of each class."""
        shares = self._predict(X, True)[1].astype(np.float64)
        return shares / shares.sum(axis=1, keepdims=True)

    def votes(self, X):
        """The class that each member votes for: members x rows."""
        check_is_fitted(self)
        table = features(_checked(self, X, reset=False), threads_of(self.n_jobs))
        rows = lib.sr_table_get(table).contents.rows
        votes = np.empty((lib.sr_ensemble_get(self._model).contents.members, rows), np.int32)
        call("sr_ensemble_votes", self._model, table, votes.ctypes.data,
             threads=threads_of(self.n_jobs), long=True)
        return self.classes_[votes]

    def stream(self):
        """The model along a series that is still coming in: a :class:`Stream`."""
        from .stream import Stream

        check_is_fitted(self)
        return Stream(self)

    def partial_dependence(self, X, feature):
        """How the vote moves with one feature: its values, and the mean share of every class there.

        ``feature`` is a name or a number. Gives ``values`` (quantiles of the feature in ``X``, or the
        names of its categories) and ``shares`` (values x classes), averaged over at most 500 rows of
        ``X`` in which the feature is set to one value after the other.

        >>> import specroute
        >>> table, _ = specroute.simulate("ar1:n=300,tmix=5,d=2", random_state=1)
        >>> model = specroute.SpecrouteClassifier(n_estimators=9, random_state=1).fit(table.X, table.y)
        >>> values, shares = model.partial_dependence(table.X, 0)
        >>> len(values) == len(shares), shares.shape[1]
        (True, 2)
        """
        check_is_fitted(self)
        handle = features(_checked(self, X, reset=False), threads_of(self.n_jobs))
        names = getattr(self, "feature_names_in_", None)
        column = feature
        if isinstance(feature, str):
            if names is None or feature not in names:
                raise ArgumentError(f"feature is {feature!r}, expected one of "
                                    f"{'0 to ' + str(self.n_features_in_ - 1) if names is None else names.tolist()}")
            column = names.tolist().index(feature)
        shares = np.empty((c.SR_PARTIAL_POINTS, len(self.classes_)), np.float64)
        told = c.sr_partial_dependence_view()
        call("sr_partial_dependence", self._model, handle, int(column), shares.ctypes.data,
             ctypes.byref(told), threads=threads_of(self.n_jobs), long=True)
        values = np.array(told.value[:told.points])
        categories = lib.sr_table_get(handle).contents.categories
        if categories and categories[int(column)].count:
            known = names_of(categories[int(column)].names, categories[int(column)].count)
            values = np.array([known[int(value)] for value in values], dtype=object)
        return values, shares[:told.points].copy()

    def nodes(self, member):
        """One tree as arrays: a dict of feature, threshold, left, right, missing_left and share."""
        check_is_fitted(self)
        handle = made("sr_nodes_free", "sr_ensemble_nodes", self._model, int(member))
        view = lib.sr_nodes_get(handle).contents
        kinds = {"feature": np.int32, "threshold": np.float32, "left": np.int32, "right": np.int32,
                 "missing_left": np.uint8}
        out = {name: np.array(shown(getattr(view, name), view.nodes, kind, handle))
               for name, kind in kinds.items()}
        out["share"] = np.array(shown(view.share, (view.nodes, view.classes), np.float32, handle))
        return out

    # ---- storing and showing ------------------------------------------------------------------

    def save(self, path):
        """Writes the model for ``specroute predict`` and :func:`specroute.load`."""
        check_is_fitted(self)
        call("sr_ensemble_save", self._model, encode(path), long=True)

    def export(self, path):
        """Writes the trees for other programs: .json, or .onnx for ONNX runtimes."""
        check_is_fitted(self)
        call("sr_ensemble_export", self._model, encode(path), long=True)

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = to_bytes("sr_ensemble_to_bytes", self._model)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if isinstance(self.__dict__.get("_model"), bytes):
            data = self._model
            self._model = made("sr_ensemble_free", "sr_ensemble_from_bytes", data, len(data))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def _repr_html_(self):
        diagram = super()._repr_html_
        diagram = diagram() if callable(diagram) else diagram
        return diagram + self.report_._repr_html_() if hasattr(self, "report_") else diagram


def load(path):
    """A model file, also of the command, as a fitted :class:`SpecrouteClassifier`.

    >>> import os, tempfile, specroute
    >>> table, _ = specroute.simulate("ar1:n=200,tmix=5,d=2", random_state=1)
    >>> model = specroute.SpecrouteClassifier(n_estimators=5, random_state=1).fit(table.X, table.y)
    >>> path = os.path.join(tempfile.mkdtemp(), "small.model")
    >>> model.save(path)
    >>> (specroute.load(path).predict(table.X) == model.predict(table.X)).all()
    np.True_
    """
    handle = made("sr_ensemble_free", "sr_ensemble_load", encode(path))
    view = lib.sr_ensemble_get(handle).contents
    model = SpecrouteClassifier(learner=text(view.learner), n_estimators=view.members)
    model._model = handle
    model.classes_ = np.array(names_of(view.classes.names, view.classes.count))
    schema = lib.sr_ensemble_schema(handle).contents
    model.n_features_in_ = schema.channels if schema.channels and not view.features else view.features
    if view.feature_names:
        model.feature_names_in_ = np.array(names_of(view.feature_names, view.features), dtype=object)
    model._tell()
    return model


# ---- any other model --------------------------------------------------------------------------


def _has_proba(self):
    estimator = self.estimators_[0] if hasattr(self, "estimators_") else self.estimator
    return hasattr(estimator, "predict_proba")


class RoutedBagging(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A plan of the library around any classifier: one clone per bag, which vote.

    ``estimator`` is any scikit-learn-like classifier; it gets the rows of data frames and series as
    they are, with their columns' names. ``plan``, ``graph``, ``tmix`` and ``parts``
    are as in :class:`SpecrouteClassifier` (plans that choose among plans are not: name one). The
    honest error of the whole comes from ``cross_val_predict(model, X, y, cv=PartKFold())`` and
    :func:`specroute.judge`.

    >>> import specroute
    >>> from sklearn.naive_bayes import GaussianNB
    >>> table, _ = specroute.simulate("ar1:n=300,tmix=10,d=3", random_state=1)
    >>> model = specroute.RoutedBagging(GaussianNB(), n_estimators=5, random_state=0)
    >>> model.fit(table.X, table.y).predict_proba(table.X[:2]).shape
    (2, 2)
    """

    def __init__(self, estimator, plan="routed", graph=None, n_estimators=10, *, tmix=None, parts=None,
                 random_state=None, n_jobs=None):
        self.estimator = estimator
        self.plan = plan
        self.graph = graph
        self.n_estimators = n_estimators
        self.tmix = tmix
        self.parts = parts
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.sparse = False
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class if inner.classifier_tags else True
        return tags

    def fit(self, X, y, groups=None, coords=None, times=None):
        """Fits one clone on the rows of each bag."""
        from joblib import Parallel, delayed

        from . import functions

        if is_frame(X) or is_series(X):  # the estimator gets them as they are
            X, y = _checked(self, X, reset=True), column_or_1d(np.asarray(y), warn=True)
            check_consistent_length(X, y)
            numeric = X
        else:
            X, y = validate_data(self, X, y, dtype=None, ensure_all_finite=False)
            numeric = X if X.dtype.kind in "biuf" else X.astype(np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        random = check_random_state(self.random_state)
        seed = int(random.randint(0, 2**31 - 1))
        self.plan_ = functions.plan(numeric, y, plan=self.plan, n_estimators=self.n_estimators,
                                    graph=self.graph, groups=groups, coords=coords, times=times,
                                    tmix=self.tmix, parts=self.parts, random_state=seed,
                                    n_jobs=self.n_jobs)
        seeds = random.randint(0, 2**31 - 1, size=len(self.plan_))
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_one)(self.estimator, X, y, rows, int(one))
            for rows, one in zip(self.plan_, seeds))
        return self

    def _shares(self, X, proba):
        check_is_fitted(self)
        if is_frame(X) or is_series(X):
            X = _checked(self, X, reset=False)
        else:
            X = validate_data(self, X, reset=False, dtype=None, ensure_all_finite=False)
        shares = np.zeros((len(X), len(self.classes_)))
        for one in self.estimators_:
            if proba:
                shares[:, np.searchsorted(self.classes_, one.classes_)] += one.predict_proba(X)
            else:
                shares[np.arange(len(X)), np.searchsorted(self.classes_, one.predict(X))] += 1
        return shares / len(self.estimators_)

    def predict(self, X):
        """The class of each row: that of the mean probability, or of most members."""
        check_is_fitted(self)
        return self.classes_[self._shares(X, _has_proba(self)).argmax(axis=1)]

    @available_if(_has_proba)
    def predict_proba(self, X):
        """The mean of the members' probabilities."""
        return self._shares(X, True)


def _fit_one(estimator, X, y, rows, seed):
    one = clone(estimator)
    if "random_state" in one.get_params():
        one.set_params(random_state=seed)
    return one.fit(_safe_indexing(X, rows), y[rows])
