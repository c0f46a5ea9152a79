"""Trains a small network to write down spoken digits, letter by letter, and writes it with recordings to try: python make.py (PyTorch 2.13, transformers)

No recordings of people that may be given away are that small, so the voices are made, too, by voices.py: 160 speakers for training, others for the test.
"""
import json
import math
import pathlib
import sys
import time
import wave

import numpy as np
import torch
from torch import Tensor, nn
from transformers.audio_utils import mel_filter_bank

from voices import NAMES, RATE, Speaker, other, recorded, utterance

HERE = pathlib.Path(__file__).parent
BANDS, WIDTH, BLOCKS = 40, 80, 6
FILTERS = torch.from_numpy(mel_filter_bank(257, BANDS, 0, 8000, RATE, None, "htk")).float()
TOKENS = ["<pad>", "|"] + sorted(set("".join(NAMES)))
SPEAKERS, WAYS, BATCH = 160, 2, 24


def mel(samples):
    """What transcribe() makes with the options of main.mjs: [bands, steps]."""
    waves = torch.stft(samples, 512, 160, 400, torch.hann_window(400), return_complex=True)
    return (FILTERS.T @ waves.abs() ** 2).clamp(min=1e-10).log()


class Block(nn.Module):
    """Looks 80 ms to both sides, more with each block."""

    def __init__(self, width: int, size: int):
        super().__init__()
        self.along = nn.Conv1d(width, width, size, padding=size // 2, groups=width)
        self.across = nn.Conv1d(width, width, 1)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.norm(self.across(self.along(x))))


class Network(nn.Module):
    """Logits of letters for each 20 ms, [1, frames, tokens], of the logarithms of energies, [1, bands, steps]."""

    def __init__(self):
        super().__init__()
        self.into = nn.Sequential(nn.Conv1d(BANDS, WIDTH, 5, stride=2, padding=2), nn.BatchNorm1d(WIDTH), nn.ReLU())
        self.blocks = nn.Sequential(*[Block(WIDTH, 9) for _ in range(BLOCKS)])
        self.out = nn.Conv1d(WIDTH, len(TOKENS), 1)

    def forward(self, energies: Tensor) -> Tensor:
        # whatever the microphone's gain
        loudest = energies.amax((1, 2), keepdim=True)
        return self.out(self.blocks(self.into((energies - loudest).clamp(min=-12.0) / 4 + 1.5))).transpose(1, 2)


class Voices:
    """Words of some speakers, and recordings that are put together of them."""

    def __init__(self, speakers, rng):
        self.said = []
        for _ in range(speakers):
            speaker = Speaker(rng)
            self.said.append([[speaker.say(name, rng).astype(np.float32) for _ in range(WAYS)] for name in NAMES])

    def recording(self, rng, quiet=None):
        if quiet is None and rng.random() < 0.04:
            return recorded(other(int(RATE * rng.uniform(0.4, 2)), rng) + 1e-3, rng), []
        said = self.said[rng.integers(len(self.said))]
        digits = rng.integers(0, 10, rng.integers(1, 6))
        return recorded(utterance([said[d][rng.integers(WAYS)] for d in digits], rng), rng, quiet), [NAMES[d] for d in digits]

    def batch(self, count, rng):
        """Energies of as many recordings, how many steps each has, and their texts' tokens."""
        pairs = [self.recording(rng) for _ in range(count)]
        energies = [mel(torch.from_numpy(sound)) for sound, _ in pairs]
        steps = max(each.shape[1] for each in energies)
        filled = torch.stack([nn.functional.pad(each, (0, steps - each.shape[1]), value=float(each.min())) for each in energies])
        texts = [[TOKENS.index(letter) for letter in "|".join(words)] for _, words in pairs]
        return filled, torch.tensor([(each.shape[1] + 1) // 2 for each in energies]), texts


def written(logits):
    """The text of the likeliest tokens."""
    best = torch.unique_consecutive(logits[0].argmax(1)).tolist()
    return "".join(TOKENS[token] for token in best if token != 0).replace("|", " ").strip()


def errors(network, voices, rng, quiet, count=150):
    """Words that are wrong, missing or too many, in a hundred words."""
    wrong = total = 0
    with torch.no_grad():
        for _ in range(count):
            sound, words = voices.recording(rng, quiet)
            wrong += distance(written(network(mel(torch.from_numpy(sound))[None])).split(), words)
            total += len(words)
    return 100 * wrong / total


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        before, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            before, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, before + (x != y))
    return row[-1]


def train(steps, log=100):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    start = time.time()
    voices = Voices(SPEAKERS, rng)
    print(f"{SPEAKERS} voices after {time.time() - start:.0f} s")
    network = Network()
    print(f"{sum(p.numel() for p in network.parameters())} weights")
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, steps, pct_start=0.2)
    mean = math.nan
    for step in range(steps):
        energies, frames, texts = voices.batch(BATCH, rng)
        targets = torch.tensor([token for text in texts for token in text])
        logs = network(energies).log_softmax(2).transpose(0, 1)
        loss = nn.functional.ctc_loss(logs, targets, frames, torch.tensor([len(text) for text in texts]), zero_infinity=True)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1)
        optimizer.step()
        schedule.step()
        mean = loss.item() if math.isnan(mean) else 0.98 * mean + 0.02 * loss.item()
        if (step + 1) % log == 0:
            print(f"step {step + 1}: {mean:.3f} after {time.time() - start:.0f} s", flush=True)
    return network.eval()


def write_wav(name, sound, rate=RATE):
    with wave.open(str(HERE / name), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((sound * 32767).astype("<i2").tobytes())


def write_examples():
    """Three speakers that the network has not heard; the third at 8000 samples a second, as from a telephone."""
    rng = np.random.default_rng(79)
    for name, text, quiet, rate in [
        ("pin.wav", "three one four two", 30, RATE),
        ("code.wav", "nine zero six eight five", 30, 8000),
        ("call.wav", "seven five zero one nine two", 25, 8000),
    ]:
        speaker = Speaker(rng)
        sound = recorded(utterance([speaker.say(word, rng) for word in text.split()], rng), rng, quiet)
        if rate != RATE:
            spectrum = np.fft.rfft(sound)
            sound = np.fft.irfft(spectrum[: len(spectrum) // 2], len(sound) // 2) / 2
        write_wav(name, np.clip(sound, -1, 1), rate)


def main():
    network = train(int(sys.argv[1]) if len(sys.argv) > 1 else 1500)
    torch.jit.script(network)._save_for_lite_interpreter(str(HERE / "digits.ptl"))
    (HERE / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(TOKENS)}) + "\n")
    write_examples()
    rng = np.random.default_rng(1)
    voices = Voices(40, rng)
    for quiet in (30, 20, 10, 5):
        print(f"noise {quiet} dB below 40 other voices: {errors(network, voices, rng, quiet):.1f} % of words wrong")


if __name__ == "__main__":
    main()
