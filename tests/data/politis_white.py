"""Reference block lengths for tests/test_dependence_politis_white.c.

Run: python3 tests/data/politis_white.py   (needs numpy and arch; made with arch 8.0.0)
Prints one line a series: n, phi, stationary and circular length by arch, then by the rule of R's np.
"""
import numpy as np
from arch.bootstrap import optimal_block_length


def series(n, phi):
    """AR(1) driven by a 32-bit linear congruential generator, in float32."""
    state, x, out = 12345, 0.0, np.empty(n)
    for t in range(n):
        state = (1664525 * state + 1013904223) % 2**32
        x = phi * x + (state / 2**32 - 0.5)
        out[t] = x
    return out.astype(np.float32).astype(np.float64)


def other_rule(x):
    """The same lengths as R's np documents them: standard autocorrelations, 1.96 bands, ceil."""
    n, e = len(x), x - x.mean()
    run = max(5, int(np.ceil(np.log10(n))))
    cap = int(np.ceil(np.sqrt(n))) + run
    cov = np.array([e[k:] @ e[: n - k] / n for k in range(cap + 1)])
    big = np.abs(cov / cov[0]) >= 1.959963984540054 * np.sqrt(np.log10(n) / n)
    starts = [k for k in range(1, cap - run + 2) if not big[k : k + run].any()]
    last = [k for k in range(1, cap + 1) if big[k]]
    m = max(starts[0], 1) if starts else (last[-1] if last else 1)
    m = min(2 * m, cap)
    k = np.arange(1, m + 1)
    h = np.where(k / m <= 0.5, 1.0, 2 * (1 - k / m))
    g, s = 2 * (h * k * cov[1 : m + 1]).sum(), cov[0] + 2 * (h * cov[1 : m + 1]).sum()
    top = np.ceil(min(3 * np.sqrt(n), n / 3))
    return [min((2 * g**2 / (f * s**2)) ** (1 / 3) * n ** (1 / 3), top) for f in (2, 4 / 3)]


for n, phi in [(200, 0.0), (500, 0.5), (2000, 0.9), (2000, -0.6), (5000, 0.98), (5000, 0.999)]:
    b = optimal_block_length(series(n, phi))
    print(n, phi, "%.6f %.6f" % (b["stationary"].iloc[0], b["circular"].iloc[0]),
          "%.6f %.6f" % tuple(other_rule(series(n, phi))))
