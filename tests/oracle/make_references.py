#!/usr/bin/env python3
"""make_references.py ENGINE WRITTEN_RUN: writes references/*.json. references_test.cpp compares the engine with them if
PyTorch is not installed. Needs torch, torchvision, transformers and numpy; the versions are in the files. Run it again
when the initial weights, the data or a scenario of this folder have changed:

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install torch torchvision transformers numpy
    /tmp/oracle/bin/python tests/oracle/make_references.py build/ci/bin/rankscope-engine build/ci/bin/written_run
"""
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision
import transformers
from transformers import AutoModelForCausalLM

import torch_gpt
import torch_llama
import torch_paths
import torch_resnet
from written import judge, read_safetensors, with_prefix

HERE = pathlib.Path(__file__).resolve().parent
SUMS = 8
EVERY = 20  # one in this many points of a path is stored
LIMITS = {"losses": 1e-9, "gradients": 1e-9, "weights": 1e-9}
LLAMA_UNTIED = ["model.tied=false", "model.key_value_heads=4", "plan.micro_batches=2"]
VERSIONS = {
    "script": "tests/oracle/make_references.py",
    "python": platform.python_version(),
    "torch": torch.__version__,
    "torchvision": torchvision.__version__,
    "transformers": transformers.__version__,
}


def fingerprint(tensor):
    """As fingerprint.cpp computes it."""
    values = tensor.detach().double().contiguous().reshape(-1).numpy()
    with numpy.errstate(over="ignore"):
        bits = numpy.arange(len(values), dtype=numpy.uint64) + numpy.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        bits = bits ^ (bits >> numpy.uint64(31))
    sums = []
    for k in range(SUMS):
        negative = ((bits >> numpy.uint64(k)) & numpy.uint64(1)).astype(bool)
        sums.append(float(numpy.where(negative, -values, values).sum()))
    return {"elements": len(values), "norm": float(numpy.linalg.norm(values)), "sums": sums}


def fingerprints(tensors, view=lambda name, tensor: tensor):
    return {name: fingerprint(view(name, tensor)) for name, tensor in sorted(tensors.items())}


def write(name, content):
    path = HERE / "references" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"made_by": VERSIONS, **content}, indent=1) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


def written(program, scenario, overrides, folder):
    path = folder / "run.safetensors"
    subprocess.run([program, HERE / scenario, path, *overrides], check=True)
    return read_safetensors(path)


def write_run(name, program, oracle, scenario, overrides, folder, view=lambda name, tensor: tensor):
    tensors, metadata = written(program, scenario, overrides, folder)
    trained = oracle.train(tensors, metadata)
    if judge(name, tensors, trained, LIMITS, view) != 0:
        sys.exit(f"{name}: the engine differs from the oracle now: no reference is written")
    losses, gradients, weights = trained
    given = {"tokens": tensors["tokens"], "targets": tensors["targets"], **with_prefix(tensors, "initial.")}
    write(name, {
        "scenario": scenario, "overrides": overrides, "losses": losses, "given": fingerprints(given),
        "gradients": fingerprints(gradients, view), "weights": fingerprints(weights, view),
    })


def write_exported(name, engine, scenario, overrides, folder):
    """An exported model as transformers read it: its tensors, and its losses on the run's first tokens."""
    settings = [word for key in overrides for word in ("--set", key)]
    subprocess.run([engine, "run", HERE / scenario, "--checkpoint", folder / f"{name}-checkpoints", "--checkpoint-every",
                    "20", *settings], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([engine, "export", folder / f"{name}-checkpoints", folder / name], check=True)
    model, told = AutoModelForCausalLM.from_pretrained(folder / name, output_loading_info=True, dtype=torch.float64)
    wrong = {what: names for what, names in told.items() if names}
    if wrong:
        sys.exit(f"{name}: {wrong}")
    exported, _ = read_safetensors(folder / name / "model.safetensors")
    state = model.state_dict()
    for key, tensor in exported.items():
        assert torch.equal(state[key if key in state else "transformer." + key].double(), tensor.double()), key
    write(name, {"scenario": scenario, "overrides": overrides, "tensors": {
        key: {"shape": list(tensor.shape), **fingerprint(tensor)} for key, tensor in sorted(exported.items())}})


def write_paths():
    paths = []
    for surface, optimizer, settings, make in torch_paths.cases():
        start, path = torch_paths.engine_path(sys.argv[1], surface, optimizer, settings)
        points, losses = torch_paths.torch_path(surface, make, path["rate"], start)
        paths.append({
            "surface": surface, "optimizer": optimizer, "settings": settings, "rate": path["rate"],
            "x": [x for x, _ in points[::EVERY]], "y": [y for _, y in points[::EVERY]], "losses": losses[::EVERY],
        })
    write("paths", {"steps": torch_paths.STEPS, "every": EVERY, "paths": paths})


def main():
    engine, program = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bias = torch_gpt.without_key_bias
        write_run("gpt", program, torch_gpt, "gpt.toml", ["plan.micro_batches=1"], folder, bias)
        write_run("gpt-untied", program, torch_gpt, "gpt.toml", ["model.tied=false", "plan.micro_batches=2"], folder, bias)
        write_run("llama", program, torch_llama, "llama.toml", ["plan.micro_batches=1"], folder)
        write_run("llama-untied", program, torch_llama, "llama.toml", LLAMA_UNTIED, folder)
        write_run("resnet", program, torch_resnet, "resnet.toml", ["plan.micro_batches=1"], folder)
        write_run("resnet-micro-batches-of-2", program, torch_resnet, "resnet.toml", ["plan.micro_batches=4"], folder)
        write_exported("hugging-face", engine, "gpt.toml", ["plan.micro_batches=2"], folder)
        write_exported("hugging-face-untied", engine, "gpt.toml", ["model.tied=false", "plan.micro_batches=2"], folder)
        write_exported("hugging-face-llama", engine, "llama.toml", ["plan.micro_batches=2"], folder)
    write_paths()


if __name__ == "__main__":
    main()
