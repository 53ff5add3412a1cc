"""Writes x.npy and labels.npy from the digits that scikit-learn ships (needs it; was run once).

usage: export.py
"""

import pathlib

import numpy as np
from sklearn.datasets import load_digits

FOLDER = pathlib.Path(__file__).parent


def main():
    digits = load_digits()
    np.save(FOLDER / "x.npy", digits.data.astype(np.float32))  # (1797, 64), 0 to 16
    np.save(FOLDER / "labels.npy", digits.target.astype(np.int32))  # (1797,), 0 to 9


if __name__ == "__main__":
    main()
