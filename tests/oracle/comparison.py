"""How far numbers are from the expected ones: tests/comparison.hpp for the scripts of this folder.
`python3 comparison.py` runs its own test."""
import math
import sys


class LargestError:
    """The largest error that was added, and its name. A NaN counts as an infinite error, which stays the largest
    (Python's max(0.0, nan) is 0.0)."""

    def __init__(self):
        self.value, self.where, self.count = 0.0, None, 0

    def add(self, error, where=None):
        if math.isnan(error):
            error = math.inf
        if error > self.value:
            self.value, self.where = error, where
        self.count += 1

    def __str__(self):
        return f"{self.value:.1e}" + (f" ({self.where})" if self.where is not None else "")


def relative_error(actual, expected):
    """Relative to the expected magnitude, or absolute if that is zero or infinite; infinite if either value is NaN."""
    if actual == expected:
        return 0.0
    size = abs(expected)
    error = abs(actual - expected) / (size if 0 < size < math.inf else 1.0)
    return math.inf if math.isnan(error) else error


def list_error(actual, expected):
    """The largest absolute error over the largest expected magnitude. Infinite for different lengths and for NaNs."""
    if len(actual) != len(expected):
        return math.inf
    errors = LargestError()
    for a, e in zip(actual, expected):
        errors.add(0.0 if a == e else abs(a - e))
    size = max((abs(e) for e in expected if math.isfinite(e)), default=0.0)
    return errors.value / size if size > 0 else errors.value


def tensor_error(actual, expected, least_norm=0.0):
    """Frobenius norm of the difference of two PyTorch tensors over that of the expected one, or over `least_norm` if
    that is larger. Infinite for different shapes, and if anything is NaN."""
    if actual.shape != expected.shape:
        return math.inf
    off = (actual.double() - expected.double()).norm().item()
    size = max(expected.double().norm().item(), least_norm)
    if math.isnan(off) or math.isnan(size):
        return math.inf
    return off / size if size > 0 else (0.0 if off == 0 else math.inf)


def test():
    nan = math.nan
    for at in range(5):
        errors = LargestError()
        for i in range(5):
            errors.add(nan if i == at else 0.5, i)
        assert errors.value == math.inf and errors.where == at and errors.count == 5, at
    errors = LargestError()
    for error in (0.25, 1.0, 0.5):
        errors.add(error, error)
    assert errors.value == 1.0 and errors.where == 1.0
    assert relative_error(nan, 1) == relative_error(1, nan) == relative_error(nan, nan) == math.inf
    assert relative_error(math.inf, 1) == relative_error(1, math.inf) == math.inf
    assert relative_error(math.inf, math.inf) == 0 and relative_error(0.25, 0) == 0.25
    assert relative_error(1.5, -1) == 2.5
    for at in range(3):
        bad = [1.0, 2.0, 4.0]
        bad[at] = nan
        assert list_error(bad, [1, 2, 4]) == list_error([1, 2, 4], bad) == math.inf
    assert list_error([1, 2, 5], [1, 2, 4]) == 0.25 and list_error([1], [1, 2]) == math.inf
    try:
        import torch
    except ImportError:
        print("comparison.py: the numbers' errors are right; tensors' errors are not judged: no PyTorch here")
        sys.exit(77)
    good = torch.tensor([3.0, 0.0, 4.0])
    for at in range(3):
        bad = good.clone()
        bad[at] = nan
        for pair in ((bad, good), (good, bad), (bad, bad)):
            assert tensor_error(*pair) == math.inf and tensor_error(*pair, least_norm=9.0) == math.inf
    assert tensor_error(good, good) == 0 and tensor_error(good + torch.tensor([0.0, 5.0, 0.0]), good) == 1
    assert tensor_error(good[:2], good) == math.inf and tensor_error(good, 0 * good) == math.inf
    assert tensor_error(good, 0 * good, least_norm=10.0) == 0.5
    print("comparison.py: numbers' and tensors' errors are right")


if __name__ == "__main__":
    test()
