#!/usr/bin/env python3
"""make_reference.py: writes ml_dtypes.txt and scales.txt, the references of format_test.cpp and shares_test.cpp. Needs
numpy and ml_dtypes; their versions are in the files:

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install ml_dtypes
    /tmp/oracle/bin/python tests/engine/lesson/formats/make_reference.py
"""
import pathlib
import sys

import ml_dtypes
import numpy

FORMATS = [
    ("bf16", ml_dtypes.bfloat16, numpy.uint16),
    ("fp16", numpy.float16, numpy.uint16),
    ("E4M3", ml_dtypes.float8_e4m3fn, numpy.uint8),
    ("E5M2", ml_dtypes.float8_e5m2, numpy.uint8),
]
SEED = 20240607
DRAWN = 400


def neighbours_and_ties(dtype, bits_type, patterns):
    """Numbers of the format, the middles between neighbours, and the fp32 numbers next to these."""
    values = patterns.astype(bits_type).view(dtype).astype(numpy.float64)
    values = numpy.unique(values[numpy.isfinite(values)])
    middles = ((values[1:] + values[:-1]) / 2).astype(numpy.float32)
    found = [values.astype(numpy.float32), middles]
    found += [numpy.nextafter(middles, numpy.float32(to)) for to in (numpy.inf, -numpy.inf)]
    return numpy.concatenate(found)


def inputs():
    random = numpy.random.default_rng(SEED)
    some = numpy.array([0, 1, 2, 3, 0x7F, 0x80, 0x81, 0x3FF, 0x400, 0x401, 0x3C00, 0x3C01, 0x3F80, 0x3F81, 0x7BFE, 0x7BFF,
                        0x7F7E, 0x7F7F])
    all8 = numpy.arange(0, 128)
    found = [neighbours_and_ties(dtype, bits, all8 if bits is numpy.uint8 else some) for _, dtype, bits in FORMATS]
    found.append((random.standard_normal(DRAWN) * numpy.exp2(random.uniform(-60, 60, DRAWN))).astype(numpy.float32))
    found.append(numpy.array([464, 480, 61440, 65504, 65519.996, 65520, 65536, numpy.inf, numpy.nan], numpy.float32))
    found = numpy.unique(numpy.concatenate(found))
    return numpy.concatenate([found, -found[1:60]])


def philox(counter, key0, key1):
    """Philox4x32-10 (Salmon et al. 2011) of one block."""
    word = 0xFFFFFFFF
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key0, b & word, (a >> 32) ^ counter[3] ^ key1, a & word]
        key0, key1 = (key0 + 0x9E3779B9) & word, (key1 + 0xBB67AE85) & word
    return counter


def uniform(stream, index):
    block = philox([index // 2, 0, stream, 0], 1, 0)
    half = 2 * (index % 2)
    return ((block[half + 1] << 32 | block[half]) >> 11) * 2.0**-53


def normals(stream, count):
    found = []
    for pair in range(count // 2):
        radius = numpy.sqrt(-2 * numpy.log(1 - uniform(stream, 2 * pair)))
        angle = 2 * numpy.pi * uniform(stream, 2 * pair + 1)
        found += [radius * numpy.cos(angle), radius * numpy.sin(angle)]
    return numpy.array(found)


def held(name, dtype, values, scale):
    if name == "int8":
        return numpy.clip(numpy.rint(values / scale), -128, 127) * scale
    return (values / scale).astype(numpy.float32).astype(dtype).astype(numpy.float64) * scale


def scales():
    """The loss in the stated tensors (scales.hpp): the share that becomes zero, and the largest relative error."""
    count = 4096
    index = numpy.arange(count)
    tensors = [
        normals(1, count) * 2.0**-6,
        normals(2, count) * 2.0**-12,
        normals(3, count) * 2.0 ** (-8 - 2 * (index // 64 % 8)),
        normals(4, count) * 2.0 ** (-18 + numpy.where(index % 512 == 0, 10, 0)),
    ]
    formats = [(name, dtype, float(ml_dtypes.finfo(dtype).max)) for name, dtype, _ in FORMATS] + [("int8", None, 127.0)]
    largest = max(abs(tensor).max() for tensor in tensors)
    lines = []
    for name, dtype, most in formats:
        for scaling in ("none", "one", "tensor", "block"):
            zeros, errors = 0, []
            for tensor in tensors:
                size = {"tensor": count, "block": 32}.get(scaling, count)
                groups = tensor.reshape(-1, size)
                fixed = {"none": 1.0, "one": largest / most}.get(scaling)
                found = numpy.concatenate([held(name, dtype, g, fixed or abs(g).max() / most) for g in groups])
                zeros += int(((found == 0) & (tensor != 0)).sum())
                errors.append(numpy.linalg.norm(found - tensor) / numpy.linalg.norm(tensor))
            lines.append(f"{name} {scaling} {zeros / (count * len(tensors)):.6f} {max(errors):.6f}")
    return lines


def main():
    lines = [f"# ml_dtypes {ml_dtypes.__version__}, numpy {numpy.__version__}: written by make_reference.py",
             "# bits E4M3 E5M2: what every pattern of fp8 means"]
    for pattern in range(256):
        one = numpy.array([pattern], numpy.uint8)
        words = [float(one.view(dtype)[0]).hex() for name, dtype, bits in FORMATS if bits is numpy.uint8]
        lines.append(f"{pattern:02x} " + " ".join(words))
    lines.append("# number " + " ".join(name for name, _, _ in FORMATS) + ": what an fp32 number becomes")
    values = inputs()
    with numpy.errstate(over="ignore"):
        columns = [values.astype(dtype).view(bits) for _, dtype, bits in FORMATS]
    for i, value in enumerate(values):
        lines.append(f"{float(value).hex()} " + " ".join(f"{int(column[i]):x}" for column in columns))
    path = pathlib.Path(__file__).resolve().with_name("ml_dtypes.txt")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(lines)} lines", file=sys.stderr)
    lost = [lines[0], "# format, scale, share that becomes zero, largest relative error of a tensor"] + scales()
    path.with_name("scales.txt").write_text("\n".join(lost) + "\n")


main()
