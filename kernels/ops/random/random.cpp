// Random numbers: every distribution takes the generator's words in the order in which PyTorch's serial kernels do.
#include <math.h>

#include "frames/random.h"
#include "dispatch/kernel.h"
#include "support/truncated.h"
#include "vec/normal16.h"
#include "vec/random.h"

namespace {

using namespace ptlite;

template <class Frame>
Generator& generator_of(Frame* f) {
  return *reinterpret_cast<Generator*>(f->state);
}

// out[i] = f(a number in 0..1 with this many random bits).
template <class F>
void each_uniform(Generator& g, float* out, int64_t n, int32_t digits, F f) {
  const uint32_t mask = (1u << digits) - 1;
  const float step = 1.0f / static_cast<float>(1u << digits);
  g.each32(n, [=](int64_t i, uint32_t word) { out[i] = f(static_cast<float>(static_cast<int32_t>(word & mask)) * step); });
}

void uniform(Generator& g, float* out, int64_t n, const random_fill_frame* f) {
  const float from = static_cast<float>(f->a);
  const float width = static_cast<float>(f->b) - from;
  each_uniform(g, out, n, f->digits, [=](float x) { return __builtin_fmaf(x, width, from); });
}

void uniform(Generator& g, double* out, int64_t n, const random_fill_frame* f) {
  for (int64_t i = 0; i < n; ++i) out[i] = __builtin_fma(uniform53(g), f->b - f->a, f->a);
}

// Blocks of 16; where the count is no multiple, the last 16 elements are drawn anew.
template <class T, class Draw>
void normal_blocks(T* out, int64_t n, const random_fill_frame* f, Draw draw) {
  draw(out, n);
  const T mean = static_cast<T>(f->a), deviation = static_cast<T>(f->b);
  normal16(out, n / 16, mean, deviation);
  if (n % 16 == 0) return;
  draw(out + n - 16, 16);
  normal16(out + n - 16, 1, mean, deviation);
}

void normal(Generator& g, float* out, int64_t n, const random_fill_frame* f) {
  normal_blocks(out, n, f, [&](float* to, int64_t count) { each_uniform(g, to, count, f->digits, [](float x) { return x; }); });
}

void normal(Generator& g, double* out, int64_t n, const random_fill_frame* f) {
  normal_blocks(out, n, f, [&](double* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[i] = uniform53(g);
  });
}

template <class T, class Sample>
void each(T* out, int64_t n, Sample sample) {
  for (int64_t i = 0; i < n; ++i) out[i] = truncated<T>(sample());
}

// Distributions that are computed in double whatever the element type is.
template <class T>
int32_t through_double(Generator& g, T* out, const random_fill_frame* f) {
  const double a = f->a, b = f->b;
  const int64_t n = f->count;
  switch (f->op) {
    case RandomOp_normal_serial:
      each(out, n, [&] { return __builtin_fma(normal_serial(g), b, a); });
      return PTLITE_OK;
    case RandomOp_log_normal:
      each(out, n, [&] { return ::exp(__builtin_fma(normal_serial(g), b, a)); });
      return PTLITE_OK;
    case RandomOp_exponential:
      each(out, n, [&] { return -1.0 / a * ::log1p(-uniform53(g)); });
      return PTLITE_OK;
    case RandomOp_cauchy:
      each(out, n, [&] { return a + b * ::tan(M_PI * (uniform53(g) - 0.5)); });
      return PTLITE_OK;
    case RandomOp_geometric:
      each(out, n, [&] { return ::ceil(::log(uniform53(g)) / ::log1p(-a)); });
      return PTLITE_OK;
    case RandomOp_bernoulli:
      each(out, n, [&] { return uniform53(g) < a ? 1 : 0; });
      return PTLITE_OK;
    case RandomOp_integer32:
    case RandomOp_integer64:
      each(out, n, [&] {
        const uint64_t word = f->op == RandomOp_integer64 ? g.bits64() : g.bits32();
        const uint64_t range = static_cast<uint64_t>(f->range);
        return static_cast<int64_t>((range == 0 ? word : word % range) + static_cast<uint64_t>(f->base));
      });
      return PTLITE_OK;
    case RandomOp_mantissa:
      each(out, n, [&] { return static_cast<int64_t>((f->digits > 32 ? g.bits64() : g.bits32()) % ((1ull << f->digits) + 1)); });
      return PTLITE_OK;
    default:
      return PTLITE_NO_DTYPE;
  }
}

template <class T>
int32_t fill_float(const random_fill_frame* f) {
  Generator& g = generator_of(f);
  T* out = reinterpret_cast<T*>(f->out);
  if (f->op == RandomOp_uniform) {
    uniform(g, out, f->count, f);
    return PTLITE_OK;
  }
  if (f->op == RandomOp_normal) {
    normal(g, out, f->count, f);
    return PTLITE_OK;
  }
  return through_double(g, out, f);
}

int32_t random_fill(random_fill_frame* f) {
  switch (f->dtype) {
    PTLITE_HELD_CASE(PTLITE_FLOAT32, PTLITE_NO_DTYPE) return fill_float<float>(f);
    PTLITE_HELD_CASE(PTLITE_FLOAT64, PTLITE_NO_DTYPE) return fill_float<double>(f);
    PTLITE_HELD_CASE(PTLITE_INT64, PTLITE_NO_DTYPE) return through_double(generator_of(f), reinterpret_cast<int64_t*>(f->out), f);
    default: return PTLITE_NO_DTYPE;
  }
}

template <class T, class Uniform>
int32_t trials(const random_trials_frame* f, Uniform next) {
  const T* p = reinterpret_cast<const T*>(f->p);
  T* out = reinterpret_cast<T*>(f->out);
  for (int64_t i = 0; i < f->count; ++i) {
    if (!(p[i] >= 0 && p[i] <= 1)) return PTLITE_INDEX_RANGE;
    out[i] = next() < p[i] ? 1 : 0;
  }
  return PTLITE_OK;
}

int32_t random_trials(random_trials_frame* f) {
  Generator& g = generator_of(f);
  if (f->dtype == PTLITE_FLOAT64) return trials<double>(f, [&] { return uniform53(g); });
  if (f->dtype == PTLITE_FLOAT32) return trials<float>(f, [&] { return static_cast<float>(g.bits32() & 0xffffff) * 0x1p-24f; });
  return PTLITE_NO_DTYPE;
}

int32_t random_permutation(random_permutation_frame* f) {
  Generator& g = generator_of(f);
  int64_t* out = reinterpret_cast<int64_t*>(f->out);
  for (int64_t i = 0; i < f->count; ++i) out[i] = i;
  for (int64_t i = 0; i + 1 < f->count; ++i) {
    const int64_t other = i + static_cast<int64_t>(g.bits32() % static_cast<uint64_t>(f->count - i));
    const int64_t kept = out[i];
    out[i] = out[other];
    out[other] = kept;
  }
  return PTLITE_OK;
}

// Draws from the running sums of the weights.
template <class T>
int32_t choices(const random_choices_frame* f) {
  Generator& g = generator_of(f);
  T* sums = static_cast<T*>(ptlite_scratch(static_cast<size_t>(f->columns) * sizeof(T)));
  if (sums == nullptr) return PTLITE_NO_MEMORY;
  const T* weights = reinterpret_cast<const T*>(f->weights);
  int64_t* out = reinterpret_cast<int64_t*>(f->out);
  for (int64_t r = 0; r < f->rows; ++r, weights += f->columns) {
    T sum = 0;
    for (int64_t c = 0; c < f->columns; ++c) {
      if (!(weights[c] >= 0 && weights[c] <= __DBL_MAX__)) return PTLITE_INDEX_RANGE;
      sum += weights[c];
      sums[c] = sum;
    }
    if (!(sum > 0)) return PTLITE_INDEX_RANGE;
    if (sum < 0.99999 || sum > 1.00001)
      for (int64_t c = 0; c < f->columns; ++c) sums[c] /= sum;
    for (int64_t s = 0; s < f->samples; ++s) {
      const double at = uniform53(g);
      int64_t low = 0, high = f->columns;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (static_cast<double>(sums[middle]) < at) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      *out++ = low < f->columns ? low : f->columns - 1;
    }
  }
  return PTLITE_OK;
}

int32_t random_choices(random_choices_frame* f) {
  if (f->dtype == PTLITE_FLOAT64) return choices<double>(f);
  return f->dtype == PTLITE_FLOAT32 ? choices<float>(f) : PTLITE_NO_DTYPE;
}

// Small rates: the product of uniform numbers until it falls below e^-rate. Others: the transformed rejection of Hoermann.
double poisson(Generator& g, double rate) {
  if (rate <= 0) return 0;
  if (rate < 10) {
    const double least = ::exp(-rate);
    double count = 0;
    for (double product = uniform53(g); product > least; product *= uniform53(g)) count += 1;
    return count;
  }
  const double b = 0.931 + 2.53 * ::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double accepted = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = uniform53(g) - 0.5;
    const double v = uniform53(g);
    const double us = 0.5 - ::fabs(u);
    const double k = ::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= accepted) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (::log(v) + ::log(inverse_alpha) - ::log(a / (us * us) + b) <= -rate + k * ::log(rate) - ::lgamma(k + 1)) return k;
  }
}

template <class T>
int32_t poissons(const random_poisson_frame* f) {
  Generator& g = generator_of(f);
  const T* rate = reinterpret_cast<const T*>(f->in);
  T* out = reinterpret_cast<T*>(f->out);
  for (int64_t i = 0; i < f->count; ++i) {
    if (!(rate[i] >= 0)) return PTLITE_INDEX_RANGE;
    out[i] = static_cast<T>(poisson(g, static_cast<double>(rate[i])));
  }
  return PTLITE_OK;
}

int32_t random_poisson(random_poisson_frame* f) {
  if (f->dtype == PTLITE_FLOAT64) return poissons<double>(f);
  return f->dtype == PTLITE_FLOAT32 ? poissons<float>(f) : PTLITE_NO_DTYPE;
}

template <class T>
int32_t slopes(const random_slopes_frame* f) {
  Generator& g = generator_of(f);
  const T* in = reinterpret_cast<const T*>(f->in);
  T* noise = reinterpret_cast<T*>(f->noise);
  const double from = static_cast<T>(f->a), width = static_cast<double>(static_cast<T>(f->b)) - from;
  for (int64_t i = 0; i < f->count; ++i) {
    double slope = 1;
    if (in[i] <= 0) {
      slope = uniform53(g) * width;
      // PyTorch rounds the product: no fused multiply-add here
      PTLITE_KEEP_ROUNDED(slope);
      slope += from;
    }
    noise[i] = static_cast<T>(slope);
  }
  return PTLITE_OK;
}

int32_t random_slopes(random_slopes_frame* f) {
  if (f->dtype == PTLITE_FLOAT64) return slopes<double>(f);
  return f->dtype == PTLITE_FLOAT32 ? slopes<float>(f) : PTLITE_NO_DTYPE;
}

int32_t random_seed(random_seed_frame* f) {
  generator_of(f).seed(static_cast<uint32_t>(f->seed));
  return PTLITE_OK;
}

int32_t random_state_bytes(random_state_bytes_frame* f) {
  f->bytes = sizeof(Generator);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(random_seed, random_seed)
PTLITE_KERNEL(random_state_bytes, random_state_bytes)
PTLITE_KERNEL(random_fill, random_fill)
PTLITE_KERNEL(random_trials, random_trials)
PTLITE_KERNEL(random_permutation, random_permutation)
PTLITE_KERNEL(random_choices, random_choices)
PTLITE_KERNEL(random_poisson, random_poisson)
PTLITE_KERNEL(random_slopes, random_slopes)
