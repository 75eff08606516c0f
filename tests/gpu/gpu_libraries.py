#!/usr/bin/env python3
"""Prints, for each library that GPU programs load, its version and the file that the loader uses for it here.

    gpu_libraries.py

One line for each: "cuBLASLt 13.0.2 /usr/local/cuda/lib64/libcublasLt.so.13", or "cuDNN is not here".
"""
import ctypes
import os
import sys


def of_number(number, *factors):
    """Splits a version number: 130002 with the factors 10000 and 100 is 13.0.2."""
    parts = []
    for factor in factors:
        parts.append(str(number // factor))
        number %= factor
    return ".".join([*parts, str(number)])


def by_result(name, *factors):
    def version(library):
        function = getattr(library, name)
        function.restype = ctypes.c_size_t
        return of_number(function(), *factors)
    return version


def by_pointer(name, *factors):
    def version(library):
        number = ctypes.c_int()
        getattr(library, name)(ctypes.byref(number))
        return of_number(number.value, *factors)
    return version


LIBRARIES = (
    ("driver", ("libcuda.so.1",), by_pointer("cuDriverGetVersion", 1000, 10)),
    ("cuBLASLt", ("libcublasLt.so.13", "libcublasLt.so.12"), by_result("cublasLtGetVersion", 10000, 100)),
    ("cuDNN", ("libcudnn.so.9", "libcudnn.so.8"), by_result("cudnnGetVersion", 10000, 100)),
    ("NCCL", ("libnccl.so.2",), by_pointer("ncclGetVersion", 10000, 100)),
    ("NVML", ("libnvidia-ml.so.1",), None),
)


def file_of(soname):
    """The path of a library that this process has loaded; its name if the path is unknown."""
    begin = soname.split(".so")[0] + ".so"
    try:
        with open("/proc/self/maps") as maps:
            return next((line.split()[-1] for line in maps if os.path.basename(line.split()[-1]).startswith(begin)), soname)
    except OSError:
        return soname


def line_of(name, sonames, version):
    for soname in sonames:
        try:
            library = ctypes.CDLL(soname)
        except OSError:
            continue
        try:
            number = version(library) if version else ""
        except AttributeError:  # a library without the function that returns its version
            number = "of unknown version"
        return " ".join(word for word in (name, number, file_of(soname)) if word)
    return f"{name} is not here"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("gpu_libraries.py takes no arguments")
    for entry in LIBRARIES:
        print(line_of(*entry))
