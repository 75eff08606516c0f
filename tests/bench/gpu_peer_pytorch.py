#!/usr/bin/env python3
"""The model of gpu_step.cpp in PyTorch, on the same GPU: GPT-2 with scaled-dot-product attention and fused AdamW, bf16
autocast over fp32 weights, gradients clipped to 1, eager or compiled.

    gpu_peer_pytorch.py [MODEL=gpt2-124m|gpt2-1.5b] [SAMPLES=16] [MICRO_BATCHES=1] [STEPS=20] [--eager|--compiled]

Prints one JSON object. With --arguments it prints the parsed arguments and needs no PyTorch.
"""
import argparse
import json
import math
import statistics
import sys

CONTEXT, VOCABULARY, WARM_UP = 1024, 50304, 3
SIZES = {"gpt2-124m": (12, 768, 12), "gpt2-1.5b": (48, 1600, 25)}


def positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1 on")
    return int(text)


def understood(words):
    parser = argparse.ArgumentParser(prog="gpu_peer_pytorch.py")
    parser.add_argument("model", nargs="?", default="gpt2-124m", choices=SIZES)
    for name, default in (("samples", 16), ("micro_batches", 1), ("steps", 20)):
        parser.add_argument(name, nargs="?", default=default, type=positive)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--eager", dest="compiled", action="store_false", default=False)
    how.add_argument("--compiled", action="store_true")
    parser.add_argument("--arguments", action="store_true", help="print what was understood, and end")
    return parser.parse_args(words)


if __name__ == "__main__" and "--arguments" in sys.argv:
    print(json.dumps(vars(understood(sys.argv[1:]))))
    sys.exit()

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.attn_c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.mlp_c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        samples, context, width = x.shape
        q, k, v = (t.view(samples, context, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn_c_proj(y.transpose(1, 2).reshape(samples, context, width))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp_c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers) if "c_proj" in name else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.view(-1, VOCABULARY).float(), targets.view(-1))


def main():
    arguments = understood(sys.argv[1:])
    name, compiled = arguments.model, arguments.compiled
    samples, micro_batches, steps = arguments.samples, arguments.micro_batches, arguments.steps
    if not torch.cuda.is_available():
        sys.exit("gpu_peer_pytorch.py: this PyTorch finds no GPU")
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    with torch.device("cuda"):
        model = Gpt(*SIZES[name])
    train = torch.compile(model) if compiled else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.999), weight_decay=0.01, fused=True)
    batches = [[torch.randint(VOCABULARY, (samples, CONTEXT), device="cuda") for _ in range(2)]
               for _ in range(micro_batches)]

    def step():
        optimizer.zero_grad(set_to_none=True)
        for tokens, targets in batches:
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = train(tokens, targets) / micro_batches
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    steps = max(steps, WARM_UP + 3)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    for i in range(steps):
        marks[i].record()
        loss = step()
    marks[steps].record()
    torch.cuda.synchronize()
    seconds = statistics.median(marks[i].elapsed_time(marks[i + 1]) * 1e-3 for i in range(WARM_UP, steps))
    print(json.dumps({"engine": "pytorch " + torch.__version__ + (" compiled" if compiled else " eager"), "model": name,
                      "samples": samples, "micro_batches": micro_batches, "step_seconds": seconds,
                      "tokens_per_s": samples * micro_batches * CONTEXT / seconds, "loss": loss.item() * micro_batches,
                      "memory": {"used_bytes": torch.cuda.max_memory_reserved()}}))


if __name__ == "__main__":
    main()
