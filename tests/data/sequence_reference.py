"""The sequence nets in PyTorch, and the gradients that tests/test_transformer.c and tests/test_mamba.c compare with.

python3 tests/data/sequence_reference.py > tests/data/sequence_gradients.txt    (torch 2.15, double)

Parameters and series are made by a formula that the tests know too."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def loop_scan(u, delta, a, b, c, d):
    """u, delta: n x time x channels; a: channels x states; b, c: n x time x states"""
    state, out = torch.zeros(u.shape[0], u.shape[2], a.shape[1], dtype=u.dtype), []
    for t in range(u.shape[1]):
        state = torch.exp(delta[:, t, :, None] * a) * state + (delta[:, t] * u[:, t])[:, :, None] * b[:, t, None, :]
        out.append((state * c[:, t, None, :]).sum(-1) + d * u[:, t])
    return torch.stack(out, 1)


def doubling_scan(u, delta, a, b, c, d):
    """The same as an associative scan: log2(time) passes over n x time x channels x states."""
    factor, state, reach = torch.exp(delta[..., None] * a), (delta * u)[..., None] * b[:, :, None, :], 1
    while reach < u.shape[1]:
        state = torch.cat([state[:, :reach], state[:, reach:] + factor[:, reach:] * state[:, :-reach]], 1)
        factor = torch.cat([factor[:, :reach], factor[:, reach:] * factor[:, :-reach]], 1)
        reach *= 2
    return (state * c[:, :, None, :]).sum(-1) + d * u


class MambaBlock(nn.Module):
    def __init__(self, width, scan, states=16, taps=4):
        super().__init__()
        channels, self.rank, self.states, self.scan = 2 * width, math.ceil(width / 16), states, scan
        self.norm = nn.LayerNorm(width)
        self.inside = nn.Linear(width, 2 * channels, bias=False)
        self.convolution = nn.Conv1d(channels, channels, taps, groups=channels, padding=taps - 1)
        self.select = nn.Linear(channels, self.rank + 2 * states, bias=False)
        self.step = nn.Linear(self.rank, channels)
        self.log_decay = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(channels, 1))
        self.skip = nn.Parameter(torch.ones(channels))
        self.out = nn.Linear(channels, width, bias=False)
        nn.init.uniform_(self.step.weight, -self.rank ** -0.5, self.rank ** -0.5)
        with torch.no_grad():
            step = torch.exp(torch.rand(channels) * math.log(100) + math.log(1e-3))
            self.step.bias.copy_(step + torch.log(-torch.expm1(-step)))

    def forward(self, x):
        h, z = self.inside(self.norm(x)).chunk(2, -1)
        u = F.silu(self.convolution(h.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        r, b, c = self.select(u).split([self.rank, self.states, self.states], -1)
        y = self.scan(u, F.softplus(self.step(r)), -torch.exp(self.log_decay), b, c, self.skip)
        return x + self.out(y * F.silu(z))

    def tensors(self, of):
        lanes = of(self.log_decay).reshape(-1, 8, self.states).permute(0, 2, 1)
        return [("norm.weight", of(self.norm.weight)), ("norm.bias", of(self.norm.bias)),
                ("in.weight", of(self.inside.weight).T), ("convolution.weight", of(self.convolution.weight)[:, 0].T),
                ("convolution.bias", of(self.convolution.bias)), ("select.weight", of(self.select.weight).T),
                ("step.weight", of(self.step.weight).T), ("step.bias", of(self.step.bias)), ("log_decay", lanes),
                ("skip", of(self.skip)), ("out.weight", of(self.out.weight).T)]


class TransformerBlock(nn.Module):
    def __init__(self, width, heads=4, feed_forward=128, drop=0.1):
        super().__init__()
        self.heads, self.norm1, self.norm2, self.drop = heads, nn.LayerNorm(width), nn.LayerNorm(width), nn.Dropout(drop)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)

    def forward(self, x):
        n, time, width = x.shape
        q, k, v = (t.view(n, time, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, time, width)
        x = x + self.drop(self.out(attended))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))

    def tensors(self, of):
        pairs = []
        for name in ("norm1", "qkv", "out", "norm2", "up", "down"):
            layer = getattr(self, name)
            pairs += [(name + ".weight", of(layer.weight).T if layer.weight.ndim == 2 else of(layer.weight)),
                      (name + ".bias", of(layer.bias))]
        return pairs


class Net(nn.Module):
    def __init__(self, kind, length, channels, classes, scan=loop_scan, width=64, blocks=2, drop=0.1, causal=False):
        super().__init__()
        self.strides, self.causal, outputs = (1, 2, 4 if length >= 300 else 2), causal, (16, 32, width)
        self.stem = nn.ModuleList(nn.Conv1d(i, o, k, s) for i, o, k, s in
                                  zip((channels,) + outputs, outputs, (9, 7, 7), self.strides))
        tokens = length
        for s in self.strides:
            tokens = (tokens - 1) // s + 1
        self.position = nn.Parameter(torch.randn(tokens, width) * 0.02) if kind == "transformer" else None
        self.blocks = nn.ModuleList(TransformerBlock(width, drop=drop) if kind == "transformer" else MambaBlock(width, scan)
                                    for _ in range(blocks))
        self.norm, self.drop, self.head = nn.LayerNorm(width), nn.Dropout(drop), nn.Linear(width, classes)

    def forward(self, x):  # n x channels x time
        for i, layer in enumerate(self.stem):
            taps = layer.kernel_size[0]
            left = taps - 1 if self.causal else taps // 2
            x = layer(F.pad(F.gelu(x) if i else x, (left, taps - 1 - left)))
        x = x.transpose(1, 2)
        x = x if self.position is None else x + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.drop(self.norm(x).mean(1)))

    def tensors(self, of):
        """(name, values) in the order and layout of the library; of(parameter) is the parameter or its gradient."""
        pairs = []
        for layer in self.stem:
            pairs += [("stem.weight", of(layer.weight).permute(2, 1, 0)), ("stem.bias", of(layer.bias))]
        if self.position is not None:
            pairs.append(("position", of(self.position)))
        for block in self.blocks:
            pairs += block.tensors(of)
        return pairs + [("norm.weight", of(self.norm.weight)), ("norm.bias", of(self.norm.bias)),
                        ("head.weight", of(self.head.weight).T), ("head.bias", of(self.head.bias))]


def formula(k, count):
    """Numbers in [-1/2, 1/2), the same in C."""
    i = np.arange(count, dtype=np.int64)
    return ((i + 3) * (k + 7) * 7919 + i * i % 1000003 * 31 + k * 104729) % 2003 / 2003.0 - 0.5


def start(name, rows, values):
    """The parameter for the formula's numbers."""
    if name in ("norm.weight", "norm1.weight", "norm2.weight", "skip"):
        return 1 + 0.4 * values
    if name == "log_decay":
        return 2 * values + 1
    if name == "step.bias":
        return 2 * values - 3
    if name.endswith("weight"):
        return 3 * values / math.sqrt(rows)
    return 0.4 * values


def gradients(kind, length, channels, classes, batch, causal):
    net = Net(kind, length, channels, classes, doubling_scan, drop=0, causal=causal).double()
    decays = [block.log_decay for block in net.blocks] if kind == "mamba" else []
    with torch.no_grad():  # the views that `tensors` gives are written through
        for k, (name, view) in enumerate(net.tensors(lambda p: p)):
            rows = view.shape[0] if name != "stem.weight" else view.shape[0] * view.shape[1]
            values = start(name, rows, formula(k, view.numel())).astype(np.float32).astype(np.float64)
            if name == "log_decay":  # `tensors` gives a copy of it, not a view
                values = values.reshape(-1, 16, 8).transpose(0, 2, 1)
                view = decays.pop(0)
            view.copy_(torch.tensor(np.ascontiguousarray(values)).reshape(view.shape))
    x = torch.tensor((2 * formula(99, batch * length * channels)).astype(np.float32).astype(np.float64))
    x = x.reshape(batch, length, channels).transpose(1, 2)
    y = torch.arange(batch) % classes
    score = net(x)
    loss = F.cross_entropy(score, y)
    loss.backward()
    print(f"case {kind} {length} {channels} {classes} {batch} {int(causal)} {loss.item():.10g}")
    print("score", " ".join(f"{v:.10g}" for v in score.detach().numpy().ravel()))
    for k, (name, g) in enumerate(net.tensors(lambda p: p.grad)):
        g = np.ascontiguousarray(g.numpy()).ravel()
        picked = np.unique(np.linspace(0, len(g) - 1, 12).astype(int))
        print(name, len(g), f"{np.abs(g).max():.10g} {g @ formula(k + 50, len(g)):.10g}", len(picked),
              " ".join(f"{i} {g[i]:.10g}" for i in picked))


if __name__ == "__main__":
    for kind in ("transformer", "mamba"):
        for case in ((150, 1, 2, 3, False), (24, 1, 3, 2, False), (97, 3, 5, 2, False), (97, 2, 2, 2, True),
                     (500, 1, 2, 2, False), (2000, 1, 2, 1, False)):
            gradients(kind, *case)
