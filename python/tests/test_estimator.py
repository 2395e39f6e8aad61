"""The conventions of scikit-learn, in full, and what the estimator says of itself."""

import json
import pickle
import subprocess

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import specroute
from specroute import PartKFold, RoutedBagging, SpecrouteClassifier
from specroute._library import command_path

WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data":
        "a weight is not a repeated row where rows are resampled",
}


def expected(estimator):
    return WEIGHTS if isinstance(estimator, SpecrouteClassifier) else {}


@parametrize_with_checks(
    [SpecrouteClassifier(n_estimators=10, plan="uniform", importance=False, random_state=0),
     RoutedBagging(GaussianNB(), plan="uniform", n_estimators=5)],
    expected_failed_checks=expected,
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_model_says_what_it_is(witness, model):
    X, y = witness
    assert model.classes_.tolist() == ["-1", "1"] and model.n_features_in_ == 4
    assert 0 <= model.naive_error_ <= model.honest_error_ + 0.05 <= 1
    assert model.honest_interval_[0] <= model.honest_error_ <= model.honest_interval_[1]
    assert model.feature_importances_.shape == (4,)
    assert model.parts_.shape == (600,) and model.tmix_ >= 1
    assert model.plan_["name"] and model.report_["members"] >= 15
    assert "honest" in str(model.report_)
    assert "<html" in model.report_.page() and "iframe" in model._repr_html_()
    assert np.isnan(model.forward_error_)
    proba = model.predict_proba(X)
    assert proba.shape == (600, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.predict(X) == model.classes_[proba.argmax(axis=1)]).mean() > 0.99
    assert model.score(X, y) > 0.8
    assert model.votes(X[:7]).shape[1] == 7


def test_the_future_is_asked_for(witness):
    fitted = SpecrouteClassifier(n_estimators=9, plan="uniform", forward=True, random_state=0).fit(*witness)
    assert 0 <= fitted.forward_error_ <= 1


def test_the_same_seed_gives_the_same_model(witness):
    X, y = witness
    one, two = (SpecrouteClassifier(n_estimators=8, random_state=4, n_jobs=jobs).fit(X, y).predict_proba(X)
                for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_layout_and_type_do_not_matter(witness):
    X, y = witness
    how = SpecrouteClassifier(n_estimators=5, random_state=1, evaluate=False)
    wanted = clone(how).fit(X, y).predict_proba(X)
    for other in (np.asfortranarray(X), X.astype(np.float64), X[::-1][::-1], X.tolist()):
        np.testing.assert_array_equal(clone(how).fit(other, y).predict_proba(other), wanted)


def test_models_travel(witness, model, tmp_path):
    X, _ = witness
    for again in (pickle.loads(pickle.dumps(model)), clone(model).fit(*witness)):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again = pickle.loads(pickle.dumps(model))
    assert again.honest_error_ == model.honest_error_ and again.report_ == model.report_
    assert str(again.report_) == str(model.report_) and again.report_.page() == model.report_.page()
    joblib = pytest.importorskip("joblib")
    joblib.dump(model, tmp_path / "model.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model.joblib").predict(X), model.predict(X))
    model.save(tmp_path / "one.model")
    loaded = specroute.load(tmp_path / "one.model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.honest_error_ == pytest.approx(model.honest_error_)


def test_pipelines_searches_and_scores(witness):
    X, y = witness
    how = SpecrouteClassifier(n_estimators=5, random_state=0, evaluate=False, plan="uniform")
    pipe = make_pipeline(StandardScaler(), how).fit(X, y)
    assert pipe.score(X, y) > 0.7
    search = GridSearchCV(how, {"learner": ["tree:min_leaf=1", "tree:min_leaf=20"]},
                          cv=PartKFold(3)).fit(X, y)
    assert search.best_params_["learner"].startswith("tree")
    assert len(cross_val_score(how, X, y, cv=PartKFold(3))) == 3


def test_metadata_is_routed(witness):
    X, y = witness
    groups = np.repeat(np.arange(6), 100)
    with sklearn.config_context(enable_metadata_routing=True):
        how = SpecrouteClassifier(n_estimators=5, random_state=0, evaluate=False)
        how.set_fit_request(groups=True, sample_weight=True, coords=True, times=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), how)
        pipe.fit(X, y, groups=groups, times=np.arange(600.0), sample_weight=np.linspace(1, 2, 600))
        assert set(pipe[-1].parts_) == set(range(6))


def test_frames_by_name(witness):
    pandas = pytest.importorskip("pandas")
    X, y = witness
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["color"] = np.where(y == "1", "red", "blue")
    how = SpecrouteClassifier(n_estimators=5, random_state=0, evaluate=False)
    fitted = clone(how).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c", "d", "color"]
    assert fitted.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame[["b", "a", "c", "d", "color"]])
    with pytest.raises(ValueError, match="missing"):
        fitted.predict(frame[["a"]])
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for other in (polars.from_pandas(frame), pyarrow.table(frame)):
        again = clone(how).fit(other, y)
        assert again.feature_names_in_.tolist() == fitted.feature_names_in_.tolist()
        np.testing.assert_array_equal(again.predict_proba(other), fitted.predict_proba(frame))
        with pytest.raises(ValueError, match="same order"):
            again.predict(other.select(["b", "a", "c", "d", "color"]))
        with pytest.raises(ValueError, match="now missing: a"):
            again.predict(other.select(["b", "c", "d", "color"]))
        with pytest.raises(ValueError, match="unseen at fit time: e"):
            again.predict(other.rename_columns(list("abcd") + ["e"]) if hasattr(other, "rename_columns")
                          else other.rename({"color": "e"}))


def test_the_vote_moves_with_a_feature(witness):
    pandas = pytest.importorskip("pandas")
    X, y = witness
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame["color"] = np.where(y == "1", "red", "blue")
    how = SpecrouteClassifier(n_estimators=9, random_state=0, evaluate=False, plan="uniform")
    fitted = clone(how).fit(frame, y)
    values, shares = fitted.partial_dependence(frame, "color")
    assert values.tolist() == ["blue", "red"] and shares.shape == (2, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares[1, 1] > shares[0, 1] + 0.5
    for value, share in zip(values, shares):
        set_to = frame.assign(color=pandas.Categorical([value] * 600, ["blue", "red"]))[::2]
        assert np.abs(fitted.predict_proba(set_to).mean(axis=0) - share).max() < 0.1
    plain = clone(how).fit(X, y)
    values, shares = plain.partial_dependence(X, 1)
    assert len(values) == len(shares) > 5 and (np.diff(values) > 0).all()
    with pytest.raises(ValueError, match="feature"):
        plain.partial_dependence(X, 4)
    with pytest.raises(ValueError, match="expected one of"):
        fitted.partial_dependence(frame, "colour")


def test_what_is_known_of_rows_is_used(witness):
    X, y = witness
    groups = np.repeat(["b", "a", "c"], 200)
    how = SpecrouteClassifier(n_estimators=5, random_state=0, importance=False)
    assert sorted(np.bincount(clone(how).fit(X, y, groups=groups).parts_)) == [200, 200, 200]
    rng = np.random.default_rng(0)
    order = rng.permutation(600)
    straight = clone(how).fit(X, y, times=np.arange(600))
    mixed = clone(how).fit(X[order], y[order], times=np.arange(600)[order])
    np.testing.assert_array_equal(mixed.parts_, straight.parts_[order])
    assert mixed.honest_error_ == straight.honest_error_
    mapped = clone(how).set_params(graph="space:4").fit(X, y, coords=rng.normal(size=(600, 2)))
    assert len(np.unique(mapped.parts_)) > 1
    named = clone(how).set_params(graph="space:4").fit(X, y, coords=rng.normal(size=(600, 2)),
                                                       regions=np.repeat(["north", "south", "east"], 200))
    assert {q["name"]: q["units"] for q in named.report_["error"]["questions"]}["regions"] == 3
    own = clone(how).set_params(parts=np.arange(600) // 100).fit(X, y)
    assert own.parts_.tolist() == (np.arange(600) // 100).tolist()


def test_the_error_where_the_model_will_be_used(tmp_path):
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 100, size=(900, 2))
    X = np.column_stack([np.sin(places[:, 0] / 9), np.cos(places[:, 1] / 7)])
    y = np.where(X.sum(axis=1) + 0.7 * rng.normal(size=900) > 0, "wet", "dry")
    how = SpecrouteClassifier(plan="uniform", n_estimators=20, random_state=1, importance=False)

    def used(where):
        return clone(how).fit(X[:600], y[:600], coords=places[:600], predict_on=where)

    none = used(None)
    assert np.isnan(none.use_error_) and np.isnan(none.use_interval_).all()
    near = used(places[600:])
    low, high = near.use_interval_
    assert 0 <= low < near.use_error_ < high <= 1 and near.report_["error"]["outside"] is None
    assert near.honest_error_ == none.honest_error_
    np.testing.assert_array_equal(near.predict_proba(X), none.predict_proba(X))
    whole = used((X[600:], places[600:]))
    assert whole.use_error_ == near.use_error_ and whole.report_["error"]["outside"] < 0.1
    unlike = used((X[600:] + 9, places[600:]))
    assert unlike.report_["error"]["outside"] > 0.9 and np.isnan(unlike.use_interval_).all()
    far = used(places[600:] + 400)
    assert np.isnan(far.use_interval_).all() and "farther than anything held out" in str(far.report_)
    for frame in (lambda rows: rows, pytest.importorskip("pandas").DataFrame):
        assert used((frame(X[600:]), frame(places[600:]))).use_interval_ == near.use_interval_

    # The command says the same of the same files.
    for name, rows in ("own", slice(0, 600)), ("use", slice(600, 900)):
        cells = np.column_stack([X[rows].astype("U"), y[rows], places[rows].astype("U")])
        np.savetxt(tmp_path / f"{name}.csv", cells, "%s", ",", header="a,b,y,east,north", comments="")
    own = specroute.read(tmp_path / "own.csv", "y", coords=["east", "north"])
    use = specroute.read(tmp_path / "use.csv", "y", coords=["east", "north"])
    told = clone(how).fit(own.X, own.y, coords=own.coords, predict_on=use)
    subprocess.run([command_path(), "train", tmp_path / "own.csv", "--target", "y", "--coords", "east,north",
                    "--predict-on", tmp_path / "use.csv", "--plan", "uniform", "--members", "20", "--no-importance",
                    "--seed", str(np.random.RandomState(1).randint(0, 2**31 - 1)), "-o", tmp_path / "m", "--json"], check=True, capture_output=True)
    again = specroute.load(tmp_path / "m")
    assert [again.use_error_, *again.use_interval_] == pytest.approx([told.use_error_, *told.use_interval_])
    for wrong, said in ((places[600:, :1], "two or three"), (np.full((3, 2), np.nan), "not finite"),
                        (np.zeros((3, 3)), "expected 2"), ((X[600:], places[:5]), "5 entries")):
        with pytest.raises(ValueError, match=said):
            used(wrong)
    with pytest.raises(ValueError, match="give coords"):
        clone(how).fit(X, y, predict_on=places)


def test_graphs_and_bags_of_ones_own(witness):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = witness
    how = SpecrouteClassifier(n_estimators=5, random_state=0, importance=False)
    path = sparse.diags([1.0, 1.0], [-1, 1], shape=(600, 600))
    assert clone(how).set_params(graph=path, plan="routed").fit(X, y).honest_error_ <= 1
    bags = [np.arange(0, 300), np.arange(300, 600), np.arange(0, 600, 2)]
    mine = clone(how).set_params(plan=bags).fit(X, y)
    assert mine.report_["members"] == 3
    made = specroute.plan(X, plan="routed", n_estimators=4, random_state=1)
    assert clone(how).set_params(plan=made).fit(X, y).report_["members"] == 4


def test_trees_from_inside(witness):
    X, y = witness
    fitted = SpecrouteClassifier(n_estimators=3, random_state=0, evaluate=False, plan="uniform").fit(X, y)
    votes = fitted.votes(X)
    for member in range(3):
        tree = fitted.nodes(member)
        at = np.zeros(len(X), int)
        for _ in range(64):
            inner = tree["feature"][at] >= 0
            left = X[np.arange(len(X)), np.maximum(tree["feature"][at], 0)] <= tree["threshold"][at]
            at = np.where(inner, np.where(left, tree["left"][at], tree["right"][at]), at)
        np.testing.assert_array_equal(fitted.classes_[tree["share"][at].argmax(axis=1)], votes[member])


def test_wrong_options_are_named(witness):
    for wrong, said in ({"learner": "treee"}, "tree"), ({"plan": "rooted"}, "routed"), \
            ({"n_estimators": 0}, "members"), ({"vote": "loud"}, "vote"), ({"level": 2}, "level"), \
            ({"options": {"membrs": 3}}, "members"), ({"graph": "tim"}, "time"), ({"folds": 1}, "folds"):
        with pytest.raises(ValueError, match=said):
            SpecrouteClassifier(**wrong).fit(*witness)


def test_importance_is_not_invented(witness):
    fitted = SpecrouteClassifier(n_estimators=3, random_state=0, evaluate=False).fit(*witness)
    assert np.isnan(fitted.honest_error_) and not hasattr(fitted, "feature_importances_")


def test_weights_count(witness):
    X, y = witness
    weight = np.where(y == "1", 1000.0, 0.001)
    fitted = SpecrouteClassifier("tree:min_leaf=100", "uniform", n_estimators=9, random_state=0,
                                 evaluate=False).fit(X, y, sample_weight=weight)
    assert (fitted.predict(X) == "1").mean() > 0.9
    for wrong in (-np.ones(600), np.zeros(600), np.ones(5)):
        with pytest.raises(ValueError):
            SpecrouteClassifier().fit(X, y, sample_weight=wrong)


def test_classes_weigh_the_same():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.05).astype(int)
    X = rng.normal(size=(2000, 3)) + y[:, None]
    how = SpecrouteClassifier("tree:min_leaf=40", "uniform", "none", n_estimators=15, evaluate=False, random_state=0)
    rare = {}
    for weight in (None, "balanced", {0: 2000 / (2 * (y == 0).sum()), 1: 2000 / (2 * (y == 1).sum())}):
        fitted = clone(how).set_params(class_weight=weight).fit(X, y)
        rare[str(type(weight))] = fitted.predict_proba(X)
    plain, balanced, same = rare.values()
    assert (balanced.argmax(axis=1) == 1).mean() > 3 * (plain.argmax(axis=1) == 1).mean()
    np.testing.assert_array_equal(balanced, same)
    for wrong in ("even", {0: 1.0, 5: 2.0}, 3):
        with pytest.raises(ValueError):
            clone(how).set_params(class_weight=wrong).fit(X, y)


def test_leaves_hold_a_share_of_the_weight(witness):
    X, y = witness
    weight = np.where(np.arange(600) % 2, 1.0, 0.001)
    how = SpecrouteClassifier(plan=[np.arange(600)], n_estimators=1, evaluate=False, random_state=0)
    for learner in ("tree", "tree:max_depth=9"):
        fitted = clone(how).set_params(learner=learner, min_weight_fraction_leaf=0.1).fit(X, y, sample_weight=weight)
        assert 1 < (fitted.nodes(0)["feature"] < 0).sum() <= 10
    assert (clone(how).fit(X, y, sample_weight=weight).nodes(0)["feature"] < 0).sum() > 10
    for wrong in (-0.1, 0.6):
        with pytest.raises(ValueError, match="min_share"):
            clone(how).set_params(min_weight_fraction_leaf=wrong).fit(X, y)


def test_trees_leave_for_other_programs(witness, tmp_path):
    X, y = witness
    fitted = SpecrouteClassifier(n_estimators=3, random_state=0, evaluate=False, plan="uniform").fit(X, y)
    fitted.export(tmp_path / "trees.json")
    assert json.loads((tmp_path / "trees.json").read_text())
    fitted.export(tmp_path / "trees.onnx")
    assert (tmp_path / "trees.onnx").stat().st_size > 100
    with pytest.raises(NotImplementedError):
        fitted.export(tmp_path / "trees.txt")


def test_series_are_rows(witness):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 1, 40)) + np.sin(np.arange(40) * (0.3 + 0.4 * y[:, None]))[:, None, :] * 2
    fitted = SpecrouteClassifier(graph="none", n_estimators=20, random_state=0, evaluate=False).fit(X, y)
    assert fitted.score(X, y) > 0.9
    ragged = [row[:, : 30 + i % 10] for i, row in enumerate(X)]
    assert SpecrouteClassifier(graph="none", n_estimators=20, random_state=0,
                               evaluate=False).fit(ragged, y).score(ragged, y) > 0.9
    with pytest.raises(ValueError, match="channels"):
        fitted.predict(np.zeros((2, 3, 40)))


SERIES_LEARNERS = {"rocket", "minirocket", "quant", "tsf"} & {
    method["name"] for method in specroute.methods("learner") if not method.get("missing")}


@pytest.mark.parametrize("learner", sorted(SERIES_LEARNERS))
def test_learners_of_series(learner):
    rng = np.random.default_rng(0)
    y = np.repeat(["slow", "fast"], 40)
    wave = np.sin(np.arange(50) * np.where(y == "slow", 0.2, 0.8)[:, None] + rng.uniform(0, 6, (80, 1)))
    X = (wave + 0.3 * rng.normal(size=(80, 50)))[:, None, :]
    mix = rng.permutation(80)
    fitted = SpecrouteClassifier(learner, "uniform", "none", n_estimators=3, evaluate=False,
                                 random_state=0).fit(X[mix[:50]], y[mix[:50]])
    assert fitted.score(X[mix[50:]], y[mix[50:]]) > 0.8


def test_a_stream_ends_with_the_answer_to_the_whole():
    rng = np.random.default_rng(0)
    y = np.repeat(["slow", "fast"], 15)
    X = rng.normal(size=(30, 2, 50)).astype(np.float32)
    X[15:, 0] += np.sin(np.arange(50))
    X[3, 1, 10:14] = np.nan
    fitted = SpecrouteClassifier("mamba:steps=6,width=16,blocks=1,scaling=running,causal=yes", "whole", "none", n_estimators=2,
                                 evaluate=False, random_state=0).fit(X, y)
    whole, stream = fitted.predict_proba(X), fitted.stream()
    assert stream.proba() is None and stream.answer() is None
    for row in (0, 3, 20):
        stream.start()
        shares = [stream.push(sample) for sample in X[row].T]
        assert len([one for one in shares if one is not None]) > 20
        np.testing.assert_array_equal(stream.end(), whole[row])
        assert stream.answer() == fitted.predict(X[row:row + 1])[0]
    del fitted  # the stream keeps what it needs
    assert stream.push([0.0, np.nan]) is not None
    with pytest.raises(ValueError, match="2 channels"):
        stream.push([1.0, 2.0, 3.0])
    with pytest.raises(specroute.UnsupportedError, match="whole series"):
        SpecrouteClassifier("minirocket:features=840", "whole", "none", n_estimators=1, evaluate=False).fit(X, y).stream()


def test_bagging_routes_any_model(witness):
    X, y = witness
    fitted = RoutedBagging(GaussianNB(), n_estimators=6, random_state=0).fit(X, y)
    assert len(fitted.estimators_) == 6 and fitted.score(X, y) > 0.6
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    for mine, other in zip(again.plan_, fitted.plan_):
        np.testing.assert_array_equal(mine, other)


class ByName(GaussianNB):
    """Knows its columns by name alone."""

    def fit(self, X, y):
        self.names = list(X.columns)
        return super().fit(X[["b", "a"]].to_numpy(), y)

    def predict_proba(self, X):
        return super().predict_proba(X[["b", "a"]].to_numpy())


def test_bagging_keeps_frames_and_series(witness):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = witness
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(color=np.where(X[:, 0] > 0, "red", "blue"))
    told = []
    for one in (frame, polars.from_pandas(frame)):
        fitted = RoutedBagging(ByName(), plan="uniform", n_estimators=3, random_state=0).fit(one, y)
        assert fitted.estimators_[0].names == list("abcd") + ["color"]
        told.append(fitted.predict_proba(one))
        with pytest.raises(ValueError, match="same order"):
            fitted.predict(one[["color", "a", "b", "c", "d"]])
    np.testing.assert_array_equal(*told)
    series = [row.reshape(1, -1).repeat(5 + i % 3, axis=1) for i, row in enumerate(X)]
    inner = SpecrouteClassifier(graph="none", n_estimators=2, evaluate=False, random_state=0)
    bagged = RoutedBagging(inner, plan="uniform", graph="none", n_estimators=2, random_state=0).fit(series, y)
    assert bagged.score(series, y) > 0.8
