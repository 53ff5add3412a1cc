"""The same perceptron in PyTorch, trained: gradients are products of the same library."""

import torch

import tilewise.nn


class Block(torch.nn.Module):
    """x + W2 relu(W1 x + b1) + b2: two calls, nothing between them."""

    def __init__(self, width, hidden):
        super().__init__()
        self.up = tilewise.nn.Linear(width, hidden, activation="relu")
        self.down = tilewise.nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(self.up(x), residual=x)


torch.manual_seed(1)
model = Block(16, 64)
x = torch.randn(256, 16)
target = torch.roll(x, 1, dims=1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for _ in range(60):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), target)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
assert losses[-1] < losses[0] / 5
