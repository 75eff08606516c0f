#!/usr/bin/env python3
"""Writes reference.txt: the results of 20 steps of each optimizer on a matrix and a vector, in fp64.

    /usr/bin/python3 reference.py > reference.txt

SGD, momentum, Adagrad, Adam, AdamW and RAdam are PyTorch's own (written with 1.13). PyTorch has no Adafactor, Sophia,
LARS and LAMB; those are implemented here from their papers, element by element if that is simpler, though slower. (LARS
and LAMB of timm 1.0.31 give the same numbers within 3e-16.) The test (optimizer_reference_test.cpp) needs no Python:
both sides compute initial values and gradients exactly, as fractions, and the file has the rest.
"""
import numpy
import torch

SHAPES = {"matrix": (5, 6), "vector": (7,)}
STEPS, SHOWN = 20, (1, 10, 20)
RATE = 0.05


def initial(shape):
    n = int(numpy.prod(shape))
    return numpy.array([((53 * i + 7) % 97) / 64 - 0.75 for i in range(n)]).reshape(shape)


def gradient(shape, t):
    n = int(numpy.prod(shape))
    return numpy.array([((37 * i + 101 * t + 13 * i * i * t) % 1009) / 512 - 1 for i in range(n)]).reshape(shape)


def show(name, optimizer, options, values):
    print("case", name, optimizer, *(f"{key}={value}" for key, value in options.items()))
    for t in SHOWN:
        for tensor, parameters in values[t].items():
            print("step", t, tensor, *(repr(float(v)) for v in parameters.reshape(-1)))


def by_torch(make, weight_decay):
    parameters = {k: torch.tensor(initial(s), dtype=torch.float64, requires_grad=True) for k, s in SHAPES.items()}
    # As in the engine, only matrices decay.
    groups = [{"params": [p], "weight_decay": weight_decay if k == "matrix" else 0.0} for k, p in parameters.items()]
    optimizer, values = make(groups), {}
    for t in range(1, STEPS + 1):
        for k, p in parameters.items():
            p.grad = torch.tensor(gradient(SHAPES[k], t), dtype=torch.float64)
        optimizer.step()
        values[t] = {k: p.detach().numpy().copy() for k, p in parameters.items()}
    return values


def by_hand(update, weight_decay):
    values = {t: {} for t in range(1, STEPS + 1)}
    for k, shape in SHAPES.items():
        p, state = initial(shape), {}
        for t in range(1, STEPS + 1):
            p = update(p, gradient(shape, t), t, state, weight_decay if k == "matrix" else 0.0)
            values[t][k] = p.copy()
    return values


def rms(x):
    return float(numpy.sqrt(numpy.mean(x * x)))


def adafactor(epsilon=1e-30, epsilon2=1e-3, beta2_decay=0.8, update_clip=1.0):
    """Shazeer and Stern 2018, algorithms 4 (matrices) and 5 (vectors); the rate replaces 10^-2."""

    def update(p, g, t, state, decay):
        beta = 1.0 - t ** (-beta2_decay)
        squares = g * g + epsilon
        if p.ndim == 2:
            r = state.setdefault("r", numpy.zeros(p.shape[0]))
            c = state.setdefault("c", numpy.zeros(p.shape[1]))
            for i in range(p.shape[0]):
                r[i] = beta * r[i] + (1 - beta) * squares[i, :].mean()
            for j in range(p.shape[1]):
                c[j] = beta * c[j] + (1 - beta) * squares[:, j].mean()
            second = numpy.outer(r, c) / r.mean()
        else:
            second = state["v"] = beta * state.get("v", 0.0) + (1 - beta) * squares
        u = g / numpy.sqrt(second)
        u = u / max(1.0, rms(u) / update_clip)
        step = max(epsilon2, rms(p)) * min(RATE, 1 / numpy.sqrt(t))
        return p - RATE * decay * p - step * u

    return update


def sophia(beta1=0.96, beta2=0.99, gamma=0.05, epsilon=1e-12, hessian_interval=10, batch=4):
    """Liu et al. 2024, algorithm 3, with the step's own gradient in the estimator B·g². The test uses a batch of 4."""

    def update(p, g, t, state, decay):
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        if (t - 1) % hessian_interval == 0:
            state["h"] = beta2 * state.get("h", 0.0) + (1 - beta2) * batch * g * g
        p = p - RATE * decay * p
        return p - RATE * numpy.clip(m / numpy.maximum(gamma * state["h"], epsilon), -1, 1)

    return update


def norm(x):
    return float(numpy.sqrt((x * x).sum()))


def lars(momentum=0.9, trust=1e-3):
    """You, Gitman and Ginsburg 2017, algorithm 1. Vectors take the step of plain momentum."""

    def update(p, g, t, state, decay):
        local = trust * norm(p) / (norm(g) + decay * norm(p)) if p.ndim == 2 else 1.0
        state["v"] = momentum * state.get("v", 0.0) + RATE * local * (g + decay * p)
        return p - state["v"]

    return update


def lamb(beta1=0.9, beta2=0.999, epsilon=1e-6):
    """You et al. 2020, algorithm 2 with the identity as φ. Vectors take the step of AdamW."""

    def update(p, g, t, state, decay):
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        u = (m / (1 - beta1**t)) / (numpy.sqrt(v / (1 - beta2**t)) + epsilon) + decay * p
        return p - RATE * (norm(p) / norm(u) if p.ndim == 2 else 1.0) * u

    return update


def main():
    o = torch.optim
    print(f"# By reference.py with PyTorch {torch.__version__} and NumPy {numpy.__version__}. Do not edit.")
    for wd in (0.0, 0.1):
        tail = "-decay" if wd else ""
        keys = {"weight_decay": wd}
        show("sgd" + tail, "sgd", keys, by_torch(lambda g: o.SGD(g, lr=RATE), wd))
        show("momentum" + tail, "momentum", keys, by_torch(lambda g: o.SGD(g, lr=RATE, momentum=0.9), wd))
        show("nesterov" + tail, "momentum", {"momentum": 0.8, "nesterov": "true", **keys},
             by_torch(lambda g: o.SGD(g, lr=RATE, momentum=0.8, nesterov=True), wd))
        show("adagrad" + tail, "adagrad", keys, by_torch(lambda g: o.Adagrad(g, lr=RATE), wd))
        show("adam" + tail, "adam", keys, by_torch(lambda g: o.Adam(g, lr=RATE), wd))
        show("adamw" + tail, "adamw", keys, by_torch(lambda g: o.AdamW(g, lr=RATE), wd))
        show("adamw-other" + tail, "adamw", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3, **keys},
             by_torch(lambda g: o.AdamW(g, lr=RATE, betas=(0.8, 0.95), eps=1e-3), wd))
        show("radam" + tail, "radam", keys, by_torch(lambda g: o.RAdam(g, lr=RATE), wd))
        show("adafactor" + tail, "adafactor", keys, by_hand(adafactor(), wd))
        show("sophia" + tail, "sophia", keys, by_hand(sophia(), wd))
        show("lars" + tail, "lars", keys, by_hand(lars(), wd))
        show("lamb" + tail, "lamb", keys, by_hand(lamb(), wd))
    # With the default values.
    show("adamw-default", "adamw", {}, by_torch(lambda g: o.AdamW(g, lr=RATE), 0.01))
    show("adafactor-other", "adafactor",
         {"beta2_decay": 0.6, "epsilon": 1e-4, "epsilon2": 0.9, "update_clip": 0.5},
         by_hand(adafactor(epsilon=1e-4, epsilon2=0.9, beta2_decay=0.6, update_clip=0.5), 0.0))
    show("sophia-other", "sophia",
         {"weight_decay": 0.0, "hessian_interval": 3, "gamma": 1.5, "epsilon": 1e-2, "beta1": 0.5, "beta2": 0.7},
         by_hand(sophia(beta1=0.5, beta2=0.7, gamma=1.5, epsilon=1e-2, hessian_interval=3), 0.0))

    show("lars-other", "lars", {"weight_decay": 0.3, "momentum": 0.5, "trust": 0.02},
         by_hand(lars(momentum=0.5, trust=0.02), 0.3))
    show("lamb-other", "lamb", {"weight_decay": 0.3, "beta1": 0.5, "beta2": 0.7, "epsilon": 1e-2},
         by_hand(lamb(beta1=0.5, beta2=0.7, epsilon=1e-2), 0.3))


main()
