"""Trains a small network to tell four whistled commands apart, and writes it with its labels and a recording to try: python make.py (PyTorch 2.13, transformers)

No speech that may be given away is that small, so commands are whistles: one that rises, falls, stays, or is two short ones.
"""
import pathlib
import wave

import numpy as np
import torch
from torch import nn
from transformers.audio_utils import mel_filter_bank

HERE = pathlib.Path(__file__).parent
LABELS = ["down", "hold", "twice", "up"]
RATE, SECONDS = 16000, 0.5
FILTERS = torch.from_numpy(mel_filter_bank(257, 32, 0, 8000, RATE, None, "htk")).float()


def whistle(kind, rng):
    """Half a second: a tone from 600 to 2400 Hz with overtones, quieter or louder, in noise."""
    t = np.arange(int(RATE * SECONDS)) / RATE
    low = rng.uniform(600, 1200)
    high = low * rng.uniform(1.5, 2)
    pitch = {"up": low + (high - low) * t / SECONDS, "down": high - (high - low) * t / SECONDS}.get(kind, np.full_like(t, low))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    tone = np.sin(phase) + rng.uniform(0, 0.4) * np.sin(2 * phase)
    start, end = rng.uniform(0.02, 0.08), rng.uniform(0.42, 0.48)
    loud = (t > start) & (t < end)
    if kind == "twice":
        middle = rng.uniform(0.22, 0.28)
        loud &= abs(t - middle) > rng.uniform(0.03, 0.06)
    loud = np.convolve(loud, np.hanning(200) / np.hanning(200).sum(), "same")
    return (rng.uniform(0.1, 0.6) * tone * loud + rng.normal(0, rng.uniform(0.001, 0.03), len(t))).astype(np.float32)


def mel(samples):
    """What melSpectrogram of main.mjs makes: [32, steps]."""
    waves = torch.stft(samples, 512, 160, 400, torch.hann_window(400), return_complex=True)
    return (FILTERS.T @ waves.abs() ** 2).clamp(min=1e-10).log()


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(32, 24, 5, stride=2), nn.BatchNorm1d(24), nn.ReLU(), nn.Conv1d(24, 24, 5, stride=2), nn.BatchNorm1d(24), nn.ReLU()
        )
        self.recurrent = nn.GRU(24, 16, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, energies):
        loudest = energies.amax((1, 2), keepdim=True)
        x = self.layers((energies - loudest).clamp(min=-8) / 4 + 1)
        return self.out(self.recurrent(x.transpose(1, 2))[0][:, -1])


def batch(count, rng):
    kinds = rng.integers(0, 4, count)
    return torch.stack([mel(torch.from_numpy(whistle(LABELS[k], rng))) for k in kinds]), torch.from_numpy(kinds)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), 5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, 300)
    for _ in range(300):
        energies, kinds = batch(32, rng)
        loss = nn.functional.cross_entropy(network(energies), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.no_grad():
        energies, kinds = batch(1000, rng)
        print(f"right: {(network(energies).argmax(1) == kinds).float().mean():.3f}")
        torch.jit.script(network)._save_for_lite_interpreter(str(HERE / "whistles.ptl"))
    (HERE / "labels.txt").write_text("\n".join(LABELS) + "\n")
    with wave.open(str(HERE / "twice.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((whistle("twice", np.random.default_rng(9)) * 32767).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
