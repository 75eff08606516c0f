"""Exports a trace for HolisticTraceAnalysis. Arguments: trace_sample, rankscope-trace, and the subject of the
test: "structure", the fields that this package reads; "analysis", its results (status 77 if it is not installed)."""
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

sample, program, judged = sys.argv[1:4]


def check(condition, what):
    if not condition:
        print("failed:", what)
        sys.exit(1)


with tempfile.TemporaryDirectory() as folder:
    trace, out = Path(folder) / "run.mcap", Path(folder) / "hta"
    subprocess.run([sample, trace], check=True, capture_output=True)
    subprocess.run([program, "export", trace, "--format", "hta", "--obtained", "measured", "-o", out], check=True)
    files = sorted(out.glob("*.json"))
    check(len(files) > 1, "a file for each rank")
    for file in files:
        text = file.read_text()
        rank = re.search(r'"rank":\s+(\d+)', text)  # as the package finds the rank
        check(rank and file.name == f"rank-{rank.group(1)}.json", f"{file}: its rank")
        events = json.loads(text)["traceEvents"]
        kernels = [e for e in events if e["cat"] == "kernel"]
        host = {e["args"]["correlation"]: e for e in events if e["cat"] == "cpu_op"}
        check(len(kernels) > 10 and len(kernels) == len(host), f"{file}: a cpu_op for each kernel")
        for kernel in kernels:
            check(kernel["args"]["stream"] > 0, f"{file}: streams")
            check(isinstance(kernel["ts"], int) and kernel["dur"] >= 0, f"{file}: times")
            check(host[kernel["args"]["correlation"]]["name"] == kernel["args"]["op"], f"{file}: correlations")
        steps = sorted((e for e in events if e["name"].startswith("ProfilerStep#")), key=lambda e: e["ts"])
        check(steps, f"{file}: steps")
        for step, later in zip(steps, steps[1:]):
            check(step["ts"] + step["dur"] == later["ts"], f"{file}: {step['name']} ends where the next one begins")

    if judged == "structure":
        sys.exit(0)
    try:
        warnings.simplefilter("ignore")
        from hta.trace_analysis import TraceAnalysis
    except ImportError as missing:
        print(f"skipped: the Python package HolisticTraceAnalysis is not installed ({missing})")
        sys.exit(77)
    analysis = TraceAnalysis(trace_dir=str(out))
    breakdown = analysis.get_temporal_breakdown(visualize=False)
    print(breakdown)
    check(len(breakdown) == len(files), "a breakdown of each rank")
    shares = breakdown[["idle_time_pctg", "compute_time_pctg", "non_compute_time_pctg"]].sum(axis=1)
    check(((shares - 100).abs() < 0.1).all(), "the shares of a rank's time make 100 %")
    check((breakdown["compute_time_pctg"] > 0).all(), "every rank computes")
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    print(overlap)
    check(overlap["comp_comm_overlap_pctg"].between(0, 100).all(), "overlap is a share")
