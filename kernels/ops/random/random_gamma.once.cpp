// Gamma and binomial numbers, taking the generator's words in the order in which PyTorch's serial kernels do.
#include <math.h>

#include "frames/random-gamma.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "vec/random.h"

namespace {

using namespace ptlite;

// The squeeze of Marsaglia and Tsang ("A simple method for generating gamma variables", 2000); shapes below 1 by way of shape + 1.
double gamma_sample(Generator& g, double shape) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = ::pow(1 - uniform53(g), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0f / 3.0f;  // PyTorch's constants are floats here
  const double c = 1 / ::sqrt(9 * d);
  // negative shapes have no distribution; they and NaN must not loop for ever
  if (!(c > 0)) return d == INFINITY ? d : NAN;
  for (;;) {
    double x, y;
    do {
      x = normal_serial(g);
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - uniform53(g);
    const double square = x * x;
    if (u < 1 - 0.0331f * square * square) return scale * d * v;
    if (::log(u) < 0.5 * square + d * (1 - v + ::log(v))) return scale * d * v;
  }
}

template <class T>
int32_t gammas(const random_gamma_frame* f, T least) {
  Generator& g = *reinterpret_cast<Generator*>(f->state);
  const T* shape = reinterpret_cast<const T*>(f->in);
  T* out = reinterpret_cast<T*>(f->out);
  for (int64_t i = 0; i < f->count; ++i) {
    const T sample = static_cast<T>(gamma_sample(g, static_cast<double>(shape[i])));
    out[i] = sample > least ? sample : least;
  }
  return PTLITE_OK;
}

int32_t random_gamma(random_gamma_frame* f) {
  if (f->dtype == PTLITE_FLOAT64) return gammas<double>(f, __DBL_MIN__);
  return f->dtype == PTLITE_FLOAT32 ? gammas<float>(f, __FLT_MIN__) : PTLITE_NO_DTYPE;
}

// log(k!) minus Stirling's approximation of it.
double stirling_tail(double k) {
  static const double known[] = {0.0810614667953272,  0.0413406959554092,  0.0276779256849983,  0.02079067210376509, 0.0166446911898211,
                                 0.0138761288230707,  0.0118967099458917,  0.0104112652619720,  0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return known[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Few successes: the gaps between them are geometric.
double by_gaps(Generator& g, double trials, double p) {
  const double log_failure = ::log1p(-p);
  double position = 0;
  ptlite::Pace pace;
  for (double successes = 0;; successes += 1) {
    // as many as the data ask for
    pace.after(16);
    position += ::ceil(::log(uniform53(g)) / log_failure);
    if (!(position <= trials)) return successes;
  }
}

// Many: the transformed rejection with squeeze of Hoermann ("The generation of binomial random variates", 1993).
double by_rejection(Generator& g, double trials, double p) {
  const double deviation = ::sqrt(trials * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double centre = trials * p + 0.5;
  const double accepted = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = ::floor((trials + 1) * p);
  for (;;) {
    const double u = uniform53(g) - 0.5;
    double v = uniform53(g);
    const double us = 0.5 - ::fabs(u);
    const double k = ::floor((2 * a / us + b) * u + centre);
    if (us >= 0.07 && v <= accepted) return k;
    if (k < 0 || k > trials) continue;
    v = ::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * ::log((mode + 1) / (odds * (trials - mode + 1))) +
                         (trials + 1) * ::log((trials - mode + 1) / (trials - k + 1)) +
                         (k + 0.5) * ::log(odds * (trials - k + 1) / (k + 1)) + stirling_tail(mode) + stirling_tail(trials - mode) -
                         stirling_tail(k) - stirling_tail(trials - k);
    if (v <= bound) return k;
  }
}

double binomial_sample(Generator& g, double trials, double p) {
  if (trials <= 0 || p <= 0) return 0;
  if (p >= 1) return trials;
  if (p != p || trials != trials || trials == INFINITY) return NAN;
  const double rarer = p <= 0.5 ? p : 1 - p;
  const double sample = trials * rarer >= 10 ? by_rejection(g, trials, rarer) : by_gaps(g, trials, rarer);
  return p <= 0.5 ? sample : trials - sample;
}

template <class T>
int32_t binomials(const random_binomial_frame* f) {
  Generator& g = *reinterpret_cast<Generator*>(f->state);
  const T* trials = reinterpret_cast<const T*>(f->trials);
  const T* p = reinterpret_cast<const T*>(f->p);
  T* out = reinterpret_cast<T*>(f->out);
  for (int64_t i = 0; i < f->count; ++i)
    out[i] = static_cast<T>(binomial_sample(g, static_cast<double>(trials[i]), static_cast<double>(p[i])));
  return PTLITE_OK;
}

int32_t random_binomial(random_binomial_frame* f) {
  if (f->dtype == PTLITE_FLOAT64) return binomials<double>(f);
  return f->dtype == PTLITE_FLOAT32 ? binomials<float>(f) : PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(random_gamma, random_gamma)
PTLITE_KERNEL(random_binomial, random_binomial)
