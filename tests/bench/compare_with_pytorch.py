#!/usr/bin/env python3
"""Runs step_speed and peer_pytorch.py in turn, for several rounds, and prints the ratio of our speed to PyTorch's.

    compare_with_pytorch.py BUILD/bin/step_speed [--rounds 5] [--threads 1,2] [--seconds 2] [--clock wall|cpu]

PyTorch has two ways to compute in bf16; the faster one counts in each round. Needs python3-torch.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess


def lines_of(command, environment=None):
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return [json.loads(line) for line in output.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step_speed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", default="2")
    parser.add_argument("--clock", default="wall")
    arguments = parser.parse_args()
    peer = pathlib.Path(__file__).with_name("peer_pytorch.py")
    common = ["--seconds", arguments.seconds, "--clock", arguments.clock]

    speeds = {}  # (threads, type) -> list of (ours, theirs) in tokens/s
    for _ in range(arguments.rounds):
        for threads in arguments.threads.split(","):
            ours = lines_of([arguments.step_speed, "--json", "--threads", threads] + common)
            # Debian's PyTorch multiplies fp32 with the system's BLAS, which has its own number of threads.
            environment = dict(os.environ, OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
            theirs = lines_of(["/usr/bin/python3", str(peer), "--threads", threads] + common, environment)
            for line in ours:
                rival = max((t for t in theirs if t["type"].startswith(line["type"])), key=lambda t: t["tokens_per_s"])
                speeds.setdefault((threads, line["type"]), []).append((line, rival))

    print(f"{'':14}{'rankscope':>12}{'pytorch':>12}{'':4}{'ratio, median (least, greatest)':32}")
    for (threads, kind), pairs in sorted(speeds.items()):
        ratios = [a["tokens_per_s"] / b["tokens_per_s"] for a, b in pairs]
        ours = statistics.median(a["tokens_per_s"] for a, _ in pairs)
        theirs = statistics.median(b["tokens_per_s"] for _, b in pairs)
        print(f"{kind:5}{threads:>2} thread{'s' if threads != '1' else ' '}{ours:10.0f} tokens/s{theirs:8.0f}"
              f"    {statistics.median(ratios):6.2f} ({min(ratios):.2f}, {max(ratios):.2f})"
              f"   {pairs[-1][1]['type']}")


if __name__ == "__main__":
    main()
