#!/usr/bin/env python3
"""The goals that were set for Top-K, held against what bench/topk_page measured: the last table of docs/benchmark-topk.md.

    usage: bench/topk_goals.py [--into PAGE] [DATA]     (default data/bench)

A median counts as met when the 95 % confidence range of the true one ends below the goal, as missed when it begins above,
and as not decided in between.
"""

import argparse
import json
import pathlib

from topk_markdown import place


def per_query(name):
    return lambda run: run["candidate_sum"]["metrics"].get(name, 0) / run["candidate_sum"]["queries"]


def exactly(value, goal):
    return f"{value:.4g}", "yes" if value <= goal else "**no**"


def median(measure):
    def judge(run, goal):
        spread = run["ratios"][measure]
        text = f"{spread['median']:.3f}"
        if "low" not in spread:
            return text, "yes" if spread["median"] <= goal else "**no**"
        met = "yes" if spread["high"] <= goal else "**no**" if spread["low"] > goal else "not decided"
        return f"{text} ({spread['low']:.3f}–{spread['high']:.3f})", met

    return judge


def scanned(run, goal):
    return exactly(per_query("bytes_scanned")(run) / run["bytes_there"], goal)


def row_groups(run, goal):
    return exactly(per_query("row_groups_read")(run), goal)


def effective(run, _):
    candidate = run["candidate_sum"]
    text = f"{candidate['effective']} of {candidate['queries']}"
    if candidate["effective"] == candidate["queries"]:
        return text, "yes"
    alone = run["baseline_sum"]
    if alone["least"] == alone["queries"]:
        return f"{text}: without sharing, too, all {alone['queries']} read only what the answer needs", "cannot be"
    return text, "**no**"


# file, case, what is measured, goal as written, goal, how it is judged
GOALS = [
    ("turns", "pruning/2", "scanned", "≤ 0.04", 0.04, scanned),
    ("turns", "pruning/8", "scanned", "≤ 0.04", 0.04, scanned),
    ("turns", "overlap/2", "time", "≤ 0.25", 0.25, median("time")),
    ("turns", "overlap/2", "CPU", "≤ 0.15", 0.15, median("cpu")),
    ("turns", "overlap/2", "bytes", "≤ 0.10", 0.10, median("bytes")),
    ("turns", "overlap/8", "time", "≤ 0.15", 0.15, median("time")),
    ("turns", "overlap/8", "CPU", "≤ 0.12", 0.12, median("cpu")),
    ("turns", "overlap/8", "bytes", "≤ 0.08", 0.08, median("bytes")),
    ("control", "control/2", "time", "≤ 1.01", 1.01, median("time")),
    ("control", "control/2", "CPU", "≤ 1.005", 1.005, median("cpu")),
    ("control", "control/8", "time", "≤ 1.01", 1.01, median("time")),
    ("control", "control/8", "CPU", "≤ 1.01", 1.01, median("cpu")),
    ("turns", "overlap/2", "effective queries", "all", None, effective),
    ("turns", "overlap/8", "effective queries", "all", None, effective),
    ("turns", "pruning/2", "effective queries", "all", None, effective),
    ("turns", "pruning/8", "effective queries", "all", None, effective),
    ("source", "split/2", "effective queries, sharing by itself", "all", None, effective),
    ("source", "split/8", "effective queries, sharing by itself", "all", None, effective),
    ("source", "staggered/2", "effective queries, sharing by itself", "all", None, effective),
    ("source", "staggered/8", "effective queries, sharing by itself", "all", None, effective),
    ("turns", "rising/2", "row groups read", "2", 2, row_groups),
    ("turns", "rising/8", "row groups read", "8", 8, row_groups),
    ("turns", "loop/2", "time to a plain C loop", "≤ 2", 2, median("time")),
    ("turns", "loop/8", "time to a plain C loop", "≤ 2", 2, median("time")),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("data", type=pathlib.Path, nargs="?", default=pathlib.Path("data/bench"))
    options = parser.parse_args()
    runs = {}
    for name in {goal[0] for goal in GOALS}:
        for run in json.loads((options.data / f"{name}.json").read_text(encoding="utf-8"))["comparisons"]:
            runs[name, run["case"]] = run
    lines = ["| case | measure | goal | measured | met |", "| --- | --- | --- | --- | --- |"]
    for file, case, measure, written, goal, judge in GOALS:
        measured, met = judge(runs[file, case], goal)
        lines.append(f"| {case} | {measure} | {written} | {measured} | {met} |")
    text = "\n".join(lines)
    if options.into is None:
        print(text)
    else:
        options.into.write_text(place(options.into.read_text(encoding="utf-8"), "goals", text), encoding="utf-8")


if __name__ == "__main__":
    main()
