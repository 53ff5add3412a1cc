"""Trains the classifier that run.sh computes: 64 pixels -> 32, relu -> 10 scores. Needs NumPy.

The first 1500 images are for training; the last 297 are held out. Gradient descent with momentum on
the cross-entropy, in float64, from a fixed seed; the weights are stored as float32. The scaling of the
pixels (0 to 16) to 0 to 1 is folded into w1.

usage: train.py
"""

import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent
NUM_TRAINING = 1500
NUM_HIDDEN = 32
NUM_EPOCHS = 60
BATCH = 50
RATE = 0.02
MOMENTUM = 0.9
DECAY = 1e-3
PIXEL_SCALE = 1.0 / 16.0


def forward(x, w1, b1, w2, b2):
    hidden = np.maximum(x @ w1 + b1, 0.0)
    return hidden, hidden @ w2 + b2


def gradients(x, labels, w1, b1, w2, b2):
    """Of the mean cross-entropy and the decay of the weights."""
    hidden, scores = forward(x, w1, b1, w2, b2)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    delta = odds / odds.sum(axis=1, keepdims=True)
    delta[np.arange(len(labels)), labels] -= 1.0
    delta /= len(labels)
    delta_hidden = (delta @ w2.T) * (hidden > 0.0)
    return (
        x.T @ delta_hidden + DECAY * w1, delta_hidden.sum(axis=0),
        hidden.T @ delta + DECAY * w2, delta.sum(axis=0),
    )


def accuracy(x, labels, parameters):
    return float((forward(x, *parameters)[1].argmax(axis=1) == labels).mean())


def main():
    x = np.load(FOLDER / "x.npy").astype(np.float64) * PIXEL_SCALE
    labels = np.load(FOLDER / "labels.npy")
    random = np.random.default_rng(1)
    parameters = [
        random.normal(0.0, np.sqrt(2.0 / 64), (64, NUM_HIDDEN)), np.zeros(NUM_HIDDEN),
        random.normal(0.0, np.sqrt(1.0 / NUM_HIDDEN), (NUM_HIDDEN, 10)), np.zeros(10),
    ]
    velocity = [np.zeros_like(p) for p in parameters]
    for _ in range(NUM_EPOCHS):
        order = random.permutation(NUM_TRAINING)
        for start in range(0, NUM_TRAINING, BATCH):
            rows = order[start : start + BATCH]
            for p, v, g in zip(parameters, velocity, gradients(x[rows], labels[rows], *parameters)):
                v *= MOMENTUM
                v -= RATE * g
                p += v
    print(f"training  {accuracy(x[:NUM_TRAINING], labels[:NUM_TRAINING], parameters):.4f}")
    print(f"held out  {accuracy(x[NUM_TRAINING:], labels[NUM_TRAINING:], parameters):.4f}")
    parameters[0] *= PIXEL_SCALE
    for name, value in zip(("w1", "b1", "w2", "b2"), parameters):
        np.save(FOLDER / f"{name}.npy", value.astype(np.float32))


if __name__ == "__main__":
    main()
