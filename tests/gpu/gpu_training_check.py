#!/usr/bin/env python3
"""Compares the first step of a run on a GPU in bf16 with that of the same run on a CPU in fp32: their losses, which are
near the logarithm of the vocabulary since nothing is learned yet, and the norms of their gradients.

    gpu_training_check.py VOCABULARY GPU.json CPU.json

The files are reports of `rankscope-engine run --json`. Prints one line; the exit status is 1 if they differ.
"""
import json
import math
import sys

NEAR_LOGARITHM = 0.05  # GPT-2's initial weights give a loss that is a few hundredths above it
LOSS_BOUND, NORM_BOUND = 0.005, 0.03  # relative changes caused by rounding to bf16


def first_step(file):
    try:
        with open(file) as report:
            step = json.load(report)["steps"][0]
        return step["loss"], step["grad_norm"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.exit(f"gpu_training_check.py: {file} is no report of a step: {error}")


def complaints_about(vocabulary, gpu, cpu):
    (loss, norm), (expected_loss, expected_norm) = gpu, cpu
    for name, value in (("loss", loss), ("gradient norm", norm)):
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            yield f"the GPU's {name} is {value}"
            return
    if abs(loss / math.log(vocabulary) - 1) > NEAR_LOGARITHM:
        yield f"the first loss is not near ln {vocabulary} = {math.log(vocabulary):.3f}"
    if abs(loss / expected_loss - 1) > LOSS_BOUND:
        yield f"the losses differ by more than {100 * LOSS_BOUND} %"
    if abs(norm / expected_norm - 1) > NORM_BOUND:
        yield f"the gradient norms differ by more than {100 * NORM_BOUND:.0f} %"


def main(vocabulary, gpu_file, cpu_file):
    gpu, cpu = first_step(gpu_file), first_step(cpu_file)
    wrong = list(complaints_about(vocabulary, gpu, cpu))
    print(f"first step: loss {gpu[0]} on the GPU, {cpu[0]} on the CPU; gradient norm {gpu[1]} and {cpu[1]}"
          + "".join(f"; {what}" for what in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    if len(sys.argv) != 4 or not sys.argv[1].isdigit():
        sys.exit("gpu_training_check.py needs the vocabulary and two reports")
    sys.exit(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
