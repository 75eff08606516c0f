#!/usr/bin/env python3
"""Reads a model that the engine exported with transformers, and compares its losses on a run's tokens with those that
torch_gpt.py or torch_llama.py computes from the same run's weights (which other tests compare with the engine). Exit status 1 if a loss
differs by more than the tolerance, or if a tensor is missing, unknown or of another shape."""
import sys

import torch
from transformers import AutoModelForCausalLM

import torch_gpt
import torch_llama
from comparison import LargestError, relative_error
from written import read_safetensors, with_prefix

# Relative. The weights are from runs under two plans, and AdamW makes whole steps of gradients that are only rounding.
TOLERANCE = 1e-4


def loss_of(weights, tokens, targets, metadata):
    if "wte.weight" in weights:
        return torch_gpt.loss_of(weights, tokens, targets, int(metadata["layers"]), int(metadata["heads"]))
    return torch_llama.loss_of(weights, tokens, targets, metadata)


def main(run, folder):
    tensors, metadata = read_safetensors(run)
    weights = with_prefix(tensors, "final.")
    model, told = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    wrong = {what: names for what, names in told.items() if names}
    if wrong:
        print(f"{folder}: {wrong}")
        return 1
    model.eval()
    worst = LargestError()
    with torch.no_grad():
        for step in range(tensors["tokens"].shape[0]):
            tokens, targets = tensors["tokens"][step].long(), tensors["targets"][step].long()
            ours = loss_of(weights, tokens, targets, metadata).item()
            logits = model(tokens).logits
            theirs = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)).item()
            worst.add(relative_error(ours, theirs), f"step {step}")
    print(f"transformers: losses of the exported model within {worst} (limit {TOLERANCE:.0e})")
    return 0 if worst.count > 0 and worst.value < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
