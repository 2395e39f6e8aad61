from typing import Any, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import BaseCrossValidator

__version__: str

def build_info() -> dict[str, str]: ...

class SpecrouteError(Exception):
    status: int

class ArgumentError(SpecrouteError, ValueError): ...
class NotFoundError(SpecrouteError, ValueError): ...
class DataError(SpecrouteError, ValueError): ...
class FormatError(SpecrouteError, ValueError): ...
class UnsupportedError(SpecrouteError, NotImplementedError): ...
class FileError(SpecrouteError, OSError): ...
class OutOfMemoryError(SpecrouteError, MemoryError): ...
class TooLargeError(SpecrouteError, OverflowError): ...
class InternalError(SpecrouteError, RuntimeError): ...
class NotConvergedWarning(UserWarning): ...

class Table:
    def __init__(self, handle: Any) -> None: ...
    def __len__(self) -> int: ...
    @property
    def X(self) -> NDArray[np.float32] | list[NDArray[np.float32]]: ...
    @property
    def y(self) -> NDArray[Any] | None: ...
    @property
    def classes(self) -> list[str] | None: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def groups(self) -> NDArray[Any] | None: ...
    @property
    def times(self) -> NDArray[np.float64] | None: ...
    @property
    def coords(self) -> NDArray[np.float64] | None: ...
    @property
    def weight(self) -> NDArray[np.float32] | None: ...
    def write(self, path: Any) -> None: ...

def read(
    path: Any,
    target: str | None = ...,
    *,
    time: str | Sequence[str] | None = ...,
    group: str | Sequence[str] | None = ...,
    coords: Sequence[str] | None = ...,
    weight: str | None = ...,
    drop: str | Sequence[str] | None = ...,
    categorical: str | Sequence[str] | None = ...,
    format: str | None = ...,
    date_format: str | None = ...,
    number: bool = ...,
    n_jobs: int | None = ...,
) -> Table: ...

class Report(dict[str, Any]):
    def __init__(self, name: Any, handle: Any) -> None: ...
    def page(self) -> str: ...
    def save(self, path: Any) -> None: ...
    def _repr_html_(self) -> str: ...

class Structure:
    def __init__(self, handle: Any, order: Any = ...) -> None: ...
    @property
    def tmix(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    @property
    def independent(self) -> bool: ...
    @property
    def recommend(self) -> str: ...
    @property
    def parts(self) -> NDArray[np.int32]: ...
    @property
    def report(self) -> Report: ...
    @property
    def correlation(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    def cut(self, count: int) -> NDArray[np.int32]: ...
    def _repr_html_(self) -> str: ...

class Plan:
    def __init__(self, handle: Any, order: Any = ...) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, member: int) -> NDArray[np.int64]: ...
    def __iter__(self) -> Iterator[NDArray[np.int64]]: ...
    def bag(self, member: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
    @property
    def text(self) -> str: ...
    @property
    def parameters(self) -> dict[str, float]: ...
    def write(self, path: Any) -> None: ...

class Fiedler(tuple[Any, NDArray[np.float64]]):
    def __new__(cls, value: Any, vector: NDArray[np.float64], **more: Any) -> Fiedler: ...
    value: Any
    vector: NDArray[np.float64]
    residual: float
    iterations: int
    solver: str
    components: int

def diagnose(
    X: Any,
    y: ArrayLike | None = ...,
    *,
    graph: Any = ...,
    groups: ArrayLike | None = ...,
    coords: ArrayLike | None = ...,
    times: ArrayLike | None = ...,
    tmix: float | None = ...,
    parts: int | ArrayLike | None = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
) -> Structure: ...
def fiedler(
    graph: Any,
    *,
    solver: str | None = ...,
    tolerance: float = ...,
    pairs: int = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Fiedler: ...
def parts(
    graph: Any,
    count: int,
    *,
    exact: bool = ...,
    refine: bool = ...,
    imbalance: float = ...,
    n_jobs: int | None = ...,
) -> NDArray[np.int32]: ...
def plan(
    X: Any,
    y: ArrayLike | None = ...,
    *,
    plan: str = ...,
    n_estimators: int = ...,
    graph: Any = ...,
    groups: ArrayLike | None = ...,
    coords: ArrayLike | None = ...,
    times: ArrayLike | None = ...,
    tmix: float | None = ...,
    parts: int | ArrayLike | None = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Plan: ...
def compare(
    X: Any,
    y: ArrayLike,
    *,
    plans: str = ...,
    learners: str | None = ...,
    n_estimators: int = ...,
    sample_weight: ArrayLike | None = ...,
    class_weight: str | dict[Any, float] | None = ...,
    graph: str | None = ...,
    groups: ArrayLike | None = ...,
    coords: ArrayLike | None = ...,
    times: ArrayLike | None = ...,
    tmix: float | None = ...,
    parts: int | None = ...,
    vote: str | None = ...,
    folds: int | None = ...,
    buffer: int | None = ...,
    forward: bool = ...,
    level: float | None = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
) -> Report: ...
def tune(
    X: Any,
    y: ArrayLike,
    *,
    plans: str | None = ...,
    learners: str | None = ...,
    tries: int | None = ...,
    n_estimators: int = ...,
    sample_weight: ArrayLike | None = ...,
    class_weight: str | dict[Any, float] | None = ...,
    graph: str | None = ...,
    groups: ArrayLike | None = ...,
    coords: ArrayLike | None = ...,
    times: ArrayLike | None = ...,
    tmix: float | None = ...,
    parts: int | None = ...,
    vote: str | None = ...,
    folds: int | None = ...,
    buffer: int | None = ...,
    level: float | None = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
    verbose: bool = ...,
) -> Report: ...
def simulate(
    name: str, *, random_state: Any = ..., replicate: int = ..., n_jobs: int | None = ...
) -> tuple[Table, float]: ...
def methods(kind: str | None = ...) -> list[dict[str, Any]]: ...
def judge(
    y: ArrayLike,
    predictions: ArrayLike,
    *,
    X: Any = ...,
    classes: ArrayLike | None = ...,
    graph: Any = ...,
    groups: ArrayLike | None = ...,
    coords: ArrayLike | None = ...,
    times: ArrayLike | None = ...,
    tmix: float | None = ...,
    parts: int | ArrayLike | None = ...,
    level: float = ...,
    random_state: Any = ...,
    n_jobs: int | None = ...,
) -> Report: ...

class SpecrouteClassifier(ClassifierMixin, BaseEstimator):
    learner: str
    plan: Any
    graph: Any
    n_estimators: int
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    honest_error_: float
    honest_interval_: tuple[float, float]
    naive_error_: float
    forward_error_: float
    use_error_: float
    use_interval_: tuple[float, float]
    tmix_: float
    parts_: NDArray[np.int32] | None
    plan_: dict[str, Any]
    report_: Report
    def __init__(
        self,
        learner: str = ...,
        plan: Any = ...,
        graph: Any = ...,
        n_estimators: int = ...,
        *,
        vote: str = ...,
        tmix: float | None = ...,
        parts: int | ArrayLike | None = ...,
        evaluate: bool = ...,
        importance: bool = ...,
        forward: bool = ...,
        level: float = ...,
        folds: int | None = ...,
        buffer: int | None = ...,
        class_weight: str | dict[Any, float] | None = ...,
        min_weight_fraction_leaf: float = ...,
        options: dict[str, Any] | None = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    @property
    def feature_importances_(self) -> NDArray[np.float64]: ...
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = ...,
        groups: ArrayLike | None = ...,
        coords: ArrayLike | None = ...,
        times: ArrayLike | None = ...,
        regions: ArrayLike | None = ...,
        predict_on: Any = ...,
    ) -> SpecrouteClassifier: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def votes(self, X: Any) -> NDArray[Any]: ...
    def partial_dependence(
        self, X: Any, feature: int | str
    ) -> tuple[NDArray[Any], NDArray[np.float64]]: ...
    def nodes(self, member: int) -> dict[str, NDArray[Any]]: ...
    def save(self, path: Any) -> None: ...
    def export(self, path: Any) -> None: ...

def load(path: Any) -> SpecrouteClassifier: ...

class RoutedBagging(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    classes_: NDArray[Any]
    estimators_: list[Any]
    plan_: Plan
    def __init__(
        self,
        estimator: Any,
        plan: str = ...,
        graph: Any = ...,
        n_estimators: int = ...,
        *,
        tmix: float | None = ...,
        parts: int | ArrayLike | None = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: ArrayLike | None = ...,
        coords: ArrayLike | None = ...,
        times: ArrayLike | None = ...,
    ) -> RoutedBagging: ...
    def predict(self, X: Any) -> NDArray[Any]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...

class PartKFold(BaseCrossValidator):
    def __init__(
        self,
        n_splits: int = ...,
        *,
        graph: Any = ...,
        tmix: float | None = ...,
        parts: int | ArrayLike | None = ...,
        coords: ArrayLike | None = ...,
        times: ArrayLike | None = ...,
        buffer: int | None = ...,
        random_state: Any = ...,
    ) -> None: ...
    def get_n_splits(self, X: Any = ..., y: Any = ..., groups: Any = ...) -> int: ...
    def split(
        self, X: Any, y: Any = ..., groups: Any = ...
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]: ...

class ForwardSplit(PartKFold):
    def __init__(
        self,
        n_splits: int = ...,
        *,
        tmix: float | None = ...,
        times: ArrayLike | None = ...,
        buffer: int | None = ...,
        random_state: Any = ...,
    ) -> None: ...

def plot_errors(model: Any, ax: Any = ...) -> Any: ...
def plot_parts(coords: ArrayLike, parts: ArrayLike, ax: Any = ..., **style: Any) -> Any: ...
def plot_covariance(model: SpecrouteClassifier, X: Any, y: ArrayLike, ax: Any = ...) -> Any: ...
def plot_autocorrelation(structure: Structure, ax: Any = ...) -> Any: ...
