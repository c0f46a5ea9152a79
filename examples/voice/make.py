"""Trains a small recurrent network to tell a voice from other sounds, and writes it with a recording to try: python make.py (PyTorch 2.13)

No recordings of people that may be given away are that small, so voices are made, too: pulses of a glottis through the resonances of vowels, in syllables.
"""
import pathlib
import wave

import numpy as np
import torch
from torch import Tensor, nn
from transformers.audio_utils import mel_filter_bank

HERE = pathlib.Path(__file__).parent
RATE, CHUNK, BANDS = 16000, 512, 24
FILTERS = torch.from_numpy(mel_filter_bank(257, BANDS, 0, 8000, RATE, None, "htk")).float()
# the lowest three resonances of some vowels, in Hz
VOWELS = [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410), (440, 1020, 2240)]


def smooth(values, length):
    window = np.hanning(length + 2)[1:-1]
    return np.convolve(values, window / window.sum(), "same")


def syllable(rng, pitch):
    """A vowel, often after a consonant, which is noise."""
    count = int(RATE * rng.uniform(0.1, 0.28))
    t = np.arange(count) / RATE
    tone = pitch * (1 + rng.uniform(-0.15, 0.15) * t / t[-1] + 0.02 * np.sin(2 * np.pi * rng.uniform(4, 7) * t))
    phase = 2 * np.pi * np.cumsum(tone) / RATE
    resonances = [f * rng.uniform(0.85, 1.2) for f in VOWELS[rng.integers(len(VOWELS))]]
    sound = np.zeros(count)
    for k in range(1, int(4000 / pitch)):
        strength = sum(1 / (1 + ((k * pitch - f) / (60 + 0.06 * f)) ** 2) for f in resonances) / k**0.5
        sound += strength * np.sin(k * phase + rng.uniform(0, 6))
    sound *= np.sin(np.pi * (t / t[-1]) ** 0.6) / np.abs(sound).max()
    if rng.random() < 0.6:
        hiss = np.diff(rng.normal(0, 1, int(RATE * rng.uniform(0.03, 0.1)) + 1))
        sound = np.concatenate([hiss * rng.uniform(0.03, 0.12) * np.hanning(len(hiss)), sound])
    return sound


def words(rng, seconds):
    pitch, parts, length = rng.uniform(85, 260), [], 0
    while length < seconds * RATE:
        parts += [syllable(rng, pitch * rng.uniform(0.85, 1.2)), np.zeros(int(RATE * rng.uniform(0, 0.06)))]
        length += len(parts[-1]) + len(parts[-2])
    return np.concatenate(parts)


def other(rng, count):
    """What is no voice: hum, beeps, knocks, a passing car."""
    t = np.arange(count) / RATE
    sound = np.zeros(count)
    for kind in rng.choice(4, rng.integers(1, 3), replace=False):
        if kind == 0:
            hum = rng.uniform(50, 120)
            sound += sum(np.sin(2 * np.pi * hum * k * t + k) / k for k in range(1, 8)) * rng.uniform(0.01, 0.1)
        elif kind == 1:
            on = smooth(rng.random(count // 4000 + 1).repeat(4000)[:count] > 0.7, 400)
            sound += on * np.sin(2 * np.pi * rng.uniform(400, 3500) * t) * rng.uniform(0.05, 0.4)
        elif kind == 2:
            for at in rng.integers(0, count, rng.integers(1, 6)):
                knock = rng.normal(0, rng.uniform(0.1, 0.6), 1200) * np.exp(-np.arange(1200) / rng.uniform(60, 250))
                sound[at : at + 1200] += knock[: count - at]
        else:
            roar = smooth(rng.normal(0, 1, count), 40)
            sound += roar * rng.uniform(0.1, 0.5) * np.exp(-(((t - rng.uniform(0, t[-1])) / 0.7) ** 2))
    return sound


def recording(rng, seconds, spoken):
    """Samples, and whether there is a voice at each; `spoken` are pairs of a start and a duration."""
    count = int(seconds * RATE)
    sound, voice = other(rng, count), np.zeros(count, bool)
    loud = rng.uniform(0.15, 0.7)
    for start, duration in spoken:
        said = words(rng, duration)[: count - int(start * RATE)]
        at = slice(int(start * RATE), int(start * RATE) + len(said))
        sound[at] += loud * said
        voice[at] = True
    return (sound + rng.normal(0, 10 ** rng.uniform(-3.5, -2), count)).clip(-1, 1).astype(np.float32), voice


def any_recording(rng, seconds):
    spoken, at = [], rng.uniform(0, 1.5)
    while at < seconds - 0.4:
        spoken.append((at, min(rng.uniform(0.4, 2.5), seconds - at)))
        at += spoken[-1][1] + rng.uniform(0.6, 2.5)
    return recording(rng, seconds, spoken)


def mel(samples):
    """What melSpectrogram of main.mjs makes of each chunk, [chunks, bands]."""
    chunks = samples[: len(samples) // CHUNK * CHUNK].reshape(-1, CHUNK)
    return ((torch.fft.rfft(chunks * torch.hann_window(CHUNK)).abs() ** 2) @ FILTERS).clamp(min=1e-10).log()


class VoiceActivity(nn.Module):
    """Hears chunk after chunk, and remembers what it has heard: how loud the background is, and the state of a recurrent layer."""

    background: Tensor
    state: Tensor
    heard: int

    def __init__(self):
        super().__init__()
        self.into = nn.Linear(2 * BANDS, 32)
        self.recurrent = nn.GRU(32, 32, batch_first=True)
        self.out = nn.Linear(32, 1)
        self.reset()

    @torch.jit.export
    def reset(self) -> None:
        """Before another recording."""
        self.background = torch.zeros(1, 24)
        self.state = torch.zeros(1, 1, 32)
        self.heard = 0

    def forward(self, energies: Tensor) -> Tensor:
        """The chance of a voice in the next chunk, of which this is the spectrum [1, bands, 1]."""
        now = energies.reshape(1, 24)
        if self.heard == 0:
            self.background = now
        self.heard += 1
        scores, self.state = self.score(now.unsqueeze(0), self.background.unsqueeze(0), self.state)
        self.background = follow(self.background, now)
        return scores.sigmoid()

    def score(self, energies: Tensor, background: Tensor, state: Tensor):
        """Of several chunks, [recordings, chunks, bands]."""
        x = torch.cat([energies / 4 + 1, (energies - background) / 2], 2)
        x, state = self.recurrent(torch.relu(self.into(x)), state)
        return self.out(x).squeeze(2), state


def follow(background: Tensor, energies: Tensor) -> Tensor:
    """How loud the background is: less where a chunk was quieter, and a little more with every chunk."""
    return torch.minimum(energies * 0.3 + background * 0.7, background + 0.02)


def backgrounds(energies):
    found = [energies[:, 0]]
    for i in range(energies.shape[1] - 1):
        found.append(follow(found[-1], energies[:, i]))
    return torch.stack(found, 1)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = VoiceActivity()
    recordings = [any_recording(rng, 5) for _ in range(220)]
    energies = torch.stack([mel(torch.from_numpy(sound)) for sound, _ in recordings])
    background = backgrounds(energies)
    voices = torch.stack([torch.from_numpy(v[: len(v) // CHUNK * CHUNK].reshape(-1, CHUNK).mean(1) > 0.5) for _, v in recordings]).float()

    def score(some):
        return network.score(energies[some], background[some], torch.zeros(1, len(some), 32))[0]

    steps = 300
    optimizer = torch.optim.Adam(network.parameters(), 5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, steps)
    for _ in range(steps):
        some = torch.from_numpy(rng.choice(200, 32, replace=False))
        loss = nn.functional.binary_cross_entropy_with_logits(score(some), voices[some])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        rest = torch.arange(200, 220)
        print(f"right, of chunks: {((score(rest) > 0) == (voices[rest] > 0.5)).float().mean():.3f}")
        torch.jit.script(network)._save_for_lite_interpreter(str(HERE / "voice.ptl"))
    write_example()


def write_example():
    sound, voice = recording(np.random.default_rng(7), 6, [(0.8, 1.4), (2.9, 0.7), (4.2, 1.2)])
    changes = np.flatnonzero(np.diff(voice, prepend=False, append=False)) / RATE
    print("voices in talk.wav:", ", ".join(f"{a:.2f} s to {b:.2f} s" for a, b in changes.reshape(-1, 2)))
    with wave.open(str(HERE / "talk.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((sound * 32767).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
