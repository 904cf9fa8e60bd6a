"""Compares what two runs of a program read from their buffers (read_back.c).

    python read_back.py ONE OTHER LIMIT [first|last]

Words of 32 bits are equal, or floats that differ by LIMIT times the larger of them at most, or by LIMIT / 100 times the
largest of the buffer; doubles likewise. Prints how many buffers there were. With `first` or `last` only that one counts. Fails where one differs.
"""

import struct
import sys

import numpy


def buffers(path):
    data, at, found = open(path, "rb").read(), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        found.append(data[at + 8 : at + 8 + size])
        at += 8 + size
    return found


def differences(one, other, words, floats, limit):
    """How many values differ where they are neither equal words nor near each other as floats."""
    if one == other or len(one) % numpy.dtype(words).itemsize:
        return 0 if one == other else len(one)
    a, b = numpy.frombuffer(one, floats), numpy.frombuffer(other, floats)
    differ = numpy.frombuffer(one, words) != numpy.frombuffer(other, words)
    # Others are more likely small integers, which must be equal.
    is_value = numpy.isfinite(a) & numpy.isfinite(b) & (numpy.maximum(numpy.abs(a), numpy.abs(b)) > numpy.array([0xFFFF], words).view(floats)[0])
    if not is_value.any():
        return int(differ.sum())
    both = numpy.maximum(numpy.abs(a), numpy.abs(b))
    with numpy.errstate(all="ignore"):
        is_near = numpy.abs(a.astype(float) - b) <= limit * numpy.maximum(both, both[is_value].max() / 100)
    is_near |= numpy.isnan(a) & numpy.isnan(b)
    return int((differ & ~(is_near & (is_value | numpy.isnan(a)))).sum())


def main():
    ones, others, limit = buffers(sys.argv[1]), buffers(sys.argv[2]), float(sys.argv[3])
    if len(sys.argv) > 4:
        ones, others = ([found[0 if sys.argv[4] == "first" else -1]] if found else [] for found in (ones, others))
    wrong = []
    for index, (one, other) in enumerate(zip(ones, others)):
        count = len(one)
        if len(one) == len(other):
            count = min(
                differences(one, other, numpy.uint32, numpy.float32, limit),
                differences(one, other, numpy.uint64, numpy.float64, limit),
            )
        if count:
            wrong.append(f"{count} values of buffer {index} ({len(one)} bytes)")
    print(f"{len(ones)} buffers, {len(wrong)} different", *wrong[:3], sep=": ")
    sys.exit(bool(wrong) or not ones or len(ones) != len(others))


main()
