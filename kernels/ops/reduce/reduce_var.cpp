// Variance and mean in two passes over the data. The second pass also sums the plain differences, which takes the
// rounding error of the mean out of the result.
#include <cmath>
#include <type_traits>

#include "frames/reduce.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"
#include "support/lanes.h"

namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kLanes = 128;
constexpr int64_t kRows = 32;

void write(const reduce_var_frame* f, int64_t offset, double mean, double sum, double squares, double count) {
  const double room = count - f->correction;
  double variance = (squares - sum * sum / count) / (room > 0 ? room : 0.0);
  if (count > 0 && variance < 0) variance = 0;
  if (f->take_root) variance = std::sqrt(variance);
  mean += sum / count;
  if (f->var_out) elem::store<double>(elem::at((void*)f->var_out, f->out_dtype, offset), f->out_dtype, &variance, 1, 1);
  if (f->mean_out) elem::store<double>(elem::at((void*)f->mean_out, f->out_dtype, offset), f->out_dtype, &mean, 1, 1);
}

template <class T>
void sum_run(const T* x, int64_t n, T mean, double& sum, double& squares) {
  constexpr int kStep = lanes::kCount<T>;
  lanes::V<T> s[2] = {}, q[2] = {};
  int64_t i = 0;
  for (; i + 2 * kStep <= n; i += 2 * kStep)
    for (int k = 0; k < 2; k++) {
      const auto d = lanes::load(x + i + k * kStep) - mean;
      s[k] += d;
      q[k] += d * d;
    }
  s[0] += s[1];
  q[0] += q[1];
  for (int k = 0; k < kStep; k++) {
    sum += double(s[0][k]);
    squares += double(q[0][k]);
  }
  for (; i < n; i++) {
    const T d = x[i] - mean;
    sum += double(d);
    squares += double(d) * double(d);
  }
}

template <class T>
void var_inner(const reduce_var_frame* f) {
  const int64_t inner = f->red_ndim > 0 ? f->red_sizes[0] : 1;
  const int64_t step = f->red_ndim > 0 ? f->red_in[0] : 1;
  Odometer kept(f->kept_ndim, f->kept_sizes, f->kept_in, f->kept_out);
  Odometer red(f->red_ndim > 0 ? f->red_ndim - 1 : 0, f->red_sizes + 1, f->red_in + 1);
  const int64_t outputs = kept.count(), rows = inner > 0 ? red.count() : 0;
  alignas(64) T buffer[kBlock];
  ptlite::Pace pace;
  for (int64_t o = 0; o < outputs; o++, kept.next()) {
    const char* base = elem::at((const void*)f->in, f->in_dtype, kept.offset[0]);
    double mean = 0, sum = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++) {
      sum = squares = 0;
      for (int64_t r = 0; r < rows; r++, red.next()) {
        pace.after(1);
        const char* row = elem::at(base, f->in_dtype, red.offset[0]);
        for (int64_t i = 0; i < inner; i += kBlock) {
          const int64_t n = inner - i < kBlock ? inner - i : kBlock;
          const T* x = elem::view<T>(buffer, f->in_dtype, elem::at(row, f->in_dtype, i * step), step, n);
          sum_run<T>(x, n, T(mean), sum, squares);
          pace.after(n);
        }
      }
      red.reset();
      if (pass == 0) mean = double(T(sum / double(inner * rows)));
    }
    write(f, kept.offset[1], mean, sum, squares, double(inner * rows));
  }
}

template <class T>
void var_columns(const reduce_var_frame* f) {
  const int64_t width = f->kept_sizes[0];
  Odometer kept(f->kept_ndim - 1, f->kept_sizes + 1, f->kept_in + 1, f->kept_out + 1);
  Odometer red(f->red_ndim, f->red_sizes, f->red_in);
  const int64_t outer = kept.count(), rows = red.count();
  alignas(64) T buffer[kLanes], mean[kLanes], s[kLanes], q[kLanes];
  alignas(64) double sum[kLanes], squares[kLanes];
  ptlite::Pace pace;
  for (int64_t o = 0; o < outer; o++, kept.next()) {
    for (int64_t first = 0; first < width; first += kLanes) {
      const int64_t n = width - first < kLanes ? width - first : kLanes;
      const char* base = elem::at((const void*)f->in, f->in_dtype, kept.offset[0] + first);
      for (int64_t i = 0; i < n; i++) mean[i] = 0;
      for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) sum[i] = squares[i] = 0;
        for (int64_t r = 0; r < rows;) {
          pace.after(kRows * n);
          for (int64_t i = 0; i < n; i++) s[i] = q[i] = 0;
          const int64_t end = rows - r < kRows ? rows : r + kRows;
          for (; r < end; r++, red.next()) {
            const T* x = elem::view<T>(buffer, f->in_dtype, elem::at(base, f->in_dtype, red.offset[0]), 1, n);
            for (int64_t i = 0; i < n; i++) {
              const T d = x[i] - mean[i];
              s[i] += d;
              q[i] += d * d;
            }
          }
          for (int64_t i = 0; i < n; i++) sum[i] += double(s[i]), squares[i] += double(q[i]);
        }
        red.reset();
        if (pass == 0)
          for (int64_t i = 0; i < n; i++) mean[i] = T(sum[i] / double(rows));
      }
      for (int64_t i = 0; i < n; i++)
        write(f, kept.offset[1] + (first + i) * f->kept_out[0], double(mean[i]), sum[i], squares[i], double(rows));
    }
  }
}

template <class T>
void var_in(const reduce_var_frame* f) {
  const bool inner_contiguous = f->red_ndim > 0 && f->red_in[0] == 1 && f->red_sizes[0] >= 8;
  const bool columns = f->kept_ndim > 0 && f->kept_in[0] == 1 && f->kept_sizes[0] >= 4;
  if (columns && !inner_contiguous) var_columns<T>(f);
  else var_inner<T>(f);
}

int32_t reduce_var_run(reduce_var_frame* f) {
  if (f->compute == ComputeType_f64) var_in<double>(f);
  else var_in<float>(f);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(reduce_var, reduce_var_run)
