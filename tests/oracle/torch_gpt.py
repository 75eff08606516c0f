#!/usr/bin/env python3
"""Repeats written_run's run in PyTorch: GPT-2 as described in its paper, torch's AdamW, in the run's own precision.
Compares the losses of all steps, the first step's gradients and the final weights; exit status 1 if one differs by more
than the tolerance."""
import sys

import torch
import torch.nn.functional as F

from written import judge, read_safetensors, with_prefix


def loss_of(w, tokens, targets, layers, heads):
    """Mean cross-entropy in nats. Weight matrices are [out, in]."""
    batch, context = tokens.shape
    width = w["wte.weight"].shape[1]

    def norm(x, name):
        return F.layer_norm(x, (width,), w[name + ".weight"], w[name + ".bias"], 1e-5)

    def product(x, name):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    x = w["wte.weight"][tokens] + w["wpe.weight"][:context]
    for layer in range(layers):
        name = f"h.{layer}."
        q, k, v = product(norm(x, name + "ln_1"), name + "attn.c_attn").split(width, dim=2)
        q, k, v = (t.reshape(batch, context, heads, width // heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(2, 3) / (width // heads) ** 0.5
        scores = scores.masked_fill(torch.ones(context, context, dtype=torch.bool).triu(1), float("-inf"))
        attended = (scores.softmax(dim=3) @ v).transpose(1, 2).reshape(batch, context, width)
        x = x + product(attended, name + "attn.c_proj")
        hidden = F.gelu(product(norm(x, name + "ln_2"), name + "mlp.c_fc"), approximate="tanh")
        x = x + product(hidden, name + "mlp.c_proj")
    head = w.get("lm_head.weight", w["wte.weight"])
    logits = F.linear(norm(x, "ln_f"), head)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1).long())


def without_key_bias(name, tensor):
    """The key's bias shifts all scores of a row by the same number, so its true gradient is zero, and AdamW makes whole
    steps of its rounding. Here it counts as zero."""
    if not name.endswith("attn.c_attn.bias"):
        return tensor
    query, key, value = tensor.chunk(3)
    return torch.cat([query, torch.zeros_like(key), value])


def train_with(loss_of_model, tensors, metadata):
    """PyTorch's results for the run's initial weights and tokens: losses, first gradients, final weights."""
    weights = {name: tensor.clone().requires_grad_() for name, tensor in with_prefix(tensors, "initial.").items()}
    matrices = [tensor for tensor in weights.values() if tensor.dim() > 1]
    vectors = [tensor for tensor in weights.values() if tensor.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}], lr=float(metadata["learning_rate"])
    )
    losses, gradients = [], {}
    for step in range(tensors["tokens"].shape[0]):
        optimizer.zero_grad()
        loss = loss_of_model(weights, tensors["tokens"][step].long(), tensors["targets"][step], metadata)
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            gradients = {name: tensor.grad.clone() for name, tensor in weights.items()}
        if float(metadata["clip"]) > 0:
            torch.nn.utils.clip_grad_norm_(list(weights.values()), float(metadata["clip"]))
        optimizer.step()
    return losses, gradients, {name: tensor.detach() for name, tensor in weights.items()}


def train(tensors, metadata):
    layers, heads = int(metadata["layers"]), int(metadata["heads"])
    return train_with(lambda w, tokens, targets, _: loss_of(w, tokens, targets, layers, heads), tensors, metadata)


def main(path):
    tensors, metadata = read_safetensors(path)
    fine = tensors["initial.wte.weight"].dtype == torch.float64
    # In fp32 AdamW makes whole steps of the rounding in the smallest gradients.
    limits = {"losses": 1e-9, "gradients": 1e-9, "weights": 1e-9} if fine else {
        "losses": 1e-5, "gradients": 1e-5, "weights": 1e-3}
    return judge(f"PyTorch {torch.__version__}", tensors, train(tensors, metadata), limits, without_key_bias)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
