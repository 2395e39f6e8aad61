#!/usr/bin/env python3
"""Gradient steps and whole loops beside PyTorch, in turn, in processor time on one thread; seconds are per step. The
emulator's processor time counts on both sides.

    replay_peers.py BENCH_REPLAY [TURNS] [CASE ...]      cases: nature grid loop atari; JSON lines on stdout
"""
import json
import os
import subprocess
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
BATCH = 32


class Us:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, work, steps):
        """Seconds per step of `steps` steps."""
        self.process.stdin.write(f"{work} {steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline()) / steps


def nature(actions):
    return nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1),
                         nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, actions))


def grid(channels, actions):
    return nn.Sequential(nn.Conv2d(channels, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 128), nn.ReLU(),
                         nn.Linear(128, actions))


class Peer:
    """Target forward, online forward, Huber, backward, Adam."""

    def __init__(self, make, scale):
        self.online, self.target, self.scale = make(), make(), scale
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-4)

    def learn(self, s, s2, action, reward, live):
        with torch.no_grad():
            y = reward + 0.99 * live * self.target(torch.from_numpy(s2).float() * self.scale).max(1)[0]
        q = self.online(torch.from_numpy(s).float() * self.scale).gather(1, action).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def act(self, s):
        with torch.no_grad():
            return int(self.online(torch.from_numpy(s[None]).float() * self.scale).argmax())


def in_turn(us, work, peer, turns, steps, peer_steps, **more):
    ours, theirs = [], []
    us.seconds(work, 1), peer(1)
    for _ in range(turns):
        ours.append(us.seconds(work, steps))
        begun = time.process_time()
        peer(peer_steps)
        theirs.append((time.process_time() - begun) / peer_steps)
    ratio = float(np.median(theirs) / np.median(ours))
    print(json.dumps({"bench": "replay", "case": work, "threads": 1, "us_seconds": float(np.median(ours)),
                      "peer": "PyTorch " + torch.__version__, "peer_seconds": float(np.median(theirs)), "ratio": ratio,
                      "cpu_ratio": ratio, "ratio_of_best": min(theirs) / min(ours), "turns": turns, **more}), flush=True)


def steps_of(make, scale, shape, actions, density):
    rng = np.random.default_rng(1)
    if density:
        s, s2 = ((rng.random((BATCH, *shape)) < density).astype(np.uint8) for _ in range(2))
    else:
        s, s2 = (rng.integers(0, 256, (BATCH, *shape), dtype=np.uint8) for _ in range(2))
    action = torch.from_numpy(rng.integers(0, actions, (BATCH, 1)))
    reward, live = torch.from_numpy(rng.normal(size=BATCH).astype(np.float32)), torch.ones(BATCH)
    peer = Peer(make, scale)

    def run(count):
        for _ in range(count):
            peer.learn(s, s2, action, reward, live)
    return run


class Breakout:
    """The grid game in plain Python, for the peer's loop."""

    def __init__(self):
        self.rng = np.random.default_rng(1)
        self.reset()

    def reset(self):
        self.bricks = np.zeros((10, 10), np.uint8)
        self.bricks[1:4] = 1
        self.x, self.y, self.dx, self.dy, self.paddle = int(self.rng.integers(10)), 4, int(self.rng.choice((-1, 1))), 1, 4
        self.before = self.x, self.y
        return self.picture()

    def picture(self):
        p = np.zeros((4, 10, 10), np.uint8)
        p[0, 9, self.paddle:self.paddle + 2] = 1
        p[1, self.y, self.x] = p[2, self.before[1], self.before[0]] = 1
        p[3] = self.bricks
        return p

    def step(self, action):
        self.paddle = min(8, max(0, self.paddle + (0, -1, 1)[action]))
        x, y = self.x + self.dx, self.y + self.dy
        self.before = self.x, self.y
        if not 0 <= x < 10:
            self.dx = -self.dx
            x = self.x + self.dx
        if y < 0:
            self.dy, y = 1, self.y + 1
        if self.bricks[y, x]:
            self.bricks[y, x], self.dy = 0, -self.dy
            return self.picture(), 1.0, False
        if y == 9:
            if not 0 <= x - self.paddle < 2:
                self.x, self.y = x, y
                return self.picture(), 0.0, True
            self.dy, y, self.dx = -1, 8, -1 if x == self.paddle else 1
            self.dx = 1 if x == 0 else -1 if x == 9 else self.dx
        self.x, self.y = x, y
        if not self.bricks.any() and y > 4:
            self.bricks[1:4] = 1
        return self.picture(), 0.0, False


class Atari:
    """ale-py through gymnasium with OpenCV's scaling, as CleanRL does it."""

    def __init__(self):
        import ale_py
        import gymnasium
        gymnasium.register_envs(ale_py)
        game = gymnasium.make("ALE/Breakout-v5", frameskip=1, repeat_action_probability=0.25)
        self.game = gymnasium.wrappers.FrameStackObservation(
            gymnasium.wrappers.AtariPreprocessing(game, noop_max=0, frame_skip=4, screen_size=84), 4)

    def reset(self):
        return np.asarray(self.game.reset(seed=1)[0])

    def step(self, action):
        picture, reward, over, truncated, _ = self.game.step(action)
        return np.asarray(picture), float(np.clip(reward, -1, 1)), over or truncated


def loop_of(game, make, scale, every, rows):
    """Act, store, draw, learn: arrays in NumPy, one pair of pictures per row."""
    peer, s = Peer(make, scale), game.reset()
    shape = s.shape
    seen, after = np.zeros((rows, *shape), np.uint8), np.zeros((rows, *shape), np.uint8)
    acts, rewards, live = np.zeros(rows, np.int64), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    rng, state = np.random.default_rng(2), {"t": 0, "s": s}

    def run(count):
        for _ in range(count):
            t, now = state["t"], state["s"]
            action = peer.act(now)
            s2, reward, over = game.step(action)
            k = t % rows
            seen[k], after[k], acts[k], rewards[k], live[k] = now, s2, action, reward, not over
            state["t"], state["s"] = t + 1, game.reset() if over else s2
            if t >= BATCH and t % every == 0:
                i = rng.integers(0, min(t, rows), BATCH)
                peer.learn(seen[i], after[i], torch.from_numpy(acts[i])[:, None], torch.from_numpy(rewards[i]),
                           torch.from_numpy(live[i]))
    run(64)
    return run


def main():
    us = Us(sys.argv[1])
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    cases = sys.argv[3:] or ["nature", "grid", "loop", "atari"]
    if "nature" in cases:
        in_turn(us, "nature", steps_of(lambda: nature(4), 1 / 255, (4, 84, 84), 4, 0), turns, 4, 3)
    if "grid" in cases:
        for channels, actions, mille in ((4, 3, 90), (8, 6, 30), (8, 6, 150)):
            in_turn(us, f"grid {channels} {actions} {mille}",
                    steps_of(lambda: grid(channels, actions), 1, (channels, 10, 10), actions, mille / 1000), turns, 60, 20)
    if "loop" in cases:
        in_turn(us, "loop breakout", loop_of(Breakout(), lambda: grid(4, 3), 1, 1, 20000), turns, 200, 60)
    if "atari" in cases:
        in_turn(us, "loop ale:breakout", loop_of(Atari(), lambda: nature(4), 1 / 255, 4, 20000), turns, 24, 12)


if __name__ == "__main__":
    main()
