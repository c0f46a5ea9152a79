// Running folds along one dim: each step depends on the one before, so a line is done in scalar code, in double or
// int64 whatever the dtype, with conversions a block at a time. Dims that lie beside the line are taken in turn.
#include <cmath>
#include <type_traits>

#include "frames/scan.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

constexpr int64_t kBlock = 256;

inline double log_add_exp(double a, double b) {
  const double high = a > b || a != a ? a : b, low = a > b || a != a ? b : a;
  if (high != high || low != low) return high + low;
  if (high == low && !std::isfinite(high)) return high;
  return high + std::log1p(std::exp(low - high));
}

template <class T>
void scan_line(const scan_frame* f, const char* in, char* out, int64_t* indices) {
  T buffer[kBlock];
  int64_t where[kBlock];
  T acc{};
  int64_t best = 0;
  ptlite::Pace pace;
  for (int64_t first = 0; first < f->count; first += kBlock) {
    const int64_t n = f->count - first < kBlock ? f->count - first : kBlock;
    pace.after(n);
    elem::load<T>(buffer, f->in_dtype, elem::at(in, f->in_dtype, first * f->in_step), f->in_step, n);
    int64_t i = 0;
    if (first == 0) {
      acc = buffer[0];
      where[0] = 0;
      i = 1;
    }
    switch (f->op) {
      case ScanOp_sum:
        for (; i < n; i++) {
          if constexpr (std::is_integral_v<T>) acc = T(uint64_t(acc) + uint64_t(buffer[i]));
          else acc += buffer[i];
          buffer[i] = acc;
        }
        break;
      case ScanOp_prod:
        for (; i < n; i++) {
          if constexpr (std::is_integral_v<T>) acc = T(uint64_t(acc) * uint64_t(buffer[i]));
          else acc *= buffer[i];
          buffer[i] = acc;
        }
        break;
      case ScanOp_max:
      case ScanOp_min: {
        const bool max = f->op == ScanOp_max;
        for (; i < n; i++) {
          const T x = buffer[i];
          if (x != x || (acc == acc && (max ? x >= acc : x <= acc))) {
            acc = x;
            best = first + i;
          }
          buffer[i] = acc;
          where[i] = best;
        }
        break;
      }
      case ScanOp_logsumexp:
        if constexpr (std::is_floating_point_v<T>)
          for (; i < n; i++) buffer[i] = acc = log_add_exp(acc, buffer[i]);
        break;
    }
    elem::store<T>(elem::at(out, f->out_dtype, first * f->out_step), f->out_dtype, buffer, f->out_step, n);
    if (indices)
      for (i = 0; i < n; i++) indices[(first + i) * f->out_step] = where[i];
  }
}

int32_t scan_run(scan_frame* f) {
  Odometer lines(f->ndim, f->sizes, f->in_strides, f->out_strides);
  const int64_t n = f->count > 0 ? lines.count() : 0;
  ptlite::Pace pace;
  for (int64_t i = 0; i < n; i++, lines.next()) {
    pace.after(f->count);
    const char* in = elem::at((const void*)f->in, f->in_dtype, lines.offset[0]);
    char* out = elem::at((void*)f->out, f->out_dtype, lines.offset[1]);
    int64_t* indices = f->indices_out ? (int64_t*)f->indices_out + lines.offset[1] : nullptr;
    if (f->integral) scan_line<int64_t>(f, in, out, indices);
    else scan_line<double>(f, in, out, indices);
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(scan, scan_run)
