#!/usr/bin/env python3
"""The scripts of `rankscope-engine export-torch`: torch_scripts.py compile|run|write ENGINE.

  compile   Without PyTorch: scripts of many plans are Python, and the engine's losses of some labs are those that these
            labs' scripts printed once (references/torch-scripts.json), with the code that they have now.
  run       With it: these scripts again by torchrun over gloo, beside the engine.
  write     Runs them and writes the reference. To be done again when a script's code, the data or the weights change.
"""
import hashlib
import io
import json
import pathlib
import py_compile
import re
import subprocess
import sys
import tempfile
import tokenize

HERE = pathlib.Path(__file__).resolve().parent
LABS = HERE.parent.parent / "scenarios" / "labs"
REFERENCE = HERE / "references" / "torch-scripts.json"
STEPS, LIMIT = 10, 1e-4  # of a loss in nats
# A lab, or after a space what it is changed to: ranks, keys.
TRAINED = {"data-parallel": (4, []), "pipeline-1f1b": (4, []), "tensor-parallel": (4, []),
           "pipeline-1f1b llama": (4, ["model.kind=llama", "model.key_value_heads=2"])}
WRITTEN = [
    ("walls", []), ("walls", ["plan.micro_batches=2", "model.tied=false", "plan.precision=fp64"]),
    ("optimizers", []), ("optimizers", ["train.optimizer=radam"]), ("recomputation", []), ("whole-run", []),
    ("data-parallel", ["plan.micro_batches=2"]), ("zero", []), ("zero", ["plan.zero=2"]), ("zero", ["plan.zero=1"]),
    ("pipeline-gpipe", []), ("pipeline-naive", []), ("pipeline-interleaved", ["plan.data=2"]), ("grid", []),
    ("grid", ["model.tied=false", "train.clip=0"]), ("walls", ["model.kind=llama", "model.key_value_heads=2"]),
    ("pipeline-1f1b", ["model.kind=llama", "model.tied=false"]), ("zero", ["model.kind=llama"]), ("tensor-parallel", ["plan.data=2", "plan.zero=3"]),
]


def settings(keys):
    return [word for key in keys for word in ("--set", key)]


def exported(engine, lab, keys, folder):
    """The script of a lab, in a file."""
    path = pathlib.Path(folder) / f"{lab}.py"
    subprocess.run([engine, "export-torch", LABS / f"{lab}.toml", "-o", path, *settings(keys)], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def trained_script(engine, name, folder):
    return exported(engine, name.split()[0], [f"train.steps={STEPS}", *TRAINED[name][1]], folder)


def engine_losses(engine, name):
    keys = [f"train.steps={STEPS}", *TRAINED[name][1]]
    command = [engine, "run", LABS / f"{name.split()[0]}.toml", *settings(keys), "--json"]
    report = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [step["loss"] for step in json.loads(report)["steps"]]


def torch_losses(script, ranks):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), script]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        sys.exit(f"{script.name} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return [float(loss) for loss in re.findall(r"^step +\d+ +loss (\S+)$", ended.stdout, re.MULTILINE)]


def code_of(script):
    """A digest of the code without its comments, docstrings and white space."""
    left = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.ENCODING}
    words = [token.string for token in tokenize.tokenize(io.BytesIO(script.read_bytes()).readline)
             if token.type not in left and not token.string.startswith('"""')]
    return hashlib.sha256("".join(words).encode()).hexdigest()


def agree(lab, ours, theirs):
    """Prints how far they are from each other; returns whether that is within the limit."""
    if len(ours) != STEPS or len(theirs) != STEPS:
        print(f"{lab}: {len(ours)} losses of the engine and {len(theirs)} of PyTorch; there must be {STEPS}")
        return False
    worst = max(abs(a - b) if a == a and b == b else float("inf") for a, b in zip(ours, theirs))
    print(f"{lab}: {STEPS} losses within {worst:.1e} nats (limit {LIMIT:.0e}), the last {ours[-1]:.6f} and {theirs[-1]:.6f}")
    return worst < LIMIT


def check_written(engine, folder):
    for lab, keys in WRITTEN:
        py_compile.compile(exported(engine, lab, keys, folder), doraise=True)
    print(f"{len(WRITTEN)} scripts are Python")
    reference, good = json.loads(REFERENCE.read_text()), True
    for lab in TRAINED:
        script = trained_script(engine, lab, folder)
        py_compile.compile(script, doraise=True)
        if code_of(script) != reference["scripts"][lab]["code"]:
            print(f"{lab}: PyTorch has not run this code; do it, by `torch_scripts.py write ENGINE`")
            good = False
        good &= agree(lab, engine_losses(engine, lab), reference["scripts"][lab]["losses"])
    return good


def check_run(engine, folder):
    import torch

    print(f"PyTorch {torch.__version__}")
    return all([agree(lab, engine_losses(engine, lab),
                      torch_losses(trained_script(engine, lab, folder), ranks))
                for lab, (ranks, _) in TRAINED.items()])


def write(engine, folder):
    import platform

    import numpy
    import torch

    scripts = {}
    for lab, (ranks, _) in TRAINED.items():
        script = trained_script(engine, lab, folder)
        losses = torch_losses(script, ranks)
        if not agree(lab, engine_losses(engine, lab), losses):
            sys.exit(f"{lab}: the engine differs from PyTorch now: no reference is written")
        scripts[lab] = {"code": code_of(script), "losses": losses}
    made_by = {"script": "tests/oracle/torch_scripts.py", "python": platform.python_version(),
               "torch": torch.__version__, "numpy": numpy.__version__}
    REFERENCE.write_text(json.dumps({"made_by": made_by, "steps": STEPS, "scripts": scripts}, indent=1) + "\n")
    return True


def main():
    modes = {"compile": check_written, "run": check_run, "write": write}
    if len(sys.argv) != 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        return 0 if modes[sys.argv[1]](str(pathlib.Path(sys.argv[2]).resolve()), folder) else 1


if __name__ == "__main__":
    sys.exit(main())
