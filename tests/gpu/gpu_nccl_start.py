#!/usr/bin/env python3
"""Starts NCCL with one rank on the first GPU and adds up a vector: checks whether the library works here with this
driver. This tests NCCL alone; the engine's own use of it needs two GPUs.

    gpu_nccl_start.py

Prints one line; the exit status is 1 if something fails.
"""
import ctypes
import sys

FLOAT, SUM = 7, 0  # ncclFloat32, ncclSum
COUNT = 1 << 20


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def load(soname):
    try:
        return ctypes.CDLL(soname)
    except OSError as error:
        sys.exit(f"gpu_nccl_start.py: {error}")


def main():
    cuda, nccl = load("libcuda.so.1"), load("libnccl.so.2")

    def check(result, what):
        if result != 0:
            sys.exit(f"gpu_nccl_start.py: {what}: error {result}")

    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    numbers = (ctypes.c_float * COUNT)(*(float(i % 1000) for i in range(COUNT)))
    size = ctypes.c_size_t(ctypes.sizeof(numbers))
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), size), "cuMemAlloc")
    check(cuda.cuMemcpyHtoD_v2(memory, numbers, size), "cuMemcpyHtoD")

    version, name, communicator = ctypes.c_int(), UniqueId(), ctypes.c_void_p()
    check(nccl.ncclGetVersion(ctypes.byref(version)), "ncclGetVersion")
    check(nccl.ncclGetUniqueId(ctypes.byref(name)), "ncclGetUniqueId")
    nccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int]
    check(nccl.ncclCommInitRank(ctypes.byref(communicator), 1, name, 0), "ncclCommInitRank")
    nccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                   ctypes.c_void_p, ctypes.c_void_p]
    check(nccl.ncclAllReduce(memory.value, memory.value, COUNT, FLOAT, SUM, communicator, None), "ncclAllReduce")
    check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
    sums = (ctypes.c_float * COUNT)()
    check(cuda.cuMemcpyDtoH_v2(sums, memory, size), "cuMemcpyDtoH")
    if bytes(sums) != bytes(numbers):
        sys.exit("gpu_nccl_start.py: the sum over one rank is not what that rank has")
    print(f"NCCL {version.value} started with one rank, and added {COUNT} numbers")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("gpu_nccl_start.py takes no arguments")
    main()
