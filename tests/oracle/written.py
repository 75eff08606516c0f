"""Reads the file of written_run, and compares a run with it."""
import json
import struct

import torch

from comparison import LargestError, relative_error, tensor_error

TYPES = {"F32": torch.float32, "F64": torch.float64, "I32": torch.int32}


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensor = torch.frombuffer(bytearray(content[begin:end]), dtype=TYPES[entry["dtype"]])
        tensors[name] = tensor.reshape(entry["shape"])
    return tensors, metadata


def with_prefix(tensors, prefix):
    return {name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def judge(who, tensors, trained, limits, view=lambda name, tensor: tensor):
    """Compares a written run with another program's losses, first gradients and final weights, through `view`; prints
    the largest errors; exit status 1 if one is above its limit, or if there is nothing to compare."""
    losses, gradients, weights = trained
    ours = {"gradients": with_prefix(tensors, "gradient."), "weights": with_prefix(tensors, "final.")}
    worst = {"losses": LargestError(), "gradients": LargestError(), "weights": LargestError()}
    assert len(losses) == len(tensors["losses"])
    for step, loss in enumerate(losses):
        worst["losses"].add(relative_error(tensors["losses"][step].item(), loss), f"step {step}")
    # A gradient whose true value is zero consists of rounding, so it is compared with the size of the others.
    least = {"gradients": 1e-3 * max(g.double().norm().item() for g in gradients.values()), "weights": 0.0}
    for what, theirs in (("gradients", gradients), ("weights", weights)):
        assert ours[what].keys() == theirs.keys(), ours[what].keys() ^ theirs.keys()
        for name, tensor in theirs.items():
            pair = view(name, ours[what][name]), view(name, tensor)
            worst[what].add(tensor_error(*pair, least_norm=least[what]), name)
    told = ", ".join(f"{what} within {error} (limit {limits[what]:.0e})" for what, error in worst.items())
    print(f"{who}: {len(losses)} steps; {told}")
    return 0 if all(error.count > 0 and error.value < limits[what] for what, error in worst.items()) else 1
