#!/usr/bin/env python3
"""The run that written_run wrote down, done again in fp64 by torchvision's own ResNet, micro-batch by micro-batch, with
torch's SGD with momentum. Compares the losses of all steps, the first step's gradients and the weights at the end; exit
status 1 when one is further off than the tolerance."""
import sys

import torch
import torch.nn.functional as F
import torchvision
from torchvision.models.resnet import Bottleneck, ResNet

from written import distance, read_safetensors, with_prefix

TOLERANCE = 1e-9  # relative: of a loss to itself, of a tensor by Frobenius norms
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
    """Filters [out, height, width, in], as ours have them, to [out, in, height, width]."""
    return tensor.permute(0, 3, 1, 2) if tensor.dim() == 4 else tensor


def main(path):
    tensors, metadata = read_safetensors(path)
    stages = STAGES[int(metadata["layers"])]
    image, micro_batch = int(metadata["image"]), int(metadata["micro_batch"])

    def translated(prefix):
        return {name_there(name, stages): turned(t) for name, t in with_prefix(tensors, prefix).items()}

    model = ResNet(Bottleneck, stages, num_classes=int(metadata["classes"])).double()
    model.train()
    parameters = dict(model.named_parameters())
    initial = translated("initial.")
    assert initial.keys() == parameters.keys(), initial.keys() ^ parameters.keys()
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(initial[name])
    optimizer = torch.optim.SGD(
        model.parameters(), lr=float(metadata["learning_rate"]), momentum=0.9, weight_decay=0.0
    )
    gradients = translated("gradient.")
    worst_loss = worst_gradient = 0.0
    for step in range(tensors["tokens"].shape[0]):
        optimizer.zero_grad()
        pixels = tensors["tokens"][step].double().reshape(-1, image, image, 3).permute(0, 3, 1, 2) / 127.5 - 1
        labels = tensors["targets"][step].reshape(-1).long()
        total = 0.0
        for first in range(0, len(labels), micro_batch):
            part = slice(first, first + micro_batch)
            loss = F.cross_entropy(model(pixels[part]), labels[part], reduction="sum") / len(labels)
            loss.backward()
            total += loss.item()
        worst_loss = max(worst_loss, abs(tensors["losses"][step].item() - total) / abs(total))
        if step == 0:
            largest = max(p.grad.norm().item() for p in parameters.values())
            for name, parameter in parameters.items():
                scale = max(parameter.grad.norm().item(), 1e-3 * largest)
                worst_gradient = max(worst_gradient, distance(gradients[name], parameter.grad, scale))
        optimizer.step()
    final = translated("final.")
    worst_weight = max(distance(final[n], p.detach(), p.detach().norm()) for n, p in parameters.items())
    print(
        f"torchvision {torchvision.__version__}: {tensors['tokens'].shape[0]} steps, losses within {worst_loss:.1e}, "
        f"first gradients within {worst_gradient:.1e}, final weights within {worst_weight:.1e} (limit {TOLERANCE:.0e})"
    )
    return 0 if max(worst_loss, worst_gradient, worst_weight) < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
