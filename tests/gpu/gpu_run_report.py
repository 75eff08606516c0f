#!/usr/bin/env python3
"""Checks the report of `rankscope-engine run --device cuda --json` on standard input: its steps were executed, and it
contains every value that a run on a GPU can report.

    gpu_run_report.py < report.json

Prints a summary in one line. If values are missing or impossible, prints one line for each; the exit status is then 1.
"""
import json
import math
import sys


def is_positive(x):
    return isinstance(x, (int, float)) and math.isfinite(x) and x > 0


def complaints_about(report):
    if report["obtained"] not in ("measured", "emulated"):
        yield f"it is {report['obtained']}, neither measured nor emulated"
    if not is_positive(report["mfu"]) or report["mfu"] > 1:
        yield f"MFU is {report['mfu']}"
    if not is_positive(report["step_seconds"]):
        yield f"a step takes {report['step_seconds']} s"
    if not report["steps"]:
        yield "there are no steps"
    for step in report["steps"]:
        if not is_positive(step["loss"]):
            yield f"the loss of step {step['step']} is {step['loss']}"
    if len(report["memory"]) != report["ranks"]:
        yield f"{len(report['memory'])} of {report['ranks']} ranks report their memory"
    for rank in report["memory"]:
        for of_class in ("parameters", "gradients", "optimizer", "activations", "peak"):
            if not is_positive(rank.get(of_class)):
                yield f"rank {rank['rank']}'s {of_class} take {rank.get(of_class)} bytes"
    if not any(is_positive(rank["context"]) for rank in report["memory"]):
        yield "the driver's context takes no memory, but on a GPU it does"


def main():
    report = json.load(sys.stdin)
    peak = max((rank["peak"] for rank in report["memory"]), default=0)
    context = max((rank["context"] for rank in report["memory"]), default=0)
    print(f"{report['obtained']} on the {report['clock']} clock: {len(report['steps'])} steps of {report['step_seconds']} s, "
          f"MFU {report['mfu']}, {peak} bytes at a rank's peak, of them {context} the context's")
    complaints = list(complaints_about(report))
    for complaint in complaints:
        print(f"gpu_run_report.py: {complaint}", file=sys.stderr)
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
