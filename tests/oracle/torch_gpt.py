#!/usr/bin/env python3
"""The run that written_run wrote down, done again by PyTorch in fp32: GPT-2 as its paper describes it, AdamW as torch
has it. Compares the losses of all steps and the first step's gradients; exit status 1 when one is further off than the
tolerance. The weights at the end are told, not judged: AdamW makes whole steps of gradients that are rounding."""
import sys

import torch
import torch.nn.functional as F

from written import distance, read_safetensors, with_prefix

TOLERANCE = 1e-4  # relative: of a loss to itself, of a tensor by Frobenius norms


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
    """The key's bias shifts all scores of a row alike: its gradient is rounding, which AdamW makes whole steps of."""
    if not name.endswith("attn.c_attn.bias"):
        return tensor
    query, _, value = tensor.chunk(3)
    return torch.cat([query, value])


def main(path):
    tensors, metadata = read_safetensors(path)
    layers, heads = int(metadata["layers"]), int(metadata["heads"])
    weights = {name: tensor.clone().requires_grad_() for name, tensor in with_prefix(tensors, "initial.").items()}
    matrices = [tensor for tensor in weights.values() if tensor.dim() > 1]
    vectors = [tensor for tensor in weights.values() if tensor.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}], lr=float(metadata["learning_rate"])
    )
    gradients = with_prefix(tensors, "gradient.")
    worst_loss = worst_gradient = 0.0
    for step in range(tensors["tokens"].shape[0]):
        optimizer.zero_grad()
        loss = loss_of(weights, tensors["tokens"][step].long(), tensors["targets"][step], layers, heads)
        loss.backward()
        ours = tensors["losses"][step].item()
        worst_loss = max(worst_loss, abs(ours - loss.item()) / abs(loss.item()))
        if step == 0:
            largest = max(tensor.grad.norm().item() for tensor in weights.values())
            for name, tensor in weights.items():
                # The key's bias has no gradient in truth: rounding is compared with the size of the others.
                scale = max(tensor.grad.norm().item(), 1e-3 * largest)
                worst_gradient = max(worst_gradient, distance(gradients[name], tensor.grad, scale))
        if float(metadata["clip"]) > 0:
            torch.nn.utils.clip_grad_norm_(list(weights.values()), float(metadata["clip"]))
        optimizer.step()
    final = with_prefix(tensors, "final.")
    worst_weight = 0.0
    for name, tensor in weights.items():
        ours, theirs = (without_key_bias(name, t.detach()) for t in (final[name], tensor))
        worst_weight = max(worst_weight, distance(ours, theirs, theirs.double().norm()))
    print(
        f"PyTorch {torch.__version__}: {tensors['tokens'].shape[0]} steps, losses within {worst_loss:.1e}, first "
        f"gradients within {worst_gradient:.1e} (limit {TOLERANCE:.0e}); final weights within {worst_weight:.1e}"
    )
    return 0 if max(worst_loss, worst_gradient) < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
