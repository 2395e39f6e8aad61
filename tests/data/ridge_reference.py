#!/usr/bin/env python3
"""Writes tests/data/ridge_reference.txt: scikit-learn's RidgeClassifierCV on small made-up tables.

Run: python tests/data/ridge_reference.py > tests/data/ridge_reference.txt
Each case: rows columns classes weighted alpha, then one line a row: the decision of each class.
Columns are standardized with weighted mean and population standard deviation.
"""
import warnings
import numpy as np
import sklearn
from sklearn.linear_model import RidgeClassifierCV

warnings.filterwarnings("ignore")
print(f"# scikit-learn {sklearn.__version__}, numpy {np.__version__}")
for rows, columns, classes, weighted in [(60, 5, 3, 0), (25, 40, 3, 0), (60, 5, 2, 0), (20, 30, 2, 0),
                                         (60, 5, 4, 1), (25, 40, 3, 1), (33, 32, 3, 0)]:
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    x = (((i + 3) * (j + 7) * 7919 + i * i * 31 + j * 104729) % 1009).astype(np.float32).astype(float) / 64
    score = x[:, 0] + x[:, 1] - x[:, 2] + (np.arange(rows) * 613 % 17)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    s = 1.0 + np.arange(rows) % 3 if weighted else np.ones(rows)
    mean = (s[:, None] * x).sum(0) / s.sum()
    sd = np.sqrt((s[:, None] * (x - mean) ** 2).sum(0) / s.sum())
    z = (x - mean) / sd
    model = RidgeClassifierCV(alphas=10 ** (-3 + np.arange(14) * 6 / 9)).fit(z, y, sample_weight=s)
    decision = model.decision_function(z)
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    print(rows, columns, classes, weighted, repr(float(model.alpha_)))
    for label, row in zip(y, decision):
        print(label, *(repr(float(v)) for v in row))
