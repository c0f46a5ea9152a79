"""Spectrograms by PyTorch and the transformers library, and resampled sounds by definition: cases.json. python make.py (PyTorch 2.13, transformers)"""
import json
import math
import pathlib

import numpy as np
import torch
from transformers.audio_utils import mel_filter_bank


def sound(frames, channels=1):
    """Made of whole numbers, so that other languages make the same."""
    i = np.arange(frames * channels, dtype=np.int64).reshape(channels, frames)
    return (((i * 7919 + i * i % 1009 * 31) % 2001 - 1000) / 1024).astype(np.float32)


def resampled(x, before, after):
    """Each result is the sum of all samples under a sinc of 6 zero crossings in a Hann window, which cuts off at 0.99 of the lower rate's half."""
    divisor = math.gcd(before, after)
    old, new = before // divisor, after // divisor
    base = min(old, new) * 0.99
    length = -(-new * x.shape[-1] // old)
    n = np.arange(x.shape[-1])
    rows = []
    for j in range(length):
        t = (n / old - j / new) * base
        weight = np.where(abs(t) < 6, np.cos(t * np.pi / 12) ** 2 * np.sinc(t), 0) * base / old
        rows.append(x.astype(np.float64) @ weight)
    return np.stack(rows, -1)


def mel(x, sampleRate, nFft=400, winLength=None, hopLength=None, nMels=128, fMin=0.0, fMax=None, power=2.0, center=True, melScale="htk", norm=None, log=None):
    winLength = winLength or nFft
    hopLength = hopLength or winLength // 2
    waves = torch.stft(
        torch.from_numpy(x).double(), nFft, hopLength, winLength, torch.hann_window(winLength, dtype=torch.double), center, return_complex=True
    )
    filters = mel_filter_bank(nFft // 2 + 1, nMels, fMin, fMax or sampleRate / 2, sampleRate, norm, melScale)
    result = torch.from_numpy(filters.T) @ waves.abs() ** power
    if log is not None:
        result = result.clamp(min=1e-10)
        result = result.log() if log == "natural" else result.log10() * (10 if log == "decibel" else 1)
    return result.numpy()


def some(values):
    """The shape, and elements at regular distances."""
    flat = values.reshape(-1)
    step = max(1, len(flat) // 40)
    return dict(shape=list(values.shape), step=step, values=[float(f"{v:.9g}") for v in flat[::step]])


def main():
    resample_cases = [(44100, 16000, 900, 2), (8000, 16000, 100, 1), (16000, 8000, 101, 1), (48000, 44100, 700, 1), (3, 7, 20, 1), (7, 3, 50, 3)]
    mel_cases = [
        (2000, 1, dict(sampleRate=16000)),
        (2000, 2, dict(sampleRate=16000, nMels=40, hopLength=160, melScale="slaney", norm="slaney", log="log10")),
        (1500, 1, dict(sampleRate=22050, nFft=512, winLength=400, hopLength=100, nMels=64, fMin=50, fMax=8000, power=1, log="natural")),
        (900, 1, dict(sampleRate=8000, nFft=255, nMels=20, center=False, log="decibel")),
    ]
    cases = dict(
        resample=[
            dict(frames=n, channels=c, before=a, after=b, result=some(resampled(sound(n, c), a, b))) for a, b, n, c in resample_cases
        ],
        mel=[dict(frames=n, channels=c, options=o, result=some(mel(sound(n, c), **o))) for n, c, o in mel_cases],
    )
    (pathlib.Path(__file__).parent / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
