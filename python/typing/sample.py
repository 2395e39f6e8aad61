"""How a user writes it: every public name with types that hold."""

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

import specroute
from specroute import PartKFold, RoutedBagging, SpecrouteClassifier


def train(X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    model = SpecrouteClassifier("tree:min_leaf=5", plan="auto", n_estimators=50, random_state=0)
    model.fit(X, y, groups=np.arange(len(y)) // 10)
    low, high = model.honest_interval_
    proba: NDArray[np.float64] = model.predict_proba(X)
    print(model.report_["error"], model.feature_importances_.sum(), proba.shape, model.predict(X))
    model.save("model")
    again: SpecrouteClassifier = specroute.load("model")
    return again.honest_error_ + low + high + model.naive_error_ + model.forward_error_ + model.tmix_


def parts(X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    table, risk = specroute.simulate("ar1:n=100", random_state=1)
    found: specroute.Structure = specroute.diagnose(X, y, graph="time:3")
    bags: specroute.Plan = specroute.plan(found, plan="routed", n_estimators=5)
    rows: list[NDArray[np.int64]] = list(bags)
    value = specroute.fiedler(np.ones((3, 3))).value
    label: NDArray[np.int32] = specroute.parts(np.ones((3, 3)), 2)
    for train_rows, test_rows in PartKFold(3, buffer=2).split(X, y):
        RoutedBagging(GaussianNB(), n_estimators=3).fit(X[train_rows], y[train_rows]).predict(X[test_rows])
    told: specroute.Report = specroute.judge(y, y, X=X, level=0.9)
    print(risk, table.X, rows, value, label, told.page(), found.cut(3), specroute.methods("plan"))
