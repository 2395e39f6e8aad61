#!/usr/bin/env python3
"""Writes the two tables of docs/guide/replay.md that stand for measurements: what agents return, from
experiments/results, and which targets of speed are met, from bench/results/replay.jsonl.

  scripts/replay_page.py           writes the tables
  scripts/replay_page.py --check   fails where they are not what the results give
"""
import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide/replay.md"
RETURNS = ("atari-long-full", "atari-long-quick", "atari-quick")  # the longest runs first
GAMES, SAMPLERS = ("breakout", "pong"), ("uniform", "routed", "fifth")


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def spread(values):
    mean = f"{statistics.mean(values):.1f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values):.1f}"


def scale_of(game):
    """Random play and the written player, as docs/results.md gives them."""
    for line in (ROOT / "docs/results.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "random play" in cells and "written player" in cells:
            header = cells
        elif cells[0] == game and len(cells) > 8:
            return cells[header.index("random play")], cells[header.index("written player")]
    return "–", "–"


def returns():
    for name in RETURNS:
        path = ROOT / f"experiments/results/{name}.jsonl"
        runs = lines_of(path) if path.exists() else []
        found = {(run["parameters"]["game"], run["parameters"]["sampler"]): [] for run in runs}
        for run in runs:
            found[run["parameters"]["game"], run["parameters"]["sampler"]].append(run["values"]["return"])
        if all(found.get((game, "uniform")) for game in GAMES):
            break
    steps = runs[0]["parameters"]["steps"]
    out = [f"Returns after {steps:,} steps with a gradient step each, five heads, the mean of 40 games a run (`specroute reproduce "
           f"{name.rsplit('-', 1)[0]}`, {name.rsplit('-', 1)[1]} scale), mean and sd over runs with other seeds:", "",
           "| game | " + " | ".join(f"{s} (runs)" for s in SAMPLERS) + " | random play | written player |",
           "|---|" + "---:|" * (len(SAMPLERS) + 2)]
    for game in GAMES:
        cells = []
        for sampler in SAMPLERS:
            values = found.get((game, sampler), [])
            cells.append(f"{spread(values)} ({len(values)})" if values else "–")
        out.append(f"| {game} | " + " | ".join([*cells, *scale_of(game)]) + " |")
    return out


def target(name, measured, least=None, most=None, unit=""):
    met = measured >= least if least is not None else measured <= most
    bound = f"at least {least:g}{unit}" if least is not None else f"at most {most:g}{unit}"
    return f"| {name} | {bound} | {measured:.3g}{unit} | {'met' if met else '**missed**'} |"


def targets():
    head, *rows = lines_of(ROOT / "bench/results/replay.jsonl")
    case = {row["case"]: row for row in rows if row["case"] not in ("game", "sampler")}
    sampler = {row["sampler"]: row for row in rows if row["case"] == "sampler"}
    games = {row["game"]: row["with_bytes"] for row in rows if row["case"] == "game"}
    slowest = min(games, key=games.get)
    out = [f"Recorded at {head['commit']}, {head['machine']}, level {head['isa']}, load {head['load']}; times over PyTorch's are ratios of "
           "processor time, taken in turn:", "", "| what | target | recorded | |", "|---|---|---:|---|",
           target("gradient step, Nature net, batch 32, times PyTorch's speed", case["nature"]["ratio"], least=1.7)]
    for name, words in (("grid 4 3 90", "4 channels, 9 % ones"), ("grid 8 6 30", "8 channels, 3 % ones"),
                        ("grid 8 6 150", "8 channels, 15 % ones")):
        out.append(target(f"gradient step, grid net, {words}", case[name]["ratio"], least=6))
    out += [target("whole loop, Atari Breakout", case["loop ale:breakout"]["ratio"], least=1.8),
            target("whole loop, grid Breakout", case["loop breakout"]["ratio"], least=7),
            target("a step with `per` over one with `uniform`", sampler["per"]["over_uniform"], most=1.1),
            target(f"million steps a second of the slowest grid game with its picture ({slowest})", games[slowest] / 1e6, least=10)]
    if "round trip" in case:
        out.append(target("round trip to the emulator's process, median", case["round trip"]["us_median"], most=12, unit=" us"))
    return out


def filled(text, name, lines):
    begin, end = f"<!-- {name}: scripts/replay_page.py -->\n", f"<!-- end of {name} -->\n"
    before, rest = text.split(begin)
    return before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end)[1]


def main(check):
    text = PAGE.read_text(encoding="utf-8")
    new = filled(filled(text, "returns", returns()), "targets", targets())
    if not check:
        PAGE.write_text(new, encoding="utf-8")
    elif new != text:
        sys.exit("docs/guide/replay.md is not what the results give: run scripts/replay_page.py")
    else:
        print("docs/guide/replay.md is up to date")


if __name__ == "__main__":
    main(sys.argv[1:] == ["--check"])
