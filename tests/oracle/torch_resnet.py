#!/usr/bin/env python3
"""Repeats written_run's run in fp64 with torchvision's own ResNet, micro-batch by micro-batch, with torch's SGD with
momentum. Compares the losses of all steps, the first step's gradients and the final weights; exit status 1 if one
differs by more than the tolerance."""
import sys

import torch
import torch.nn.functional as F
import torchvision
from torchvision.models.resnet import Bottleneck, ResNet

from written import judge, read_safetensors, with_prefix

STAGES = {4: [1, 1, 1, 1], 8: [2, 2, 2, 2], 16: [3, 4, 6, 3]}


def name_there(name, stages):
    """Our blocks are counted through the whole network, torchvision's within a stage."""
    if not name.startswith("block."):
        return name
    _, block, rest = name.split(".", 2)
    stage, block = 0, int(block)
    while block >= stages[stage]:
        block -= stages[stage]
        stage += 1
    return f"layer{stage + 1}.{block}.{rest}"


def turned(tensor):
    """Converts our filters [out, height, width, in] to [out, in, height, width]."""
    return tensor.permute(0, 3, 1, 2) if tensor.dim() == 4 else tensor


def turned_back(tensor):
    return tensor.permute(0, 2, 3, 1) if tensor.dim() == 4 else tensor


def train(tensors, metadata):
    """torchvision's results for the run's initial weights and images: losses, first gradients, final weights, with our
    names and in our order."""
    stages = STAGES[int(metadata["layers"])]
    image, micro_batch = int(metadata["image"]), int(metadata["micro_batch"])
    initial = with_prefix(tensors, "initial.")
    names = {name_there(name, stages): name for name in initial}
    model = ResNet(Bottleneck, stages, num_classes=int(metadata["classes"])).double()
    model.train()
    parameters = dict(model.named_parameters())
    assert names.keys() == parameters.keys(), names.keys() ^ parameters.keys()
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(turned(initial[names[name]]))
    optimizer = torch.optim.SGD(
        model.parameters(), lr=float(metadata["learning_rate"]), momentum=0.9, weight_decay=0.0
    )
    losses, gradients = [], {}
    for step in range(tensors["tokens"].shape[0]):
        optimizer.zero_grad()
        pixels = tensors["tokens"][step].double().reshape(-1, image, image, 3).permute(0, 3, 1, 2) / 127.5 - 1
        labels = tensors["targets"][step].reshape(-1).long()
        losses.append(0.0)
        for first in range(0, len(labels), micro_batch):
            part = slice(first, first + micro_batch)
            loss = F.cross_entropy(model(pixels[part]), labels[part], reduction="sum") / len(labels)
            loss.backward()
            losses[-1] += loss.item()
        if step == 0:
            gradients = {names[name]: turned_back(p.grad).clone() for name, p in parameters.items()}
        optimizer.step()
    return losses, gradients, {names[name]: turned_back(p.detach()) for name, p in parameters.items()}


def main(path):
    tensors, metadata = read_safetensors(path)
    limits = {"losses": 1e-9, "gradients": 1e-9, "weights": 1e-9}
    return judge(f"torchvision {torchvision.__version__}", tensors, train(tensors, metadata), limits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
