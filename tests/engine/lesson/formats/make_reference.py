#!/usr/bin/env python3
"""make_reference.py: writes ml_dtypes.txt, with which format_test.cpp compares. Needs numpy and ml_dtypes; the versions are
in the file:

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
    """Numbers of the format, the middles between neighbours, and fp32's numbers beside these."""
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


main()
