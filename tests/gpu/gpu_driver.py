#!/usr/bin/env python3
"""Starts the driver of this machine's GPUs. Prints why that fails and exits with 1; prints nothing if it works.

    gpu_driver.py
"""
import ctypes
import sys


def problem():
    """Why the driver's first two functions fail; None if they find a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"the driver's library cannot be loaded: {error}"
    count = ctypes.c_int()
    for name, arguments in (("cuInit", (0,)), ("cuDeviceGetCount", (ctypes.byref(count),))):
        status = getattr(driver, name)(*arguments)
        if status:
            reason = ctypes.c_char_p()
            driver.cuGetErrorString(status, ctypes.byref(reason))
            return f"{name} returns error {status} ({(reason.value or b'unknown').decode()})"
    return None if count.value else "the driver finds no GPU (is CUDA_VISIBLE_DEVICES set?)"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit("gpu_driver.py takes no arguments")
    sys.exit(problem())
