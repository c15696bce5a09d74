#!/usr/bin/env python3
"""The JSON of `kith bench topk --json FILE` as the tables of docs/benchmark-topk.md.

    usage: bench/topk_markdown.py FILE
"""

import json
import statistics
import sys


def ratio(comparison, measure):
    values = comparison["ratios"][measure]
    return f"{values['median']:.3f} [{values['least']:.3f}–{values['most']:.3f}]"


def milliseconds(comparison, measure):
    sides = (comparison[f"{side}_blocks"] for side in ("candidate", "baseline"))
    return " / ".join(f"{statistics.median(block[measure] for block in blocks):.1f}" for blocks in sides)


def line(comparison):
    blocks = comparison["candidate_blocks"]
    queries = sum(block["queries"] for block in blocks)

    def metric(name):
        return sum(block["metrics"].get(name, 0) for block in blocks) / queries

    bounds = sum(block["bounds"]["reported"] + block["bounds"]["sent"] for block in blocks) / queries
    cells = [
        comparison["case"],
        comparison["baseline"],
        milliseconds(comparison, "collect_ms"),
        ratio(comparison, "time"),
        milliseconds(comparison, "cpu_ms"),
        ratio(comparison, "cpu"),
        f"{comparison['ratios']['bytes']['median']:.3f}",
        f"{metric('bytes_scanned') / comparison['bytes_there']:.4f}",
        f"{metric('row_groups_read'):.1f} of {comparison['row_groups_there']}",
        f"{sum(block['effective'] for block in blocks)}/{queries}",
        f"{bounds:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    print("| case | all against | ms | time | CPU ms | CPU | bytes | scanned | row groups | effective | messages |")
    print("| --- " * 11 + "|")
    for comparison in run["comparisons"]:
        print(line(comparison))


if __name__ == "__main__":
    main()
