#!/usr/bin/env python3
"""torch_paths.py ENGINE: compares the engine's paths on surfaces with PyTorch's optimizers, in fp64, point by point.

The surfaces are defined here a second time, and autograd computes their gradients.
"""
import json
import subprocess
import sys

import torch

from comparison import LargestError, list_error

STEPS, TOLERANCE = 200, 1e-10

SURFACES = {
    "ravine": lambda x, y: 0.5 * (x ** 2 + 20 * y ** 2),
    "saddle": lambda x, y: x ** 2 - y ** 2 + 0.5 * y ** 4,
    "rosenbrock": lambda x, y: (1 - x) ** 2 + 100 * (y - x ** 2) ** 2,
    "beale": lambda x, y: (1.5 - x + x * y) ** 2 + (2.25 - x + x * y ** 2) ** 2 + (2.625 - x + x * y ** 3) ** 2,
}

# Settings as --set gives them to the engine, and the same for PyTorch.
CASES = [
    ("sgd", [], lambda p, r: torch.optim.SGD(p, lr=r)),
    ("momentum", [], lambda p, r: torch.optim.SGD(p, lr=r, momentum=0.9)),
    ("momentum", ["momentum=0.8", "nesterov=true"], lambda p, r: torch.optim.SGD(p, lr=r, momentum=0.8, nesterov=True)),
    ("adagrad", [], lambda p, r: torch.optim.Adagrad(p, lr=r)),
    ("adam", [], lambda p, r: torch.optim.Adam(p, lr=r)),
    ("adam", ["beta1=0.8", "beta2=0.99"], lambda p, r: torch.optim.Adam(p, lr=r, betas=(0.8, 0.99))),
    ("adamw", ["weight_decay=0.1"], lambda p, r: torch.optim.AdamW(p, lr=r, weight_decay=0.1)),
    ("radam", [], lambda p, r: torch.optim.RAdam(p, lr=r)),
]


def engine_path(engine, surface, optimizer, settings):
    command = [engine, "paths", surface, "--optimizer", optimizer, "--steps", str(STEPS), "--json"]
    for setting in settings:
        command += ["--set", setting]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told["start"], told["paths"][0]


def torch_path(surface, make, rate, start):
    point = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer, points, losses = make([point], rate), [], []
    for step in range(STEPS + 1):
        optimizer.zero_grad()
        loss = SURFACES[surface](point[0], point[1])
        points.append(point.detach().tolist())
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
    return points, losses


def cases():
    """(surface, optimizer, settings, function that creates PyTorch's optimizer) of every path."""
    return [(surface, *case) for surface in SURFACES for case in CASES]


def main():
    worst = LargestError()
    for surface, optimizer, settings, make in cases():
        start, path = engine_path(sys.argv[1], surface, optimizer, settings)
        points, losses = torch_path(surface, make, path["rate"], start)
        errors = [
            list_error([number for point in zip(path["x"], path["y"]) for number in point],
                       [number for point in points for number in point]),
            list_error(path["losses"], losses),
        ]
        print(f"{surface:11} {optimizer:9} {' '.join(settings):27} {errors[0]:.1e} {errors[1]:.1e}")
        for error in errors:
            worst.add(error, f"{surface}, {optimizer} {' '.join(settings)}")
    print(f"{worst.count // 2} paths of {STEPS} steps, at most {worst} apart (limit {TOLERANCE:.0e})")
    return 0 if worst.count == 2 * len(SURFACES) * len(CASES) and worst.value < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
