"""What written_run wrote down."""
import json
import struct

import torch

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


def distance(ours, theirs, scale):
    return ((ours - theirs).double().norm() / scale).item()
