// Fourier transforms by a recursive mixed-radix FFT in double, and by Bluestein's algorithm ("A linear filtering approach to the
// computation of discrete Fourier transform", 1970) where the length has a large prime factor: as a convolution, which is carried out by
// transforms of a power of two. The lanes of a vector are different signals, so that no step needs to know how long a vector is.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "frames/fourier.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "support/element.h"
#include "vec/vec.h"

namespace {

using Doubles = ptlite::Vec<double>;

/// A complex number of one signal, or of as many as a vector has lanes.
template <class V>
struct Complex {
  V re, im;

  Complex operator+(const Complex& b) const { return {re + b.re, im + b.im}; }
  Complex operator-(const Complex& b) const { return {re - b.re, im - b.im}; }
};

using Root = Complex<double>;

template <class V>
PTLITE_INLINE Complex<V> times(const Complex<V>& a, const Root& root) {
  const V re(root.re), im(root.im);
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}

template <class V>
PTLITE_INLINE Complex<V> conjugate(const Complex<V>& a) {
  return {a.re, V(0.) - a.im};
}

/// -i times a number, or i times where `inverse`.
template <class V>
PTLITE_INLINE Complex<V> quarter_turn(const Complex<V>& a, bool inverse) {
  return inverse ? Complex<V>{V(0.) - a.im, a.re} : Complex<V>{a.im, V(0.) - a.re};
}

/// Points that are combined at a time: four, which take no product among themselves, or the smallest prime factor.
int64_t radix_of(int64_t n) {
  if (n % 4 == 0) return 4;
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0) return p;
  return n;
}

/// What a transform has in common at all depths of the recursion.
template <class V>
struct Transform {
  const Root* roots;  ///< the `turns` powers of e^(-2 pi i / turns), or of its conjugate
  int64_t turns;
  bool inverse;
  Complex<V>* spare;  ///< room for as many elements as the largest factor

  /// out[k] = sum of in[i * step] * turn^(i k), for n * step = turns
  void run(const Complex<V>* in, int64_t step, Complex<V>* out, int64_t n) const {
    if (n == 1) {
      out[0] = in[0];
      return;
    }
    const int64_t p = radix_of(n), m = n / p;
    for (int64_t r = 0; r < p; r++) {
      if (m == 1) out[r] = in[r * step];
      else run(in + r * step, step * p, out + r * m, m);
    }
    for (int64_t k = 0; k < m; k++) {
      if (p == 4) four(out + k, m, k * step);
      else if (p == 2) two(out + k, m, k * step);
      else any(out + k, m, p, k * step);
    }
  }

 private:
  PTLITE_INLINE void two(Complex<V>* at, int64_t m, int64_t angle) const {
    const Complex<V> a = at[0], b = times(at[m], roots[angle]);
    at[0] = a + b;
    at[m] = a - b;
  }

  PTLITE_INLINE void four(Complex<V>* at, int64_t m, int64_t angle) const {
    const Complex<V> a = at[0], b = times(at[m], roots[angle]), c = times(at[2 * m], roots[2 * angle]), d = times(at[3 * m], roots[3 * angle]);
    const Complex<V> even = a + c, odd = a - c, sum = b + d, turned = quarter_turn(b - d, inverse);
    at[0] = even + sum;
    at[m] = odd + turned;
    at[2 * m] = even - sum;
    at[3 * m] = odd - turned;
  }

  void any(Complex<V>* at, int64_t m, int64_t p, int64_t angle) const {
    for (int64_t r = 0; r < p; r++) spare[r] = times(at[r * m], roots[r * angle]);
    const int64_t unit = turns / p;
    for (int64_t q = 0; q < p; q++) {
      Complex<V> sum = spare[0];
      for (int64_t r = 1; r < p; r++) sum = sum + times(spare[r], roots[r * q % p * unit]);
      at[q * m] = sum;
    }
  }
};

void fill_roots(Root* roots, int64_t n, bool conjugate) {
  for (int64_t i = 0; i < n; i++) {
    const double angle = (conjugate ? 2 : -2) * M_PI * double(i) / double(n);
    roots[i] = {std::cos(angle), std::sin(angle)};
  }
}

/// A larger prime factor takes longer than a convolution of more than twice the length.
constexpr int64_t kLargestFactor = 64;
/// What `two` and `four` combine; room for it is all the spare that a power of two needs.
constexpr int64_t kSmallRadix = 4;

/// The length of the convolution by which n points are transformed; 0 where their factors are small.
int64_t padded_length(int64_t n) {
  int64_t rest = n;
  for (int64_t p = 2; p <= kLargestFactor; p++)
    while (rest % p == 0) rest /= p;
  if (rest == 1) return 0;
  int64_t padded = 1;
  while (padded < 2 * n - 1) padded *= 2;
  return padded;
}

/// How signals of n points are transformed.
class Plan {
 public:
  Plan(int64_t n, bool inverse) : n_(n), padded_(padded_length(n)), inverse_(inverse) {}

  /// Complex numbers that `prepare` wants.
  size_t roots() const { return padded_ == 0 ? size_t(n_) : size_t(n_) + 3 * size_t(padded_) + kSmallRadix; }
  /// Complex numbers that `run` wants, for each lane.
  int64_t room() const { return padded_ == 0 ? 3 * n_ : n_ + 2 * padded_ + kSmallRadix; }

  void prepare(Root* memory) {
    roots_ = memory;
    if (padded_ == 0) return fill_roots(roots_, n_, inverse_);
    fill_roots(roots_, padded_, false);
    chirp_ = roots_ + padded_;
    filter_ = chirp_ + n_;
    Root *taps = filter_ + padded_, *spare = taps + padded_;
    // e^(-pi i j^2 / n) by the square modulo 2 n, which a double holds exactly; j^2 grows by 2 j + 1
    for (int64_t j = 0, square = 0; j < n_; square = (square + 2 * j + 1) % (2 * n_), j++) {
      const double angle = (inverse_ ? M_PI : -M_PI) * double(square) / double(n_);
      chirp_[j] = {std::cos(angle), std::sin(angle)};
    }
    std::fill(taps, taps + padded_, Root{0, 0});
    const double scale = 1 / double(padded_);
    for (int64_t j = 0; j < n_; j++) taps[j] = taps[j == 0 ? 0 : padded_ - j] = {chirp_[j].re * scale, -chirp_[j].im * scale};
    Transform<double>{roots_, padded_, false, spare}.run(taps, 1, filter_, padded_);
  }

  /// Transforms the n points at `memory`, which has room(); returns where their spectrum is.
  template <class V>
  const Complex<V>* run(Complex<V>* memory) const {
    Complex<V>* out = memory + n_;
    if (padded_ == 0) {
      Transform<V>{roots_, n_, inverse_, out + n_}.run(memory, 1, out, n_);
      return out;
    }
    Complex<V>*other = out + padded_, *spare = other + padded_;
    const Transform<V> transform{roots_, padded_, false, spare};
    for (int64_t j = 0; j < n_; j++) out[j] = times(memory[j], chirp_[j]);
    std::fill(out + n_, out + padded_, Complex<V>{V(0.), V(0.)});
    transform.run(out, 1, other, padded_);
    ptlite::poll();
    // the inverse of a transform is the conjugate of that of conjugates
    for (int64_t j = 0; j < padded_; j++) other[j] = conjugate(times(other[j], filter_[j]));
    transform.run(other, 1, out, padded_);
    for (int64_t k = 0; k < n_; k++) out[k] = times(conjugate(out[k]), chirp_[k]);
    return out;
  }

 private:
  int64_t n_, padded_;
  bool inverse_;
  Root* roots_ = nullptr;   ///< the powers of e^(-2 pi i / length), or of its conjugate, for the length of the transforms
  Root* chirp_ = nullptr;   ///< e^(-pi i j^2 / n), or its conjugate
  Root* filter_ = nullptr;  ///< the spectrum of the chirp's conjugate
};

/// Transforms of signals that lie `lanes` doubles apart in vectors: `load(signal, at, step)` writes the points of a signal to
/// at[0], at[step] ..., real and imaginary parts in turn, `store` reads its spectrum from there.
template <class V, class Load, class Store>
void transform_group(const Plan& plan, int64_t n, int64_t first, int64_t count, double* memory, const Load& load, const Store& store) {
  constexpr int64_t kLanes = sizeof(V) / sizeof(double);
  if (count < kLanes) std::fill(memory, memory + 2 * n * kLanes, 0.);
  for (int64_t i = 0; i < count; i++) load(first + i, memory + i, kLanes);
  const auto* spectrum = reinterpret_cast<const double*>(plan.run(reinterpret_cast<Complex<V>*>(memory)));
  for (int64_t i = 0; i < count; i++) store(first + i, spectrum + i, kLanes);
}

/// Longer signals are transformed one by one: those of a vector would not fit into the caches.
constexpr int64_t kLongest = 1 << 16;

/// All of `count` signals of n points. `row`: doubles of memory that `load` and `store` are given beside.
template <class Load, class Store>
int32_t transform_all(const Plan& plan, int64_t count, int64_t n, int64_t row, const Load& load, const Store& store) {
  constexpr int64_t kMost = Doubles::size;
  const int64_t lanes = n <= kLongest && count > 1 ? kMost : 1, groups = (count + lanes - 1) / lanes;
  // the vectors come first, for their alignment
  const int64_t doubles = plan.room() * 2 * lanes;
  std::atomic<bool> fine{true};
  ptlite::parallel_for(groups, ptlite::grain_for(32 * n * lanes), [&](int64_t begin, int64_t end) {
    auto* memory = static_cast<double*>(ptlite::range_scratch(size_t(doubles + row) * sizeof(double)));
    if (memory == nullptr) {
      fine = false;
      return;
    }
    double* buffer = memory + doubles;
    const auto read = [&](int64_t i, double* to, int64_t step) { load(i, buffer, to, step); };
    const auto write = [&](int64_t i, const double* from, int64_t step) { store(i, buffer, from, step); };
    for (int64_t g = begin; g < end; g++) {
      const int64_t first = g * lanes, some = std::min(lanes, count - first);
      if (some == 1) transform_group<double>(plan, n, first, 1, memory, read, write);
      else transform_group<Doubles>(plan, n, first, some, memory, read, write);
    }
  });
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t fourier_run(fourier_frame* f) {
  const int64_t n = f->n, half = n / 2 + 1;
  const bool real_in = f->kind == FourierKind_r2c, real_out = f->kind == FourierKind_c2r;
  const int64_t in_row = real_in ? n : real_out ? 2 * half : 2 * n, out_row = real_out ? n : real_in ? 2 * half : 2 * n;
  const auto load = [&](int64_t b, double* row, double* to, int64_t step) {
    elem::load<double>(row, f->dtype, elem::at((const void*)f->in, f->dtype, b * in_row), 1, in_row);
    for (int64_t i = 0; i < n; i++, to += 2 * step) {
      // the other half of a real signal's spectrum is its conjugate
      const bool mirrored = real_out && i >= half;
      const int64_t at = mirrored ? n - i : i;
      to[0] = real_in ? row[i] : row[2 * at];
      to[step] = real_in ? 0. : mirrored ? -row[2 * at + 1] : row[2 * at + 1];
    }
  };
  const auto store = [&](int64_t b, double* row, const double* from, int64_t step) {
    const int64_t parts = real_out ? 2 : 1;
    for (int64_t i = 0; i < out_row; i++) row[i] = f->scale * from[parts * i * step];
    if (real_in) {
      // real by symmetry: a rounding error, or the sign of a zero, would turn its angle around
      row[1] = f->scale * 0.;
      if (n % 2 == 0) row[2 * (n / 2) + 1] = f->scale * 0.;
    }
    elem::store<double>(elem::at((void*)f->out, f->dtype, b * out_row), f->dtype, row, 1, out_row);
  };
  if (f->batch == 0) return PTLITE_OK;
  Plan plan(n, f->inverse != 0);
  auto* roots = static_cast<Root*>(ptlite_scratch(plan.roots() * sizeof(Root)));
  if (roots == nullptr) return PTLITE_NO_MEMORY;
  plan.prepare(roots);
  return transform_all(plan, f->batch, n, 2 * n + 2, load, store);
}

int32_t short_time_fourier_run(short_time_fourier_frame* f) {
  const int64_t n = f->n_fft;
  if (f->batch * f->frames == 0) return PTLITE_OK;
  Plan plan(n, false);
  auto* roots = static_cast<Root*>(ptlite_scratch(plan.roots() * sizeof(Root) + size_t(n) * sizeof(double)));
  if (roots == nullptr) return PTLITE_NO_MEMORY;
  plan.prepare(roots);
  double* window = reinterpret_cast<double*>(roots + plan.roots());
  elem::load<double>(window, f->dtype, (const void*)f->window, 1, n);
  const auto load = [&](int64_t u, double* row, double* to, int64_t step) {
    const int64_t start = u / f->frames * f->length + u % f->frames * f->hop;
    elem::load<double>(row, f->dtype, elem::at((const void*)f->in, f->dtype, start), 1, n);
    for (int64_t i = 0; i < n; i++, to += 2 * step) {
      to[0] = row[i] * window[i];
      to[step] = 0;
    }
  };
  const auto store = [&](int64_t u, double* row, const double* from, int64_t step) {
    const int64_t batch = u / f->frames, frame = u % f->frames;
    for (int64_t k = 0; k < f->frequencies; k++, from += 2 * step) {
      row[0] = from[0] * f->scale;
      row[1] = from[step] * f->scale;
      const int64_t at = ((batch * f->frequencies + k) * f->frames + frame) * 2;
      elem::store<double>(elem::at((void*)f->out, f->dtype, at), f->dtype, row, 1, 2);
    }
  };
  return transform_all(plan, f->batch * f->frames, n, n + 2, load, store);
}

}  // namespace

PTLITE_KERNEL(fourier, fourier_run)
PTLITE_KERNEL(short_time_fourier, short_time_fourier_run)
