// Fourier transforms by a recursive mixed-radix FFT in double: lengths with small prime factors are fast, a
// prime factor p costs p times as much as its share.
#include <cmath>

#include "frames/fourier.h"
#include "isa/kernel.h"
#include "support/element.h"

namespace {

struct Complex {
  double re, im;
};

inline Complex times(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

/// out[k] = sum of in[i * step] * turn^(i k); `roots` holds the `turns` powers of e^(-2 pi i / turns), turns = n * step.
/// `spare` has room for as many elements as the largest prime factor.
void transform(const Complex* in, int64_t step, Complex* out, int64_t n, const Complex* roots, int64_t turns, Complex* spare) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const int64_t p = smallest_factor(n), m = n / p;
  for (int64_t r = 0; r < p; r++) transform(in + r * step, step * p, out + r * m, m, roots, turns, spare);
  const int64_t unit = turns / n;
  for (int64_t k = 0; k < m; k++) {
    for (int64_t r = 0; r < p; r++) spare[r] = times(out[r * m + k], roots[r * k * unit]);
    for (int64_t q = 0; q < p; q++) {
      Complex sum = spare[0];
      for (int64_t r = 1; r < p; r++) {
        const Complex t = times(spare[r], roots[(r * q * m * unit) % turns]);
        sum.re += t.re;
        sum.im += t.im;
      }
      out[q * m + k] = sum;
    }
  }
}

/// roots[i] = e^(-2 pi i / n), or its conjugate
void fill_roots(Complex* roots, int64_t n, bool conjugate) {
  for (int64_t i = 0; i < n; i++) {
    const double angle = (conjugate ? 2 : -2) * M_PI * double(i) / double(n);
    roots[i] = {std::cos(angle), std::sin(angle)};
  }
}

int32_t fourier_run(fourier_frame* f) {
  const int64_t n = f->n, half = n / 2 + 1;
  const bool real_in = f->kind == FourierKind_r2c, real_out = f->kind == FourierKind_c2r;
  auto* memory = static_cast<Complex*>(ptlite_scratch(size_t(n) * 4 * sizeof(Complex)));
  if (!memory) return PTLITE_NO_MEMORY;
  Complex *roots = memory, *signal = roots + n, *spectrum = signal + n, *spare = spectrum + n;
  double* buffer = reinterpret_cast<double*>(spare);
  fill_roots(roots, n, f->inverse != 0);
  const int64_t in_row = real_in ? n : real_out ? 2 * half : 2 * n, out_row = real_out ? n : real_in ? 2 * half : 2 * n;
  for (int64_t b = 0; b < f->batch; b++) {
    elem::load<double>(buffer, f->dtype, elem::at((const void*)f->in, f->dtype, b * in_row), 1, in_row);
    for (int64_t i = 0; i < n; i++) {
      if (real_in) signal[i] = {buffer[i], 0};
      else if (!real_out || i < half) signal[i] = {buffer[2 * i], buffer[2 * i + 1]};
      else signal[i] = {signal[n - i].re, -signal[n - i].im};
    }
    transform(signal, 1, spectrum, n, roots, n, spare);
    if (real_in) {
      // real by symmetry: a rounding error, or the sign of a zero, would turn its angle around
      spectrum[0].im = 0;
      if (n % 2 == 0) spectrum[n / 2].im = 0;
    }
    for (int64_t i = 0; i < out_row; i++) {
      const Complex& c = spectrum[real_out ? i : i / 2];
      buffer[i] = f->scale * (real_out || i % 2 == 0 ? c.re : c.im);
    }
    elem::store<double>(elem::at((void*)f->out, f->dtype, b * out_row), f->dtype, buffer, 1, out_row);
  }
  return PTLITE_OK;
}

int32_t short_time_fourier_run(short_time_fourier_frame* f) {
  const int64_t n = f->n_fft;
  auto* memory = static_cast<Complex*>(ptlite_scratch(size_t(n) * 4 * sizeof(Complex) + size_t(n) * 2 * sizeof(double)));
  if (!memory) return PTLITE_NO_MEMORY;
  Complex *roots = memory, *signal = roots + n, *spectrum = signal + n, *spare = spectrum + n;
  double* window = reinterpret_cast<double*>(spare + n);
  double* piece = window + n;
  fill_roots(roots, n, false);
  elem::load<double>(window, f->dtype, (const void*)f->window, 1, n);
  for (int64_t b = 0; b < f->batch; b++)
    for (int64_t t = 0; t < f->frames; t++) {
      elem::load<double>(piece, f->dtype, elem::at((const void*)f->in, f->dtype, b * f->length + t * f->hop), 1, n);
      for (int64_t i = 0; i < n; i++) signal[i] = {piece[i] * window[i], 0};
      transform(signal, 1, spectrum, n, roots, n, spare);
      for (int64_t k = 0; k < f->frequencies; k++) {
        const double value[2] = {spectrum[k].re * f->scale, spectrum[k].im * f->scale};
        const int64_t at = ((b * f->frequencies + k) * f->frames + t) * 2;
        elem::store<double>(elem::at((void*)f->out, f->dtype, at), f->dtype, value, 1, 2);
      }
    }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(fourier, fourier_run)
PTLITE_KERNEL(short_time_fourier, short_time_fourier_run)
