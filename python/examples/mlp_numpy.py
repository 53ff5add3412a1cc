"""A two-layer perceptron in NumPy: bias, activation and residual inside the products."""

import numpy as np

import tilewise

random = np.random.default_rng(1)
batch, width, hidden = 64, 128, 512
x = random.standard_normal((batch, width)).astype(np.float32)
w1 = (random.standard_normal((width, hidden)) / np.sqrt(width)).astype(np.float32)
w2 = (random.standard_normal((hidden, width)) / np.sqrt(hidden)).astype(np.float32)
b1, b2 = np.zeros(hidden, np.float32), np.full(width, 0.1, np.float32)

h = tilewise.matmul(x, w1, epilogue="relu(acc + bias[n])", operands={"bias": b1})
y = tilewise.matmul(
    h, w2, epilogue="acc + bias[n] + x[m,n]", operands={"bias": b2, "x": x}
)

expected = np.maximum(x @ w1 + b1, 0) @ w2 + b2 + x
print("largest difference from NumPy:", float(np.abs(y - expected).max()))
assert np.allclose(y, expected, atol=1e-4)

# What the second product runs, and what a GPU would be limited by.
print(tilewise.plan(h, w2))
print(tilewise.explain(batch, width, hidden, dtype="bfloat16", machine="h100").heading())
