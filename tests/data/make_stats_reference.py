"""Writes stats_reference.json: what SciPy and statsmodels say of fixed data.

Run with: python3 tests/data/make_stats_reference.py > tests/data/stats_reference.json
(needs numpy, scipy and statsmodels; the versions are written into the file)."""
import json
import sys

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20261115)
out = {"command": "python3 tests/data/make_stats_reference.py",
       "versions": {"python": sys.version.split()[0], "numpy": np.__version__,
                    "scipy": scipy.__version__, "statsmodels": statsmodels.__version__}}

laws = []
for x in (-6.0, -1.3, 0.0, 0.4, 2.5, 8.0):
    laws.append({"law": "normal", "x": x, "value": stats.norm.cdf(x)})
for df in (1, 2, 7, 30, 1000.5):
    for x in (0.01, 0.7, 3.0, 25.0, 900.0):
        laws.append({"law": "chi2", "x": x, "a": df, "value": stats.chi2.sf(x, df)})
    for x in (-3.0, 0.0, 0.2, 2.1, 40.0):
        laws.append({"law": "t", "x": x, "a": df, "value": stats.t.sf(x, df)})
    for p in (0.6, 0.975, 0.9999):
        laws.append({"law": "tq", "x": p, "a": df, "value": stats.t.ppf(p, df)})
    for df2 in (1, 5, 60):
        for x in (0.05, 1.0, 6.5):
            laws.append({"law": "f", "x": x, "a": df, "b": df2, "value": stats.f.sf(x, df, df2)})
for k in (2, 3, 8, 10, 20):
    for q in (0.5, 2.0, 3.5, 5.0):
        laws.append({"law": "range", "x": q, "a": k,
                     "value": stats.studentized_range.sf(q, k, np.inf)})
out["laws"] = laws

wilcoxon = []
def add_wilcoxon(x, y):
    for zeros in ("wilcox", "pratt"):
        d = np.asarray(x) - np.asarray(y)
        plain = len(np.unique(np.abs(d))) == len(d) and not np.any(d == 0)
        for method in (("exact", "approx") if plain else ("approx",)):
            kw = dict(zero_method=zeros, method=method, correction=False)
            two = stats.wilcoxon(x, y, **kw)
            wilcoxon.append({"x": list(map(float, x)), "y": list(map(float, y)), "zeros": zeros,
                             "method": method, "p": two.pvalue,
                             "less": stats.wilcoxon(x, y, alternative="less", **kw).pvalue,
                             "greater": stats.wilcoxon(x, y, alternative="greater", **kw).pvalue})
add_wilcoxon(rng.normal(size=6), rng.normal(0.4, 1, size=6))
add_wilcoxon(rng.normal(size=17), rng.normal(0.6, 1, size=17))
add_wilcoxon(rng.normal(size=50), rng.normal(0.2, 1, size=50))
add_wilcoxon(rng.integers(0, 6, size=25), rng.integers(0, 6, size=25))
add_wilcoxon(rng.integers(0, 3, size=120), rng.integers(0, 4, size=120))
out["wilcoxon"] = wilcoxon

# The exact test with ties, by brute force over every sign pattern.
d = np.array([1.0, 1.0, -2.0, 3.0, 3.0, 3.0, -4.0, 5.0, 6.0, 2.0])
ranks = stats.rankdata(np.abs(d))
sums = np.array([ranks[[bool(m >> i & 1) for i in range(len(d))]].sum() for m in range(2 ** len(d))])
seen = ranks[d > 0].sum()
out["wilcoxon_ties"] = {"d": d.tolist(), "less": float((sums <= seen).mean()),
                        "greater": float((sums >= seen).mean())}

friedman = []
for table in (rng.normal(size=(9, 4)) + np.arange(4) * 0.5, rng.integers(0, 4, size=(20, 5)) * 1.0):
    s = stats.friedmanchisquare(*table.T)
    friedman.append({"table": table.tolist(), "statistic": s.statistic, "p": s.pvalue,
                     "ranks": np.mean([stats.rankdata(-r) for r in table], axis=0).tolist()})
out["friedman"] = friedman
out["nemenyi"] = [{"k": k, "n": n, "alpha": a,
                   "value": stats.studentized_range.ppf(1 - a, k, np.inf) / np.sqrt(2)
                   * np.sqrt(k * (k + 1) / (6 * n))}
                  for k, n, a in ((2, 10, .05), (8, 128, .05), (11, 50, .1), (4, 30, .01))]
p = [0.001, 0.04, 0.03, 0.5, 0.0004, 0.03, 0.9]
out["holm"] = {"p": p, "adjusted": multipletests(p, method="holm")[1].tolist()}

spearman = []
for n, tied in ((12, False), (40, True)):
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    if tied:
        x, y = np.round(x), np.round(y)
    s = stats.spearmanr(x, y)
    spearman.append({"x": x.tolist(), "y": y.tolist(), "r": s.statistic, "p": s.pvalue})
out["spearman"] = spearman

x = np.exp(rng.normal(size=15))
y = 0.3 * x ** 0.7 * np.exp(rng.normal(0, 0.2, size=15))
fit = stats.linregress(np.log(x), np.log(y))
t = stats.t.ppf(0.975, 13)
out["line"] = {"x": x.tolist(), "y": y.tolist(), "slope": fit.slope, "intercept": fit.intercept,
               "slope_low": fit.slope - t * fit.stderr,
               "intercept_high": fit.intercept + t * fit.intercept_stderr,
               "r_squared": fit.rvalue ** 2}

sample = rng.gamma(2.0, 1.0, size=40)
boot = {"sample": sample.tolist()}
for kind in ("percentile", "BCa"):
    ci = stats.bootstrap((sample,), np.mean, n_resamples=200000, method=kind, batch=5000,
                         rng=np.random.default_rng(1)).confidence_interval
    boot[kind] = [ci.low, ci.high]
out["bootstrap"] = boot

scores = rng.normal(size=(10, 6)) + np.arange(6)
out["iqm"] = {"scores": scores.tolist(),
              "value": stats.trim_mean(scores, proportiontocut=0.25, axis=None)}
draws = np.array([stats.trim_mean(np.stack([scores[rng.integers(0, 10, 10), t] for t in range(6)]),
                                  0.25, axis=None) for _ in range(20000)])
out["iqm"]["interval"] = np.quantile(draws, [0.025, 0.975]).tolist()

proba = rng.dirichlet(np.ones(3), size=200).astype(np.float32)
label = np.array([rng.choice(3, p=q / q.sum()) for q in proba.astype(float)])
top, conf = proba.argmax(1), proba.max(1).astype(float)
bins = np.clip(np.ceil(conf * 15).astype(int) - 1, 0, 14)
ece = sum(abs(conf[bins == b].sum() - (top == label)[bins == b].sum()) for b in range(15)) / 200
out["ece"] = {"proba": proba.astype(float).ravel().tolist(), "label": label.tolist(), "value": ece}

json.dump(out, sys.stdout, indent=1)
print()
