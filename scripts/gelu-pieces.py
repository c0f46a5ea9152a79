#!/usr/bin/env python3
"""Writes kernels/support/gelu_pieces.h to standard output; needs NumPy.

s(t) = t F(-t), t >= 0, with F the factor of x in gelu, as a polynomial per piece: minimax in relative error by iteratively reweighted least
squares on Chebyshev nodes. Coefficients are rounded to float one after another, lowest first, and the higher ones fitted again to what
that leaves.
"""
import math

import numpy as np

PIECES, DEGREE = 32, 5


def erf_form(t):
    return 0.5 * t * math.erfc(t / math.sqrt(2))


def tanh_form(t):
    power = math.exp(-2 * math.sqrt(2 / math.pi) * (t + 0.044715 * t**3))
    return t * power / (1 + power)


def solve(powers, nodes, weights, wanted, values):
    columns = np.stack([nodes**j for j in powers], 1) / values[:, None]
    scale = np.abs(columns).max(0)
    found = np.linalg.lstsq(columns / scale * weights[:, None], wanted * weights, rcond=None)[0] / scale
    return found, columns


def piece(s, centre, width):
    first = 0 if centre > 0 else 1  # s(0) = 0, and the relative error counts there
    low, high = (-width / 2 if first == 0 else 0.0), width / 2
    count = 4 * (DEGREE + 1) + 9
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(math.pi * (np.arange(count) + 0.5) / count)
    values = np.array([s(centre + d) for d in nodes])
    weights, rest = np.ones(count), np.ones(count)
    for _ in range(60):
        found, columns = solve(range(first, DEGREE + 1), nodes, weights, rest, values)
        error = np.abs(columns @ found - 1)
        weights *= np.sqrt(error / error.max() + 1e-3)
        weights /= weights.max()
    coefficients = [np.float32(0)] * first
    for j in range(first, DEGREE + 1):
        found, columns = solve(range(j, DEGREE + 1), nodes, weights, rest, values)
        coefficients.append(np.float32(found[0]))
        rest = rest - columns[:, 0] * float(coefficients[-1])
    return coefficients


def table(name, s, width):
    rows = np.array([piece(s, k * width, width) for k in range(PIECES)]).T
    print(f"constexpr GeluPieces {name} = {{{width!r}f, {{")
    for row in rows:
        numbers = [f"{v:.9g}" for v in row]
        numbers = [n + ("f" if "." in n or "e" in n else ".f") for n in numbers]
        print("    {" + ", ".join(numbers[:16]) + ",\n     " + ", ".join(numbers[16:]) + "},")
    print("}};")


print(
    """// s(t) = t F(-t) for gelu(x) = x F(x) = max(x, 0) - s(|x|): a polynomial for each piece of t, by lane look-ups in tables of 32.
// Written by scripts/gelu-pieces.py.
#pragma once

namespace ptlite {

/// Piece k lies around k width, half a width to each side; coefficients[j][k] belongs to (t - k width)^j.
struct GeluPieces {
  static constexpr int kPieces = 32, kDegree = 5;
  float width;
  float coefficients[kDegree + 1][kPieces];

  /// Largest t, not quite the end of the last piece. For larger x, s is less than two units in the last place of x.
  constexpr float end() const { return width * (kPieces - 0.53125f); }
};
"""
)
table("kGeluErfPieces", erf_form, 0.1640625)
table("kGeluTanhPieces", tanh_form, 0.15234375)
print("\n}  // namespace ptlite")
