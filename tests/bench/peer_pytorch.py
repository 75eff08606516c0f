#!/usr/bin/env python3
"""The model of step_speed.cpp in PyTorch: the same sizes, the same work (forward, backward, AdamW).

    peer_pytorch.py [--threads 2] [--types fp32,bf16] [--seconds 3] [--clock wall|cpu]

Prints one JSON object per line, like step_speed --json. bf16 is measured in both ways that PyTorch offers: autocast
over an fp32 model ("bf16-autocast") and a model that is entirely bf16 ("bf16-plain").
"""
import argparse
import json
import math
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS, HEADS, WIDTH, CONTEXT, BATCH, VOCABULARY = 6, 6, 384, 256, 8, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH)
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.attn_c_proj = nn.Linear(WIDTH, WIDTH)
        self.ln_2 = nn.LayerNorm(WIDTH)
        self.c_fc = nn.Linear(WIDTH, 4 * WIDTH)
        self.mlp_c_proj = nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("hidden", torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1), persistent=False)

    def attend(self, x):
        q, k, v = self.c_attn(x).split(WIDTH, dim=2)
        q, k, v = (t.view(BATCH, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(WIDTH // HEADS))
        p = F.softmax(scores.masked_fill(self.hidden, float("-inf")), dim=-1)
        return self.attn_c_proj((p @ v).transpose(1, 2).reshape(BATCH, CONTEXT, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        return x + self.mlp_c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.ln_f = nn.LayerNorm(WIDTH)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                deviation = 0.02 / math.sqrt(2 * LAYERS) if "c_proj" in name else 0.02
                nn.init.normal_(parameter, std=deviation)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))


def measure(kind, threads, seconds, clock):
    torch.manual_seed(1)
    model = Gpt()
    if kind == "bf16-plain":
        model = model.bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), foreach=True)
    tokens = torch.randint(VOCABULARY, (BATCH, CONTEXT))
    targets = torch.randint(VOCABULARY, (BATCH, CONTEXT))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=kind == "bf16-autocast"):
            loss = model(tokens, targets)
        loss.backward()
        optimizer.step()
        return loss

    now = time.process_time if clock == "cpu" else time.perf_counter
    step(), step()
    times = []
    while sum(times) < seconds or len(times) < 5:
        begin = now()
        loss = step()
        times.append(now() - begin)
    median = statistics.median(times)
    tokens_per_s = BATCH * CONTEXT / median
    print(json.dumps({"engine": "pytorch " + torch.__version__, "type": kind, "threads": threads,
                      "step_seconds": round(median, 6), "tokens_per_s": round(tokens_per_s, 1),
                      "loss": round(loss.item(), 4)}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--types", default="fp32,bf16")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    for kind in arguments.types.split(","):
        for variant in ["bf16-autocast", "bf16-plain"] if kind == "bf16" else [kind]:
            measure(variant, arguments.threads, arguments.seconds, arguments.clock)


if __name__ == "__main__":
    main()
