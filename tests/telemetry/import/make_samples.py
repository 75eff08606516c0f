#!/usr/bin/env python3
"""Makes the traces in samples/: small models trained by gloo ranks on one machine's CPU, three profiled steps each.

    python3 -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python make_samples.py samples

Made with torch 2.15. New traces have other times: the figures in kineto_test.cpp that were read from them change, too.
"""
import gzip
import os
import pathlib
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

WIDTH = 64


def block():
    return nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))


def batches():
    data = torch.utils.data.TensorDataset(torch.randn(64, WIDTH), torch.randn(64, WIDTH))
    return torch.utils.data.DataLoader(data, batch_size=8)


def profiled(path, step, memory=False, shapes=False):
    """Five steps, of which the last three are recorded."""
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=3),
                 profile_memory=memory, record_shapes=shapes) as profiler:
        for number in range(5):
            step(number)
            profiler.step()
    plain = str(path) + ".json"
    profiler.export_chrome_trace(plain)
    with open(plain, "rb") as source, gzip.GzipFile(plain + ".gz", "wb", 9, mtime=0) as target:
        target.write(source.read())
    os.remove(plain)


def train(model, path, slow_ms=0, memory=False, shapes=False):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = iter(batches())

    def step(_):
        inputs, targets = next(loader)
        optimizer.zero_grad()
        output = model(inputs)
        if slow_ms:
            time.sleep(slow_ms / 1000)
        nn.functional.mse_loss(output, targets).backward()
        optimizer.step()

    profiled(path, step, memory, shapes)


def ddp(rank, ranks, path):
    """The last rank sleeps for 20 ms between forward and backward."""
    model = DistributedDataParallel(nn.Sequential(block(), block()), bucket_cap_mb=0.1)
    train(model, path, slow_ms=20 if rank == ranks - 1 else 0, memory=ranks == 2)


def fsdp(rank, ranks, path):
    model = nn.Sequential(block(), block())
    mesh = dist.init_device_mesh("cpu", (ranks,), mesh_dim_names=("shard",))
    for part in model:
        fully_shard(part, mesh=mesh)
    fully_shard(model, mesh=mesh)
    train(model, path, shapes=True)


def pipeline(rank, ranks, path):
    model = block()
    stage = PipelineStage(model, rank, ranks, torch.device("cpu"))
    plan = Schedule1F1B(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(8, WIDTH), torch.randn(8, WIDTH)

    def step(_):
        optimizer.zero_grad()
        if rank == 0:
            plan.step(inputs)
        else:
            plan.step(target=targets)
        optimizer.step()

    profiled(path, step, shapes=True)


def run(rank, ranks, job, port, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    globals()[job](rank, ranks, pathlib.Path(folder) / f"{job}{ranks}_rank{rank}")
    dist.destroy_process_group()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for job, ranks in (("ddp", 2), ("ddp", 4), ("fsdp", 2), ("pipeline", 2)):
        if sys.argv[2:] and job + str(ranks) not in sys.argv[2:]:
            continue
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            port = chosen.getsockname()[1]
        mp.spawn(run, args=(ranks, job, port, folder), nprocs=ranks)


if __name__ == "__main__":
    main()
