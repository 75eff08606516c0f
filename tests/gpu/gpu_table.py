#!/usr/bin/env python3
"""Prints one table of the results that tests/gpu.sh collected in a folder: checks, kernels compared with their limits,
steps compared with PyTorch, memory compared with its prediction, the cost of telemetry and of NCCL's profiler. The last
rows are all goals for GPUs with their measured values; only these rows name values that were not measured.

    gpu_table.py FOLDER

The exit status is 1 if a check failed, or if there are no results.
"""
import json
import os
import re
import sys


# What cuda_kernels_bench compares: fused into one kernel, or in separate kernels.
FUSED = ("MLP up with GELU", "MLP down input gradient, GELU's slope", "MLP up weight and bias gradient",
         "layer norm backward")


# Results that are failures. A checker that is too slow has found nothing, so its result is "not measured"; a plan or a
# kernel that does not end is wrong.
FAILURES = ("FAILED", "too long")


def lines_of(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return [line.rstrip("\n") for line in file if line.strip()]
    except FileNotFoundError:
        return []


def print_checks(rows):
    print(f"{'check':76} {'result':8} {'time':>7}")
    for name, result, seconds in rows:
        took = f" {int(seconds):5} s" if result in ("passed", *FAILURES) else ""
        print(f"{name:76} {result:8}{took}".rstrip())
    count = {result: sum(r[1] == result for r in rows) for result in dict.fromkeys(r[1] for r in rows)}
    print(", ".join(f"{n} {result}" for result, n in count.items()))


# Times the speed of compiled PyTorch.
GOAL = 1.1


def print_variants(ablations, batches):
    """Steps of the same model with a fast path switched off or with narrow logits, and with other batches."""
    whole = next((s for s in ablations if s.get("variant") == "none"), None)
    for s in ablations:
        if s is not whole:
            beside = f", {s['tokens_per_s'] / whole['tokens_per_s']:.3f} times with wide logits and all fast paths" if whole else ""
            print(f"{s['model']}, {s['variant']}: {s['tokens_per_s']:.0f} tokens/s{beside}")
    for s in batches:
        print(f"{s['model']}, batch {s['samples']}: {s['tokens_per_s']:.0f} tokens/s, MFU {100 * s['mfu']:.1f}%, "
              f"memory {s['memory']['used_bytes'] / 2**30:.2f} GiB")


def limits_of(step):
    """The limits that were measured with a step, such as "3.0 TB/s, 790 TFLOP/s"."""
    limits = step.get("limits")
    return f"{limits['memory_bytes'] / 1e12:.1f} TB/s, {limits['product_flops'] / 1e12:.0f} TFLOP/s" if limits else ""


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
                print(f"{model}: {s['tokens_per_s'] / peer['tokens_per_s']:.2f} times PyTorch compiled (at least {GOAL})")
        for name, c in s["classes"].items():
            print(f"{model}: {name:10} {100 * c['of_step']:5.1f}% of the step, {100 * c['of_limit']:5.1f}% of its limit")
        m = s["memory"]
        print(f"{model}: memory {m['used_bytes'] / 2**30:.2f} GiB, predicted {m['predicted_bytes'] / 2**30:.2f} GiB "
              f"({100 * m['off_by']:+.1f}%, within 5%), of it the context {mib(m, 'context')} and "
              f"workspaces {mib(m, 'workspace')}")


def mib(memory, of_class):
    predicted = memory.get(f"{of_class}_predicted_bytes")
    return (f"{memory[f'{of_class}_bytes'] / 2**20:.0f} MiB" +
            (f" (predicted {predicted / 2**20:.0f})" if predicted is not None else ""))


def of_checks(rows, begins):
    """The summary of these checks: a figure, and whether all passed; None if not all were run."""
    results = [result for name, result, _ in rows if name.startswith(begins)]
    figure = f"{results.count('passed')} of {len(results)}"
    if "FAILED" in results or ("too long" in results and begins != "compute-sanitizer"):
        return figure, False
    return figure, True if results and results.count("passed") == len(results) else None


def bound_of(lines):
    """The 95 % upper bound that a comparison of pairs has printed, in percent; None if there is none."""
    found = next((m for line in lines if (m := re.search(r"upper bound of the mean ([+-][0-9.]+) %", line))), None)
    return found[1] if found else None


def figures_of(peers, key, form):
    """The values of the peers, such as "compiled 480000/s, eager 300000/s"."""
    return ", ".join(f"{p['engine'].split()[-1]} {form(p[key])}" for p in sorted(peers, key=lambda p: p["engine"])
                     if p.get(key) is not None)


def measures_of(rows, kernels, steps, telemetry, profiler):
    """(measure, goal, figure, met, reference) of each goal for GPUs; met is None if it was not measured."""
    over_nccl = ("verify over nccl", "run over nccl")
    single = [r for r in rows if not r[0].startswith(over_nccl)]
    for measure, of, begins in (("kernels against the CPU's", single, "every op, every type"),
                                ("compute-sanitizer", single, "compute-sanitizer"),
                                ("plans against one rank", single, "verify "),
                                ("GPT-2's first step against the CPU's", single, "training, "),
                                ("a GPU for each rank, over NCCL", rows, over_nccl)):
        yield measure, "all", *of_checks(of, begins), ""
    for name in FUSED:
        found = next((m for line in kernels
                      if (m := re.match(rf"fused over apart, .*{re.escape(name)}: (.*) = ([0-9.]+)$", line))), None)
        yield (f"{name}, fused over separate", "<= 1", found[2] if found else "-",
               float(found[2]) <= 1 if found else None, f"{found[1]}: choose {'fused' if float(found[2]) <= 1 else 'apart'}" if found else "")
    for model in ("gpt2-124m", "gpt2-1.5b"):
        own = next((s for s in steps if s["model"] == model and s["engine"] == "rankscope"), None)
        peers = [s for s in steps if s["model"] == model and s["engine"].startswith("pytorch")]
        for p in peers:  # the same model: the same FLOPs per token
            if own and "mfu" in own:
                p["mfu"] = own["mfu"] * p["tokens_per_s"] / own["tokens_per_s"]
        peer = next((p for p in peers if p["engine"].endswith("compiled")), None)
        speed = own["tokens_per_s"] / peer["tokens_per_s"] if own and peer else None
        beside = [f"{own['tokens_per_s']:.0f}/s"] if own else []
        beside += [of_peers] if (of_peers := figures_of(peers, "tokens_per_s", lambda n: f"{n:.0f}/s")) else []
        yield (f"{model}: tokens/s over PyTorch compiled's", f">= {GOAL}", "-" if speed is None else f"{speed:.2f}",
               None if speed is None else speed >= GOAL, "; ".join(beside))
        mfu = own.get("mfu") if own else None
        yield (f"{model}: MFU", "printed", "-" if mfu is None else f"{100 * mfu:.1f}%", None if mfu is None else True,
               figures_of(peers, "mfu", lambda n: f"{100 * n:.1f}%"))
        off_by = own["memory"]["off_by"] if own else None
        yield (f"{model}: peak memory compared with its prediction", "within 5%",
               "-" if off_by is None else f"{100 * off_by:+.1f}%", None if off_by is None else abs(off_by) <= 0.05,
               "" if own is None else f"{own['memory']['predicted_bytes'] / 2**30:.2f} GiB predicted")
        for of_class in ("attention", "products", "optimizer"):
            share = own["classes"].get(of_class, {}).get("of_limit") if own else None
            yield (f"{model}: {of_class}, share of its limit", "printed",
                   "-" if share is None else f"{100 * share:.1f}%", None if share is None else True,
                   "" if share is None else limits_of(own))
    for measure, lines in (("telemetry's cost, 95 % upper bound", telemetry),
                           ("NCCL's profiler, 95 % upper bound of its cost", profiler)):
        bound = bound_of(lines)
        yield measure, "< 1 %", "-" if bound is None else f"{bound} %", None if bound is None else float(bound) < 1, ""


def print_measures(measures):
    print(f"\n{'measure':56}{'goal':>10}{'measured':>12}  {'':14}reference")
    for measure, goal, figure, met, beside in measures:
        verdict = "not measured" if met is None else "met" if met else "MISSED"
        print(f"{measure:56}{goal:>10}{figure:>12}  {verdict:14}{beside}".rstrip())


def main(folder):
    rows = [line.split("\t") for line in lines_of(folder, "rows.tsv")]
    if not rows:
        sys.exit(f"gpu_table.py: {folder} contains no results")
    print("GPU: " + ("".join(lines_of(folder, "machine.txt")[:1]) or "unknown"))
    for line in lines_of(folder, "libraries.txt"):
        print(line)
    print()
    print_checks(rows)
    kernels = lines_of(folder, "kernels.txt")
    for line in ["", *kernels] if kernels else []:
        print(line)
    steps = [json.loads(line) for line in lines_of(folder, "speed.jsonl") if line.startswith("{")]
    if steps:
        print_steps(steps)
    variants = [[json.loads(line) for line in lines_of(folder, name) if line.startswith("{")]
                for name in ("ablations.jsonl", "batches.jsonl")]
    print_variants(*variants)
    telemetry = [line for line in lines_of(folder, "telemetry.txt") if "cost of telemetry" in line]
    profiler = [line for line in lines_of(folder, "nccl-profiler.txt") if "cost of NCCL's profiler" in line]
    for line in telemetry + profiler:
        print(f"\n{line} (under 1 %)")
    print_measures(measures_of(rows, kernels, steps, telemetry, profiler))
    return int(any(result in (*FAILURES, "not built") for _, result, _ in rows))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("gpu_table.py needs one folder of results")
    sys.exit(main(sys.argv[1]))
