"""Share of images whose highest score is the right digit. Needs no package.

usage: accuracy.py SCORES.npy LABELS.npy NUM_TRAINING
Rows from NUM_TRAINING on were held out of the training. Exit code 1 if their share is 90 % or less.
"""

import ast
import math
import struct
import sys

FORMATS = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q"}


def read_npy(path):
    """Shape and values, row by row, of an .npy file: version 1 to 3, little-endian, C order."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{path}: not an .npy file")
    length_format = "<H" if data[6] == 1 else "<I"
    start = 8 + struct.calcsize(length_format)
    length = struct.unpack_from(length_format, data, 8)[0]
    header = ast.literal_eval(data[start : start + length].decode("latin-1"))
    if header["fortran_order"] or header["descr"] not in FORMATS:
        raise ValueError(f"{path}: {header}; this reads {sorted(FORMATS)} in C order")
    count = math.prod(header["shape"])
    return header["shape"], struct.unpack_from(
        f"<{count}{FORMATS[header['descr']]}", data, start + length
    )


def main():
    (rows, columns), scores = read_npy(sys.argv[1])
    (num_labels,), labels = read_npy(sys.argv[2])
    held_out = int(sys.argv[3])
    if rows != num_labels or not 0 <= held_out < rows:
        raise ValueError(f"{rows} rows of scores, {num_labels} labels, {held_out} for training")
    right = []
    for row in range(rows):
        scores_of_row = scores[row * columns : (row + 1) * columns]
        right.append(max(range(columns), key=scores_of_row.__getitem__) == labels[row])
    share = sum(right[held_out:]) / (rows - held_out)
    print(f"accuracy: {sum(right[:held_out])} of {held_out} training images, "
          f"{sum(right[held_out:])} of {rows - held_out} held-out images ({100 * share:.1f} %)")
    return 0 if share > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
