"""Parts for everyone, against closed forms and other programs."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_validate,
                                     learning_curve)
from sklearn.naive_bayes import GaussianNB

import specroute
from specroute import SpecrouteClassifier


def grid(rows, columns):
    path = [sparse.diags([1.0, 1.0], [-1, 1], shape=(n, n)) for n in (rows, columns)]
    return (sparse.kron(path[0], sparse.eye(columns)) + sparse.kron(sparse.eye(rows), path[1])).tocsr()


def test_fiedler_agrees_with_scipy():
    graph = grid(9, 14)
    graph.data = np.random.default_rng(0).uniform(1, 2, len(graph.data))
    graph = (graph + graph.T) / 2
    graph.data = graph.data.astype(np.float32)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = sparse.diags(1 / np.sqrt(degree))
    dense = np.eye(126) - (scale @ graph @ scale).toarray()
    wanted = np.linalg.eigvalsh(dense)
    found = specroute.fiedler(graph, tolerance=1e-9)
    assert found.value == pytest.approx(wanted[1], rel=1e-5)
    residual = dense @ (np.sqrt(degree) * found.vector) - found.value * np.sqrt(degree) * found.vector
    assert np.abs(residual).max() < 1e-4 and found.components == 1 and found.solver
    values, vectors = specroute.fiedler(graph, pairs=3, tolerance=1e-8)
    np.testing.assert_allclose(values, wanted[1:4], rtol=1e-4)
    assert vectors.shape == (126, 3)


def test_parts_are_balanced():
    for exact in (False, True):
        label = specroute.parts(grid(16, 16), 8, exact=exact)
        assert sorted(set(label)) == list(range(8)) and np.bincount(label).max() <= 34
    with pytest.raises(ValueError):
        specroute.parts(grid(3, 3), 10)


@pytest.mark.parametrize("bad", [
    sparse.csr_matrix(([1.0], ([0], [1])), shape=(2, 2)), np.zeros((2, 3)),
    sparse.csr_matrix(np.array([[0, -1.0], [-1, 0]])), sparse.csr_matrix(np.array([[0, 1j], [1j, 0]])),
    sparse.csr_matrix((3, 3)), sparse.csr_matrix((0, 0)), np.full((2, 2), np.nan)])
def test_what_is_no_graph_is_refused(bad):
    with pytest.raises(ValueError):
        specroute.fiedler(bad)


def test_diagnosis(witness):
    found = specroute.diagnose(*witness)
    assert found.tmix > 2 and found.parts.shape == (600,) and not found.independent
    assert found.report["tmix"]["estimate"] == pytest.approx(found.tmix)
    assert "T" in str(found) and "iframe" in found._repr_html_() and "600 rows" in repr(found)
    lag, correlation = found.correlation
    assert len(lag) == len(correlation) and correlation.max() <= 1.0001
    assert sorted(set(found.cut(5))) == list(range(5))
    again = pickle.loads(pickle.dumps(found))
    assert again.tmix == found.tmix and again.correlation is None
    np.testing.assert_array_equal(again.parts, found.parts)
    rng = np.random.default_rng(0)
    assert specroute.diagnose(rng.normal(size=(500, 3))).tmix < 2
    with pytest.raises(ValueError):
        specroute.diagnose(witness[0], tmix=-1)


def test_plans_are_bags(witness):
    for name in ("uniform", "routed", "stationary", "spectral", "lag-thin"):
        bags = specroute.plan(*witness, plan=name, n_estimators=7, random_state=2)
        assert len(bags) == 7 and bags.text.startswith(name) and len(list(bags)) == 7
        rows, counts = bags.bag(3)
        assert (np.diff(rows) > 0).all() and (counts >= 1).all() and len(bags[3]) == counts.sum()
        again = pickle.loads(pickle.dumps(bags))
        np.testing.assert_array_equal(again[-1], bags[6])
    with pytest.raises(IndexError):
        bags[7]
    assert bags.parameters and "7 bags" in repr(bags)
    same = specroute.plan(specroute.diagnose(*witness, random_state=2), plan="routed", n_estimators=2,
                          random_state=2)
    np.testing.assert_array_equal(same[1], specroute.plan(
        *witness, plan="routed", n_estimators=2, random_state=2)[1])


def test_plans_follow_time(witness, tmp_path):
    X, y = witness
    order = np.random.default_rng(1).permutation(600)
    straight = specroute.plan(X, plan="moving:50", n_estimators=3, random_state=1, times=np.arange(600))
    mixed = specroute.plan(X[order], plan="moving:50", n_estimators=3, random_state=1,
                           times=np.arange(600)[order])
    for one, other in zip(straight, mixed):
        np.testing.assert_array_equal(np.sort(order[other]), np.sort(one))
    straight.write(tmp_path / "bags.npy")
    counts = np.load(tmp_path / "bags.npy")
    np.testing.assert_array_equal(np.repeat(np.arange(600), counts[2]), straight[2])


def test_splits_hold_out_whole_parts(witness):
    X, y = witness
    seen = np.zeros(600, int)
    for train, test in specroute.PartKFold(5, buffer=3).split(X, y):
        seen[test] += 1
        assert np.abs(train[:, None] - test[None, :]).min() > 3
    assert (seen == 1).all()
    groups = np.repeat(np.arange(10), 60)
    for train, test in specroute.PartKFold(5).split(X, y, groups):
        assert not set(groups[train]) & set(groups[test])
    order = np.random.default_rng(1).permutation(600)
    for train, test in specroute.PartKFold(3, times=np.arange(600)[order], buffer=2).split(X[order]):
        assert np.abs(order[train][:, None] - order[test][None, :]).min() > 2
    assert "n_splits=3" in repr(specroute.PartKFold(3))


def test_splits_serve_wherever_folds_are_taken(witness):
    X, y = witness
    groups = np.repeat(np.arange(6), 100)
    for folds in (specroute.PartKFold(3), specroute.ForwardSplit(3)):
        assert len(cross_validate(GaussianNB(), X, y, cv=folds, groups=groups)["test_score"]) == 3
        search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=folds).fit(X, y)
        assert search.n_splits_ == 3
        search = RandomizedSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, cv=folds,
                                    n_iter=2).fit(X, y, groups=groups)
        assert search.n_splits_ == 3
        assert RFECV(LogisticRegression(), cv=folds).fit(X, y).n_features_ >= 1
        sizes = learning_curve(GaussianNB(), X, y, cv=folds, train_sizes=[0.5, 1.0])[0]
        assert len(sizes) == 2
        assert CalibratedClassifierCV(GaussianNB(), cv=folds).fit(X, y).predict(X).shape == (600,)
    held = cross_val_predict(GaussianNB(), X, y, cv=specroute.PartKFold(4), groups=groups)
    assert held.shape == (600,)


def test_fewer_units_than_folds_are_refused(witness):
    X, y = witness
    groups = np.repeat([0, 1, 2], 200)
    with pytest.raises(ValueError, match="n_splits=3"):
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, cv=specroute.PartKFold(4)).fit(X, y, groups=groups)
    assert len(list(specroute.PartKFold(3).split(X, y, groups))) == 3


def test_the_future_is_never_seen(witness):
    X, y = witness
    order = np.random.default_rng(1).permutation(600)
    folds = list(specroute.ForwardSplit(4, buffer=10, times=np.arange(600)[order]).split(X[order]))
    assert len(folds) == specroute.ForwardSplit(4).get_n_splits() == 4
    for train, test in folds:
        assert order[train].max() + 10 < order[test].min()
    with pytest.raises(ValueError):
        list(specroute.ForwardSplit(4, buffer=1000).split(X))


def test_methods_are_listed():
    listed = specroute.methods()
    assert {"plan", "learner", "graph"} <= {method["kind"] for method in listed}
    assert {"tree", "ridge"} <= {method["name"] for method in specroute.methods("learner")}


def test_simulated_rows_have_a_risk():
    table, risk = specroute.simulate("ar1:n=5000,tmix=5,d=3,delta=1", random_state=1)
    assert 0 < risk < 0.5 and len(table) == 5000
    other, _ = specroute.simulate("ar1:n=5000,tmix=5,d=3,delta=1", random_state=1, replicate=1)
    assert not np.array_equal(other.X, table.X)



def test_plans_stand_side_by_side(witness):
    X, y = witness
    how = {"plans": "uniform,routed", "learners": "tree:min_leaf=3", "n_estimators": 9, "tmix": 5.0}
    told = specroute.compare(X, y, random_state=3, **how)
    assert [row["plan"] for row in told["rows"]] == ["uniform", "routed"]
    assert all(row["learner"] == "tree:min_leaf=3" and 0 <= row["error"] <= 1 for row in told["rows"])
    assert "uniform" in str(told) and "<html" in told.page()
    alone = SpecrouteClassifier("tree:min_leaf=3", "uniform", n_estimators=9, tmix=5.0, random_state=0)
    assert told["rows"][0]["error"] == pytest.approx(alone.fit(X, y).honest_error_, abs=0.05)
    order = np.random.default_rng(0).permutation(600)
    again = specroute.compare(X[order], y[order], times=np.arange(600)[order], random_state=3, **how)
    assert [row["error"] for row in again["rows"]] == [row["error"] for row in told["rows"]]
    with pytest.raises(ValueError, match="uniform"):
        specroute.compare(X, y, plans="uniforn")


def test_a_search_finds_settings(witness):
    X, y = witness
    how = {"plans": "uniform,routed", "learners": "tree", "tries": 4, "n_estimators": 9, "tmix": 5.0}
    found = specroute.tune(X, y, random_state=3, **how)
    assert found["settings"] == 4 and found["judged_rows"] + found["searched_rows"] <= 600
    assert 0 <= found["error"]["honest"] <= 1 and "tried" in str(found) and "<html" in found.page()
    model = SpecrouteClassifier(found["best"]["learner"], found["best"]["plan"], n_estimators=5, evaluate=False)
    assert model.fit(X, y).score(X, y) > 0.7
    order = np.random.default_rng(0).permutation(600)
    again = specroute.tune(X[order], y[order], times=np.arange(600)[order], random_state=3, **how)
    assert again["best"] == found["best"] and again["error"] == found["error"]
    weighed = specroute.tune(X, y, random_state=3, class_weight={"1": 5.0, "-1": 1.0}, **how)
    assert weighed["settings"] == 4
    with pytest.raises(ValueError, match="tree"):
        specroute.tune(X, y, learners="treee")
    with pytest.raises(ValueError):
        specroute.tune(X, y, tries=0)


# ---- judging ------------------------------------------------------------------------------------


def test_metrics_agree_with_scikit_learn():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    for classes in (2, 4):
        y = rng.integers(0, classes, 700)
        proba = rng.dirichlet(np.ones(classes), 700)
        proba[np.arange(700), y] += 0.4
        proba = (proba / proba.sum(axis=1, keepdims=True)).round(2) + 1e-9
        proba = (proba / proba.sum(axis=1, keepdims=True)).astype(np.float32)
        vote = proba.argmax(axis=1)
        told = specroute.judge(y, proba)
        found, wide = told["metrics"], proba.astype(np.float64)
        assert told["error"]["honest"] == pytest.approx((vote != y).mean())
        assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, vote))
        assert found["macro_f1"] == pytest.approx(metrics.f1_score(y, vote, average="macro"))
        assert found["log_loss"] == pytest.approx(metrics.log_loss(y, wide / wide.sum(1, keepdims=True)), abs=1e-5)
        if classes == 2:
            assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, proba[:, 1]))
            assert found["brier"] == pytest.approx(2 * metrics.brier_score_loss(y, proba[:, 1]), abs=1e-5)
        else:
            areas = [metrics.roc_auc_score(y == one, proba[:, one]) for one in range(classes)]
            assert found["auc"] == pytest.approx(np.mean(areas))
            assert found["brier"] == pytest.approx(((wide - np.eye(4)[y]) ** 2).sum(axis=1).mean(), abs=1e-5)


def test_judging_knows_what_depends(witness):
    X, y = witness
    held = cross_val_predict(GaussianNB(), X, y, cv=specroute.PartKFold(5))
    told = specroute.judge(y, held, X=X)
    error = told["error"]
    assert error["honest"] == pytest.approx((held != y).mean())
    assert error["honest_low"] < error["honest"] < error["honest_high"]
    assert error["honest_high"] - error["honest_low"] > error["naive_high"] - error["naive_low"]
    assert "error" in str(told) and "<html" in told.page()
    grouped = specroute.judge(y, held, X=X, groups=np.repeat(np.arange(12), 50))
    assert grouped["error"]["held_out"] == "group" and grouped["error"]["units"] == 12
    order = np.random.default_rng(0).permutation(600)
    again = specroute.judge(y[order], held[order], X=X[order], times=np.arange(600)[order])
    assert again["error"] == error
    some = np.array(held, dtype=object)
    some[:100] = None
    assert specroute.judge(y, some, X=X)["rows"] == 500
    few = specroute.judge(y, held, X=X, tmix=500)["error"]
    assert few["honest_low"] is None and few["naive_low"] is not None


@pytest.mark.parametrize("wrong", [([0, 1], [0]), ([0, 1], [[1.0], [1.0]]), ([0, 1], [[2.0, 0], [0, 1.0]]),
                                   ([0, 1], [None, None]), ([[0]], [0]), ([], [])])
def test_what_cannot_be_judged_is_refused(wrong):
    with pytest.raises(ValueError):
        specroute.judge(*wrong)
