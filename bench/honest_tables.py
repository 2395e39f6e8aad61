"""Writes the tables of docs/coverage.md from bench/results/honest_coverage.jsonl.

Run: python3 bench/honest_tables.py            rewrites the file
     python3 bench/honest_tables.py --check    fails where it is out of date
Text between <!-- NAME --> and <!-- end --> is replaced. The runs come from build/release/bench/bench_honest and
bench_choice, the real streams from bench/choice_real.py.
"""
import collections
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "bench/results/honest_coverage.jsonl"
CHOICES = ROOT / "bench/results/honest_choice.jsonl"
REAL = ROOT / "bench/results/honest_real.jsonl"
PLACE = ROOT / "bench/results/honest_place.jsonl"
SPLITS = ROOT / "bench/results/honest_splits.jsonl"
ADVICE = ROOT / "bench/results/honest_advice.jsonl"
FEW = 50    # runs below which a cell is not judged
ROUGH = 20  # spans below which an interval is called rough


WIDEST = 0.9  # an interval that is wider is not told (sr__interval_says_nothing); earlier runs wrote it down


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else math.nan


def show(value, digits=3, sign=False):
    return "-" if value != value else f"{value:{'+' if sign else ''}.{digits}f}"


def cells(runs):
    table = collections.defaultdict(list)
    for r in runs:
        table[r["process"], r["n"], r["plan"]].append(r)
    return table


def answer(runs, low, high, truth, estimate=None):
    """Coverage, bias, width and number of the runs whose interval was given."""
    told = [r for r in runs if r.get(low) is not None and r.get(truth) is not None]
    if low != "difference_low":
        told = [r for r in told if r[high] - r[low] <= WIDEST]
    covered = mean([r[low] <= r[truth] <= r[high] for r in told])
    bias = mean([r[estimate] - r[truth] for r in told]) if estimate else math.nan
    return covered, bias, mean([r[high] - r[low] for r in told]), len(told)


def line(a):
    return f"{show(a[0])} {show(a[1], 4, True)} {show(a[2])} ({a[3]})" if a[3] else "-"


def spans(r):
    return r["n"] / r["tmix"] if r["tmix"] else math.nan


def pooled(runs):
    out = ["| plan, rows | interval | coverage, bias, width (runs) |", "|---|---|---|"]
    steady = [r for r in runs if "truth" in r and r["tmix"]]
    for title, keep in (("n >= 20 T", lambda r: spans(r) >= ROUGH), ("5 T <= n < 20 T", lambda r: 5 <= spans(r) < ROUGH)):
        for plan in ("auto", "uniform"):
            some = [r for r in steady if r["plan"] == plan and keep(r)]
            out.append(f"| {plan}, {title} | honest | {line(answer(some, 'low', 'high', 'truth', 'honest'))} |")
            a = answer(some, "next_low", "next_high", "next_error")
            out.append(f"| {plan}, {title} | next unit | {show(a[0])} {show(a[2])} ({a[3]}) |")
            out.append(f"| {plan}, {title} | naive, no interval | bias {show(mean([r['naive'] - r['truth'] for r in some]), 4, True)} |")
            if plan == "uniform":
                beside = [r for r in some if r.get("folds_low") is not None]
                out.append(f"| {plan}, {title} | honest, runs that have the rules below | {line(answer(beside, 'low', 'high', 'truth', 'honest'))} |")
                out.append(f"| {plan}, {title} | 5 contiguous folds + t | {line(answer(some, 'folds_low', 'folds_high', 'truth', 'folds'))} |")
                out.append(f"| {plan}, {title} | time-series split + t | {line(answer(some, 'split_low', 'split_high', 'truth', 'split'))} |")
    endless = [r for r in runs if "truth" in r and not r["tmix"]]
    for plan in ("auto", "uniform"):
        a = answer([r for r in endless if r["plan"] == plan], "low", "high", "truth", "honest")
        out.append(f"| {plan}, long memory | honest | {line(a)} |")
    for title, keep in (("n >= 20 T", lambda r: spans(r) >= ROUGH), ("5 T <= n < 20 T", lambda r: 5 <= spans(r) < ROUGH)):
        some = [r for r in steady if keep(r) and r["plan"] == "auto"]
        told = [r for r in some if r["tmix_low"] is not None]
        held = mean([r["tmix_low"] <= r["tmix"] <= r["tmix_high"] for r in told])
        found = sorted(r["tmix_found"] / r["tmix"] for r in told)
        if found:
            out.append(f"| any, {title} | T, 90 % | {show(held)}, median T found over T {show(found[len(found) // 2], 2)} ({len(told)}) |")
    drifting = [r for r in runs if "later_error" in r]
    for plan in ("auto", "uniform"):
        some = [r for r in drifting if r["plan"] == plan]
        a = answer(some, "forward_low", "forward_high", "later_error", "forward")
        b = answer(some, "low", "high", "later_error", "honest")
        out.append(f"| {plan}, drifting | forward line, the tenth that follows | {line(a)} |")
        out.append(f"| {plan}, drifting | honest, the tenth that follows | {line(b)} |")
    return "\n".join(out)


def by_cell(runs):
    out = ["Each cell: coverage, bias, width (runs). T: true, median found, share of 90 % intervals that hold it.", "",
           "| process | n | T: true / found / held | honest, auto | honest, uniform | next unit, auto: coverage, width | 5 folds + t | time-series split + t |",
           "|---|---|---|---|---|---|---|---|"]
    table = cells(runs)
    for process, n in dict.fromkeys((r["process"], r["n"]) for r in sorted(runs, key=lambda r: r["n"])):
        a, u = table[process, n, "auto"], table[process, n, "uniform"]
        every = a + u
        if not any("truth" in r for r in every):
            continue
        found = sorted(r["tmix_found"] for r in every)
        held = mean([r["tmix_low"] <= r["tmix"] <= r["tmix_high"] for r in every
                     if r["tmix"] and r["tmix_low"] is not None])
        true = every[0]["tmix"]
        nxt = answer(a, "next_low", "next_high", "next_error")
        out.append(f"| {process} | {n:,} | {f'{true:g}' if true else 'none'} / {found[len(found) // 2]:.3g} / {show(held, 2)} "
                   f"| {line(answer(a, 'low', 'high', 'truth', 'honest'))} | {line(answer(u, 'low', 'high', 'truth', 'honest'))} "
                   f"| {show(nxt[0])} {show(nxt[2])} | {line(answer(u, 'folds_low', 'folds_high', 'truth', 'folds'))} "
                   f"| {line(answer(u, 'split_low', 'split_high', 'truth', 'split'))} |")
    return "\n".join(out)


def targets(runs, choices):
    """What was asked of the stationary cells with 20 spans or more, and which do not have it."""
    table = cells(r for r in runs if "truth" in r and r["tmix"] and spans(r) >= ROUGH)
    asked = (("honest", 0.92, "low", "high", "truth"), ("next unit", 0.90, "next_low", "next_high", "next_error"))
    out = [f"Cells of stationary processes with n >= 20 T and at least {FEW} runs. \"Clearly\": by more than two standard errors of a share of so many "
           "runs. Above 97 % an interval is careful, not wrong. The best valid rule is the narrower of five folds + t and the time-series split "
           "where these cover 92 % or more of the same cell.", "",
           "| asked of every cell | plan | cells | have it | miss it clearly | miss it within noise |", "|---|---|---:|---:|---|---|"]
    for name, least, low, high, truth in asked:
        for plan in ("auto", "uniform"):
            told = [(p, n, answer(some, low, high, truth)) for (p, n, of), some in table.items() if of == plan]
            told = [(f"{p} {n:,} {show(a[0])} ({a[3]})", a[0], a[3]) for p, n, a in told if a[3] >= FEW]
            clear = [t for t, c, runs_ in told if c < least - 2 * math.sqrt(least * (1 - least) / runs_)]
            noisy = [t for t, c, runs_ in told if c < least and t not in clear]
            out.append(f"| {name}: {100 * least:.0f} % | {plan} | {len(told)} | {len(told) - len(clear) - len(noisy)} | {', '.join(clear) or '-'} | {', '.join(noisy) or '-'} |")
    for plan in ("auto", "uniform"):
        ratio = {}
        for (p, n, of), some in table.items():
            rules = [answer(table[p, n, "uniform"], f"{rule}_low", f"{rule}_high", "truth") for rule in ("folds", "split")]
            valid = [a[2] for a in rules if a[3] >= FEW / 4 and a[0] >= 0.92]
            if of == plan and valid:
                ratio[f"{p} {n:,}"] = answer(some, "low", "high", "truth")[2] / min(valid)
        wide = [f"{name} {r:.2f}" for name, r in ratio.items() if r > 1.5]
        out.append(f"| width at most 1.5 of the best valid rule | {plan} | {len(ratio)} | {len(ratio) - len(wide)} | {', '.join(wide) or '-'} | |")
    told = [(f"{p} {n:,} {show(ratio, 4)}", ratio, error, n) for p, n, _, ratio, error, _, _ in ratios_to_uniform(runs)]
    for size in sorted({n for *_, n in told}):
        here = [t for t in told if t[3] == size]
        clear = [t for t, ratio, error, _ in here if ratio > 1 + 2 * error]
        noisy = [t for t, ratio, error, _ in here if 1 < ratio <= 1 + 2 * error]
        out.append(f"| auto errs no more than uniform, {size:,} rows (all cells) | auto | {len(here)} | {len(here) - len(clear) - len(noisy)} "
                   f"| {', '.join(clear) or '-'} | {', '.join(noisy) or '-'} |")
    for n in sorted({r["n"] for r in choices}):
        some = [r for r in choices if r["n"] == n]
        mix, most = moved(some, "auto"), max(0.002, 1.25 * moved(some, "uniform"))
        out.append(f"| risk moves between seeds by at most {show(most, 4)}, mean of {n:,} rows | auto | 1 | {int(mix <= most)} | "
                   f"{'-' if mix <= most else show(mix, 4)} | |")
    return "\n".join(out)


def compared(runs):
    out = ["`compare` tells the difference of two errors with an interval of its own: auto minus uniform, neither taken for being the best. "
           "Each line: coverage of the difference of the two risks, bias, width (runs).", "",
           "| process | n | true difference | interval of the difference | told from 0 | of these with the right sign |", "|---|---|---|---|---|---|"]

    def row(name, n, some):
        told = [r for r in some if r["difference_low"] is not None]
        clear = [r for r in told if r["difference_low"] > 0 or r["difference_high"] < 0]
        right = [r for r in clear if r["true_difference"] * r["difference"] > 0]
        true = show(mean([r["true_difference"] for r in some]), 4, True)
        return (f"| {name} | {n} | {true} | {line(answer(told, 'difference_low', 'difference_high', 'true_difference', 'difference'))} "
                f"| {len(clear)} | {len(right)} |")

    for (process, n, _), some in cells(r for r in sorted(runs, key=lambda r: r["n"])).items():
        out.append(row(process, f"{n:,}", some))
    for title, keep in (("all, n >= 20 T", lambda r: spans(r) >= ROUGH), ("all, 5 T <= n < 20 T", lambda r: 5 <= spans(r) < ROUGH)):
        some = [r for r in runs if keep(r)]
        if some:
            out.append(row(title, "", some))
    return "\n".join(out) if runs else "Not recorded."


def forward(runs):
    out = ["| process | n | plan | later error | forward line: coverage, bias, width (runs) | honest: bias |", "|---|---|---|---|---|---|"]
    for (process, n, plan), some in sorted(cells(r for r in runs if "later_error" in r).items()):
        out.append(f"| {process} | {n:,} | {plan} | {show(mean([r['later_error'] for r in some]))} "
                   f"| {line(answer(some, 'forward_low', 'forward_high', 'later_error', 'forward'))} "
                   f"| {show(mean([r['honest'] - r['later_error'] for r in some]), 4, True)} |")
    return "\n".join(out)


def ratios_to_uniform(runs):
    """By cell: mean error of uniform, that of auto over it, its standard error, processor time over that of uniform, runs."""
    table = cells(runs)
    for process, n in dict.fromkeys((r["process"], r["n"]) for r in sorted(runs, key=lambda r: r["n"])):
        one = {r["seed"]: r for r in table[process, n, "uniform"] if "truth" in r}
        two = {r["seed"]: r for r in table[process, n, "auto"] if "truth" in r}
        both = sorted(set(one) & set(two))
        if len(both) < 2:
            continue
        base = mean([one[s]["truth"] for s in both])
        gaps = [two[s]["truth"] - one[s]["truth"] for s in both]
        sd = math.sqrt(sum((g - mean(gaps)) ** 2 for g in gaps) / (len(gaps) - 1))
        time = mean([two[s]["seconds"] for s in both]) / mean([one[s]["seconds"] for s in both])
        yield process, n, base, 1 + mean(gaps) / base, sd / math.sqrt(len(both)) / base, time, len(both)


def against_uniform(runs):
    out = ["Error of the delivered mix over that of plain bagging on the same streams, and processor time of `train` (choice, evaluation "
           "and fit, importance left out) over that of `train --plan uniform`.", "",
           "| process | n | error, uniform | auto / uniform | standard error | time | runs |", "|---|---|---|---|---|---|---|"]
    ratios = []
    for process, n, base, ratio, error, time, count in ratios_to_uniform(runs):
        ratios.append(ratio)
        out.append(f"| {process} | {n:,} | {show(base, 4)} | {show(ratio)} | {show(error)} | {show(time, 2)} | {count} |")
    if ratios:
        out += ["", f"Mean ratio over the cells {show(mean(ratios))}, worst {show(max(ratios))}."]
    return "\n".join(out)


def read(path):
    """The line that says how it was recorded, and the runs."""
    if not path.exists():
        return None, []
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    return lines[0], lines[1:]


def by_cell_of(runs):
    table = collections.defaultdict(list)
    for r in sorted(runs, key=lambda r: r["n"]):
        table[r["process"], r["n"]].append(r)
    return table


def moved(runs, name):
    return mean([abs(r[name] - r[name + "_again"]) for r in runs])


def choice(head, runs):
    if not runs:
        return "Not recorded."
    out = [f"{len(runs)} streams, recorded with `{head['command']}` at commit {head['commit']} ({head['machine']}). Risks at 6,000 fresh rows. "
           "*Best*: the fixed plan of thirteen (five bag shares at two leaf sizes, half and a fifth of the parts, one of five parts) with the "
           "least mean risk in the cell, an oracle. *Excess*: risk minus the least possible. *Moved*: mean change of the risk between two seeds on the "
           "same stream.", "",
           "| process | n | uniform | auto / uniform (s.e.) | auto / best | excess: auto / uniform | excess: auto / best | moved: auto | moved: uniform | streams |",
           "|---|---|---|---|---|---|---|---|---|---|"]
    columns = collections.defaultdict(list)
    for (process, n), some in by_cell_of(runs).items():
        uniform, auto, bayes = (mean([r[k] for r in some]) for k in ("uniform", "auto", "bayes"))
        best = min(mean([r["fixed"][k] for r in some]) for k in range(len(some[0]["fixed"])))
        gaps = [r["auto"] - r["uniform"] for r in some]
        error = math.sqrt(sum((g - mean(gaps)) ** 2 for g in gaps) / (len(gaps) - 1) / len(gaps)) / uniform if len(gaps) > 1 else math.nan
        row = [auto / uniform, auto / best, (auto - bayes) / (uniform - bayes), (auto - bayes) / (best - bayes)]
        for k, value in enumerate(row):
            columns[k].append(value)
        out.append(f"| {process} | {n:,} | {show(uniform, 4)} | {show(row[0])} ({show(error)}) | {show(row[1])} | {show(row[2], 2)} | {show(row[3], 2)} "
                   f"| {show(moved(some, 'auto'), 4)} | {show(moved(some, 'uniform'), 4)} | {len(some)} |")
    named = ("auto / uniform", "auto / best", "excess auto / uniform", "excess auto / best")
    out += ["", "Mean over the cells and worst: " + "; ".join(f"{name} {show(mean(columns[k]))}, {show(max(columns[k]))}" for k, name in enumerate(named)) + "."]
    return "\n".join(out)


FIXED = ("full bootstrap", "full bootstrap, leaves of 5", "bags of .3", "bags of .3, leaves of 5", "bags of .1", "bags of .1, leaves of 5",
         "bags of .03", "bags of .03, leaves of 5", "bags of .01", "bags of .01, leaves of 5", "half of the parts", "a fifth of the parts",
         "one of five parts")  # the order of bench_choice


def fixed(head, runs):
    """What each fixed plan is worth beside plain bagging: the mean over the cells of a size, and the cells where it is best and worst."""
    if not runs:
        return "Not recorded."
    out = ["Risk over that of plain bagging, same runs as above: mean over the processes of a size, least and greatest (standard error of a "
           "process about .005 to .02). Bags are shares of the rows; leaves hold one row where nothing is said.", ""]
    sizes = sorted({r["n"] for r in runs})
    out += ["| plan | " + " | ".join(f"{n:,}: mean | least | greatest" for n in sizes) + " |", "|---|" + "---|" * 3 * len(sizes)]
    table = by_cell_of(runs)
    for k, name in enumerate(FIXED):
        row = []
        for n in sizes:
            ratio = {p: mean([r["fixed"][k] for r in some]) / mean([r["uniform"] for r in some]) for (p, m), some in table.items() if m == n}
            least, most = min(ratio, key=ratio.get), max(ratio, key=ratio.get)
            row += [show(mean(ratio.values())), f"{show(ratio[least])} ({least})", f"{show(ratio[most])} ({most})"]
        if k:
            out.append(f"| {name} | {' | '.join(row)} |")
    return "\n".join(out)


def stability(head, runs):
    """Change of the risk between two seeds, and whether it is within what is asked for."""
    if not runs:
        return "Not recorded."
    out = ["Mean change of the risk between two seeds on the same stream. Asked for: at most the larger of .002 and 1.25 times that of plain "
           "bagging, on the mean over the streams of a size.", "", "| n | auto | uniform | at most | kept | streams |", "|---|---|---|---|---|---|"]
    for n in sorted({r["n"] for r in runs}):
        some = [r for r in runs if r["n"] == n]
        mix, plain = moved(some, "auto"), moved(some, "uniform")
        most = max(0.002, 1.25 * plain)
        out.append(f"| {n:,} | {show(mix, 4)} | {show(plain, 4)} | {show(most, 4)} | {'yes' if mix <= most else 'no'} | {len(some)} |")
    return "\n".join(out)


def cost(head, runs):
    if not runs:
        return "Not recorded."
    out = ["Processor time over that of one plain fit of 100 members on the same rows (T given, nothing judged), same runs as above. "
           "Everything that `train` does is in it: T, choice, evaluation and the delivered fit; importance is left out.", "",
           "| n | plain fit, ms | auto | uniform | streams |", "|---|---|---|---|---|"]
    for n in sorted({r["n"] for r in runs}):
        some = [r for r in runs if r["n"] == n]
        plain, auto, uniform = (sum(r[k] for r in some) for k in ("plain_seconds", "auto_seconds", "uniform_seconds"))
        out.append(f"| {n:,} | {show(1000 * plain / len(some), 1)} | {show(auto / plain, 2)} | {show(uniform / plain, 2)} | {len(some)} |")
    return "\n".join(out)


def real(head, runs):
    if not runs:
        return "Not recorded."
    out = [f"Trained on 4,000 rows in a row, judged on the 2,000 that follow a gap of 80; {len(runs)} stretches, recorded with `{head['command']}` at commit "
           f"{head['commit']}. *Best*: the best of nine fixed plans on that stretch's own test rows.", "",
           "| stream | first row | T | uniform | auto | auto again | best fixed | honest, auto | next 500 rows, auto: error, interval | naive, auto |", "|---|---|---|---|---|---|---|---|---|---|"]
    held = collections.Counter()
    for r in sorted(runs, key=lambda r: (r["case"], r["first_row"])):
        told = r["auto_told"]
        best = min([r["uniform"], *r["fixed"].values()])
        for low, high, name, truth in (("honest_low", "honest_high", "honest", "auto"), ("next_low", "next_high", "next", "auto_next")):
            if told.get(low) is not None:
                held[name] += told[low] <= r[truth] <= told[high]
                held[name + " told"] += 1
        spans = [f"{show(told[low])} to {show(told[high])}" if told.get(low) is not None else "none" for low, high in
                 (("honest_low", "honest_high"), ("next_low", "next_high"))]
        scale = "not told" if told["tmix"] is None else f"{told['tmix']:.3g}"
        out.append(f"| {r['case']} | {r['first_row']:,} | {scale} | {show(r['uniform'])} | {show(r['auto'])} | {show(r['auto_again'])} | {show(best)} "
                   f"| {show(told['honest'])}, {spans[0]} | {show(r['auto_next'])}, {spans[1]} | {show(told['naive'])} |")
    ratio = sum(r["auto"] for r in runs) / sum(r["uniform"] for r in runs)
    worst = max((r for r in runs if r["uniform"] > 0), key=lambda r: r["auto"] / r["uniform"])
    rest = max((r for r in runs if r["uniform"] > 0.01), key=lambda r: r["auto"] / r["uniform"])
    out += ["", f"Sum of the errors over that of uniform {show(ratio)}, worst stretch {show(worst['auto'] / worst['uniform'])} ({worst['case']}, "
            f"{2000 * worst['auto']:.0f} wrong rows of 2,000 beside {2000 * worst['uniform']:.0f}), worst where uniform errs in more than 1 % of the rows "
            f"{show(rest['auto'] / rest['uniform'])} ({rest['case']}). The later error lies in the honest interval in "
            f"{held['honest']} of {held['honest told']} stretches where one is given (it is an interval of the mean, and the streams drift), in that of the next unit in "
            f"{held['next']} of {held['next told']}."]
    return "\n".join(out)


def place(head, runs):
    if not runs:
        return "Not recorded."
    out = [f"{len(runs)} streams, recorded with `{head['command']}` at commit {head['commit']} ({head['machine']}). Risk over that of plain bagging "
           "(standard error) where members leave half of the parts out, where they leave a random half of the rows out, and of the former over "
           "the latter: bags of the same size, so that this is the place alone. *Remembers*: rows that the score (truth - vote) of "
           "held-out rows remembers, median. *Weight*: mean weight of the place node of `auto`. *Without*: `auto` over the same `auto` that is "
           f"never offered a place ({sum(r.get('auto_without') is not None for r in runs)} of the streams).", "",
           "| process | n | remembers | half of the parts | random half | parts / rows | auto | weight | auto / without | streams |", "|---|---|---|---|---|---|---|---|---|---|"]
    columns = collections.defaultdict(list)

    def ratio(some, a, b):
        some = [r for r in some if r.get(b) is not None]
        if not some:
            return math.nan, math.nan
        base = mean([r[b] for r in some])
        gaps = [r[a] - r[b] for r in some]
        sd = math.sqrt(sum((g - mean(gaps)) ** 2 for g in gaps) / (len(gaps) - 1)) if len(gaps) > 1 else math.nan
        return 1 + mean(gaps) / base, sd / math.sqrt(len(gaps)) / base

    for (process, n), some in by_cell_of(runs).items():
        slow = sorted(r["score_tmix"] for r in some)[len(some) // 2]
        row = [ratio(some, a, b) for a, b in (("parts", "uniform"), ("rows", "uniform"), ("parts", "rows"), ("auto", "uniform"),
                                               ("auto", "auto_without"))]
        for k, (value, _) in enumerate(row):
            columns[n, slow >= 2, k].append(value)
        shown = [f"{show(v)} ({show(e)})" for v, e in row]
        out.append(f"| {process} | {n:,} | {slow:.3g} | {' | '.join(shown[:4])} | {show(mean([r.get('place_weight') for r in some]), 2)} "
                   f"| {shown[4]} | {len(some)} |")
    out += ["", "| n | the score remembers 2 rows or more (median) | cells | half of the parts | random half | parts / rows | auto / without |",
            "|---|---|---|---|---|---|---|"]
    for n in sorted({n for n, *_ in columns}):
        for slow in (True, False):
            if columns[n, slow, 0]:
                out.append(f"| {n:,} | {'yes' if slow else 'no'} | {len(columns[n, slow, 0])} | " +
                           " | ".join(show(mean(columns[n, slow, k])) for k in (0, 1, 2, 4)) + " |")
    return "\n".join(out)


def t_quantile(p, degrees):
    """Student's t by bisection of its distribution (Simpson's rule)."""
    density = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    below = lambda x: 0.5 + sum(density * (1 + u * u / degrees) ** (-(degrees + 1) / 2) * w * x / 600 for u, w in
                                ((x * k / 200, 1 if k in (0, 200) else 4 if k % 2 else 2) for k in range(201)))
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return low


def splits(head, runs):
    if not runs:
        return "Not recorded."
    out = [f"Windows of 4,000 rows at five places of each stream, judged on up to 4,000 rows before and as many after it, a gap of 80 rows between; "
           f"recorded with `{head['command']}` at commit {head['commit']} ({head['machine']}). *Covers*: the interval holds the error outside. *Fair*: "
           "it meets the interval of that error (blocks of 800 rows, Student's t), whose rows have noise and memory of their own. The honest error is "
           "about rows of the same process; a stream that drifts is another process before and after the window.", "",
           "| stream | plan | windows | interval given | covers | fair | naive in place of honest: covers with that width | error outside, mean | bias: honest | bias: naive | width |",
           "|---|---|---|---|---|---|---|---|---|---|---|"]
    rows = collections.defaultdict(list)
    for r in runs:
        rows[r["case"], r["plan"]].append(r)
        rows["all", r["plan"]].append(r)
    for case, plan in sorted(rows, key=lambda k: (k[0] == "all", k)):
        some = rows[case, plan]
        told = [r for r in some if r["honest_low"] is not None]
        truth = {id(r): mean(r["blocks"]) for r in some}

        def half(r):
            m = len(r["blocks"])
            sd = math.sqrt(sum((b - truth[id(r)]) ** 2 for b in r["blocks"]) / (m - 1))
            return t_quantile(0.975, m - 1) * sd / math.sqrt(m)

        covers = mean([r["honest_low"] <= truth[id(r)] <= r["honest_high"] for r in told])
        fair = mean([r["honest_low"] <= truth[id(r)] + half(r) and truth[id(r)] - half(r) <= r["honest_high"] for r in told])
        naive = mean([abs(r["naive"] - truth[id(r)]) <= (r["honest_high"] - r["honest_low"]) / 2 for r in told])
        out.append(f"| {case} | {plan} | {len(some)} | {len(told)} | {show(covers, 2)} | {show(fair, 2)} | {show(naive, 2)} | {show(mean(truth.values()))} "
                   f"| {show(mean([r['honest'] - truth[id(r)] for r in some]), 3, True)} | {show(mean([r['naive'] - truth[id(r)] for r in some]), 3, True)} "
                   f"| {show(mean([r['honest_high'] - r['honest_low'] for r in told]))} |")
    return "\n".join(out)


def advice(head, runs):
    if not runs:
        return "Not recorded."
    out = [f"{len(runs)} streams of 2,000 rows, recorded with `{head['command']}` at commit {head['commit']} ({head['machine']}). Share of the variance "
           "of the margin that twice the members, bags of 30 % of the rows, half of the parts per member take off the held-out vote of plain "
           "bagging (40 members): as told before, and as a training of its own then finds. The factors behind the advice were fitted on other processes. In "
           "brackets the change of the error at fresh rows: a smaller variance is not always a smaller error.", "",
           "| process | members: told, came (error) | bags: told, came (error) | place: told, came (error) | runs |", "|---|---|---|---|---|"]
    names, gaps = ("members", "bags", "place"), collections.defaultdict(list)
    for process in dict.fromkeys(r["process"] for r in runs):
        some = [r for r in runs if r["process"] == process]
        row = []
        for name in names:
            told, came = mean([r["told_" + name] for r in some]), mean([r["came_" + name] for r in some])
            gaps[name].append(told - came)
            row.append(f"{show(told)}, {show(came, 3, True)} ({show(mean([r['error_' + name] - r['uniform'] for r in some]), 4, True)})")
        out.append(f"| {process} | {' | '.join(row)} | {len(some)} |")
    out += ["", "Told minus came over the processes, mean and largest: " +
            "; ".join(f"{name} {show(mean(gaps[name]), 3, True)}, {show(max(abs(g) for g in gaps[name]))}" for name in names) + "."]
    return "\n".join(out)


def replace(text, name, new):
    return re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + new.strip() + "\n" + m[2], text, flags=re.S)


def main():
    head, runs = read(RUNS)
    path = ROOT / "docs/coverage.md"
    old = path.read_text()
    count = f"{len(runs):,} runs, recorded with `{head['command']}` at commit {head['commit']} ({head['machine']}). {head.get('note', '')} "
    count += "The study is resumed by the same command; cells with few runs are to be read with care (standard error of a coverage " \
             "near .95: .031 with 50 runs, .022 with 100, .010 with 500)."
    new = old
    trained = [r for r in runs if r["plan"] != "compare"]
    new = replace(new, "targets", targets(trained, read(CHOICES)[1]))
    for name, make in (("pooled", pooled), ("cells", by_cell), ("forward", forward), ("uniform", against_uniform)):
        new = replace(new, name, make(trained))
    new = replace(new, "compare", compared([r for r in runs if r["plan"] == "compare"]))
    new = replace(new, "runs", count)
    choices = read(CHOICES)
    new = replace(new, "choice", choice(*choices))
    new = replace(new, "fixed", fixed(*choices))
    new = replace(new, "stability", stability(*choices))
    new = replace(new, "cost", cost(*choices))
    new = replace(new, "place", place(*read(PLACE)))
    new = replace(new, "splits", splits(*read(SPLITS)))
    new = replace(new, "advice", advice(*read(ADVICE)))
    new = replace(new, "real", real(*read(REAL)))
    if "--check" in sys.argv:
        return new != old
    path.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
