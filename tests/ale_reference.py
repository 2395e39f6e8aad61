"""A scripted run inside Python, to be compared with the child process: ROM STEPS SKIP SEED prints a line per step."""
import sys

import numpy as np
from ale_py import ALEInterface, LoggerMode, roms

ALEInterface.setLoggerMode(LoggerMode.Error)
rom, steps, skip, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
ale = ALEInterface()
ale.setInt("random_seed", ((seed ^ seed >> 31) * 0x9E3779B97F4A7C15 % 2**64 >> 33) & 0x7FFFFFFF)
ale.setFloat("repeat_action_probability", 0.25)
ale.setInt("frame_skip", 1)
ale.setInt("max_num_frames_per_episode", 108000)
ale.loadROM(roms.get_rom_path(rom))
actions = list(ale.getMinimalActionSet())


def weights(cells, small):
    """How much of each of `cells` cells lies under each of `small` equal cells, in parts of a common measure."""
    w = np.zeros((small, cells), np.int64)
    for i in range(small):
        for k in range(cells):
            w[i, k] = max(0, min((k + 1) * small, (i + 1) * cells) - max(k * small, i * cells))
    return w // np.gcd(cells, small)


ROWS, COLUMNS = weights(210, 84), weights(160, 84)
WHOLE = ROWS[0].sum() * COLUMNS[0].sum()


def picture(a, b):
    big = np.maximum(a, b).astype(np.int64)
    return (ROWS @ big @ COLUMNS.T + WHOLE // 2) // WHOLE


def line(reward, last, previous):
    p = picture(last, previous).ravel()
    total = int((p * (1 + np.arange(p.size) % 97)).sum())
    print(int(reward), int(ale.game_over(with_truncation=False)), total)


ale.reset_game()  # once when it is opened, once by the first reset
ale.reset_game()
screen = ale.getScreenGrayscale()
line(0, screen, screen)
state = 12345
for _ in range(steps):
    state = (state * 1664525 + 1013904223) % 2**32
    action, reward = actions[(state >> 16) % len(actions)], 0
    for _ in range(skip - 1):
        reward += ale.act(action)
        if ale.game_over():
            break
    previous = ale.getScreenGrayscale()
    if not ale.game_over():
        reward += ale.act(action)
    last = ale.getScreenGrayscale()
    if skip == 1:
        previous = last
    line(reward, last, previous)
    if ale.game_over():
        ale.reset_game()
