#!/usr/bin/env python3
"""Measures how much slower a step is if NCCL's profiler reports the inside of its collectives: runs with and without the
profiler in interleaved pairs; compares the medians of their steps.

    gpu_nccl_profiler.py PAIRS COMMAND...     COMMAND: a `rankscope-engine run ... --json` over nccl
"""
import json
import math
import os
import random
import statistics
import subprocess
import sys

WARM_UP = 5  # steps that do not count


def step_seconds(command, plugin):
    environment = {name: value for name, value in os.environ.items() if name != "NCCL_PROFILER_PLUGIN"}
    if plugin:
        environment["NCCL_PROFILER_PLUGIN"] = plugin
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    seconds = [step["seconds"] for step in json.loads(ended.stdout)["steps"]][WARM_UP:]
    return statistics.median(seconds)


def main():
    if len(sys.argv) < 3 or not sys.argv[1].isdigit() or int(sys.argv[1]) < 2:
        sys.exit("gpu_nccl_profiler.py needs at least two pairs, and a command")
    pairs, command = int(sys.argv[1]), sys.argv[2:]
    order = random.Random(1)
    costs, heard, unheard = [], [], []
    for _ in range(pairs):
        for plugin in order.sample(["", "none"], 2):
            (unheard if plugin else heard).append(step_seconds(command, plugin))
        costs.append(heard[-1] / unheard[-1] - 1)
    mean = statistics.mean(costs)
    bound = mean + 1.645 * statistics.stdev(costs) / math.sqrt(pairs)
    print(f"{pairs} pairs: step {1e3 * statistics.median(heard):.2f} ms with the profiler, "
          f"{1e3 * statistics.median(unheard):.2f} ms without it (medians)")
    print(f"cost of NCCL's profiler: mean {100 * mean:+.2f} %, 95 % upper bound of the mean {100 * bound:+.2f} % of a step")


if __name__ == "__main__":
    main()
