#!/usr/bin/env python3
"""Prints the one table of what tests/gpu.sh has gathered in a folder: checks, kernels beside their limits, steps beside
PyTorch's, memory beside its prediction, the cost of telemetry. What was not measured is not in it.

    gpu_table.py FOLDER

The exit status is 1 when a check failed, or there is nothing.
"""
import json
import os
import sys


def lines_of(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return [line.rstrip("\n") for line in file if line.strip()]
    except FileNotFoundError:
        return []


def print_checks(rows):
    print(f"{'check':76} {'result':8} {'time':>7}")
    for name, result, seconds in rows:
        took = f" {int(seconds):5} s" if result in ("passed", "FAILED") else ""
        print(f"{name:76} {result:8}{took}".rstrip())
    count = {result: sum(r[1] == result for r in rows) for result in dict.fromkeys(r[1] for r in rows)}
    print(", ".join(f"{n} {result}" for result, n in count.items()))


def print_steps(steps):
    print(f"\n{'model':12}{'engine':26}{'step':>12}{'tokens/s':>11}{'MFU':>8}")
    for s in steps:
        mfu = f"{100 * s['mfu']:7.1f}%" if "mfu" in s else ""
        print(f"{s['model']:12}{s['engine'][:25]:26}{1e3 * s['step_seconds']:9.2f} ms{s['tokens_per_s']:11.0f}{mfu:>8}")
    for s in steps:
        if s["engine"] != "rankscope":
            continue
        model = s["model"]
        for peer in steps:
            if peer["model"] == model and peer["engine"].startswith("pytorch") and peer["engine"].endswith("compiled"):
                print(f"{model}: {s['tokens_per_s'] / peer['tokens_per_s']:.2f} times PyTorch compiled (at least 1)")
        for name, c in s["classes"].items():
            print(f"{model}: {name:10} {100 * c['of_step']:5.1f}% of the step, {100 * c['of_limit']:5.1f}% of its limit")
        m = s["memory"]
        print(f"{model}: memory {m['used_bytes'] / 2**30:.2f} GiB, predicted {m['predicted_bytes'] / 2**30:.2f} GiB "
              f"({100 * m['off_by']:+.1f}%, within 5%), of it the context {m['context_bytes'] / 2**20:.0f} MiB and "
              f"workspaces {m['workspace_bytes'] / 2**20:.0f} MiB")


def main(folder):
    rows = [line.split("\t") for line in lines_of(folder, "rows.tsv")]
    if not rows:
        sys.exit(f"gpu_table.py: nothing has been gathered in {folder}")
    print("GPU: " + ("".join(lines_of(folder, "machine.txt")[:1]) or "unknown") + "\n")
    print_checks(rows)
    for line in ["", *kernels] if (kernels := lines_of(folder, "kernels.txt")) else []:
        print(line)
    steps = [json.loads(line) for line in lines_of(folder, "speed.jsonl") if line.startswith("{")]
    if steps:
        print_steps(steps)
    for line in lines_of(folder, "telemetry.txt"):
        if "cost of telemetry" in line:
            print(f"\n{line} (under 1 %)")
    return int(any(result == "FAILED" for _, result, _ in rows))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("gpu_table.py wants one folder of results")
    sys.exit(main(sys.argv[1]))
