#!/usr/bin/env python3
"""Repeats written_run's run of a Llama in PyTorch, as torch_gpt.py does a GPT's: RMS norm, rotary positions, SwiGLU and
grouped queries as described in their papers (arXiv 1910.07467, 2104.09864, 2002.05202, 2305.13245)."""
import sys

import torch
import torch.nn.functional as F

from torch_gpt import train_with
from written import judge, read_safetensors


def rotated(x, theta):
    """x [batch, heads, context, depth]: numbers i and i + depth/2 as a complex number, turned by its position."""
    context, depth = x.shape[2:]
    angles = torch.outer(torch.arange(context).double(), theta ** (-torch.arange(0, depth, 2).double() / depth))
    points = torch.complex(*(part.double() for part in x.chunk(2, dim=3))) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([points.real, points.imag], dim=3).to(x.dtype)


def logits_of(w, tokens, metadata):
    """Weight matrices are [out, in]."""
    batch, context = tokens.shape
    layers, heads, keys = (int(metadata[name]) for name in ("layers", "heads", "key_value_heads"))
    theta, epsilon = float(metadata["rope_theta"]), float(metadata["norm_epsilon"])

    def norm(x, name):
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + epsilon) * w[name + ".weight"]

    x = w["model.embed_tokens.weight"][tokens]
    depth = x.shape[2] // heads
    for layer in range(layers):
        name = f"model.layers.{layer}."
        qkv = F.linear(norm(x, name + "input_layernorm"), w[name + "self_attn.qkv_proj.weight"])
        q, k, v = (t.unflatten(2, (-1, depth)).transpose(1, 2) for t in qkv.split([heads * depth, keys * depth, keys * depth], dim=2))
        k, v = (t.repeat_interleave(heads // keys, dim=1) for t in (rotated(k, theta), v))
        scores = rotated(q, theta) @ k.transpose(2, 3) / depth**0.5
        scores = scores.masked_fill(torch.ones(context, context, dtype=torch.bool).triu(1), float("-inf"))
        attended = (scores.softmax(dim=3) @ v).transpose(1, 2).flatten(2)
        x = x + F.linear(attended, w[name + "self_attn.o_proj.weight"])
        gate, up = F.linear(norm(x, name + "post_attention_layernorm"), w[name + "mlp.gate_up_proj.weight"]).chunk(2, dim=2)
        x = x + F.linear(F.silu(gate) * up, w[name + "mlp.down_proj.weight"])
    return F.linear(norm(x, "model.norm"), w.get("lm_head.weight", w["model.embed_tokens.weight"]))


def loss_of(w, tokens, targets, metadata):
    """Mean cross-entropy in nats."""
    logits = logits_of(w, tokens, metadata)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1).long())


def train(tensors, metadata):
    return train_with(loss_of, tensors, metadata)


def main(path):
    tensors, metadata = read_safetensors(path)
    fine = tensors["initial.model.embed_tokens.weight"].dtype == torch.float64
    limits = {"losses": 1e-9, "gradients": 1e-9, "weights": 1e-9} if fine else {
        "losses": 1e-5, "gradients": 1e-5, "weights": 1e-3}
    return judge(f"PyTorch {torch.__version__}", tensors, train(tensors, metadata), limits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
