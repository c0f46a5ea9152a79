// isa: SVE
// Position and value of the largest or smallest element along one dim. The first of equal elements wins, and the
// first NaN before all else.
#include <cstring>
#include <type_traits>

#include "frames/reduce.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"
#include "support/lanes.h"

namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kLanes = 128;

template <class T, bool kMax>
inline bool better(T x, T best) {
  return kMax ? x > best : x < best;
}

/// Best of a block, NaN if there is one: found without positions, so that most blocks are one vector pass.
template <class T, bool kMax>
T best_of(const T* x, int64_t n) {
  constexpr int kStep = lanes::kCount<T>;
  T best = x[0];
  int64_t i = 0;
  if (n >= 2 * kStep) {
    auto a = lanes::load(x), b = lanes::load(x + kStep);
    for (i = 2 * kStep; i + 2 * kStep <= n; i += 2 * kStep) {
      const auto c = lanes::load(x + i), d = lanes::load(x + i + kStep);
      a = ((kMax ? c > a : c < a) | (c != c)) ? c : a;
      b = ((kMax ? d > b : d < b) | (d != d)) ? d : b;
    }
    T part[2 * kStep];
    lanes::store(part, a);
    lanes::store(part + kStep, b);
    best = part[0];
    for (int k = 1; k < 2 * kStep; k++)
      if (better<T, kMax>(part[k], best) || part[k] != part[k]) best = part[k];
  }
  for (; i < n; i++)
    if (better<T, kMax>(x[i], best) || x[i] != x[i]) best = x[i];
  return best;
}

void put(const reduce_arg_frame* f, const char* row, int64_t values_offset, int64_t indices_offset, int64_t position) {
  const int64_t size = elem::size_of(f->dtype);
  if (f->values_out) memcpy((char*)f->values_out + values_offset * size, row + position * f->stride * size, size_t(size));
  ((int64_t*)f->indices_out)[indices_offset] = position;
}

template <class T, bool kMax>
int64_t position_in_run(const reduce_arg_frame* f, const char* row, T* buffer) {
  T best{};
  int64_t position = -1;
  ptlite::Pace pace;
  for (int64_t first = 0; first < f->count; first += kBlock) {
    const int64_t n = f->count - first < kBlock ? f->count - first : kBlock;
    pace.after(n);
    const T* x = elem::view<T>(buffer, f->dtype, elem::at(row, f->dtype, first * f->stride), f->stride, n);
    const T found = best_of<T, kMax>(x, n);
    if (position >= 0 && !better<T, kMax>(found, best) && found == found) continue;
    best = found;
    for (int64_t i = 0; i < n; i++)
      if (x[i] == found || (found != found && x[i] != x[i])) {
        position = first + i;
        break;
      }
    if (best != best) break;
  }
  return position;
}

template <class T, bool kMax>
void arg_inner(const reduce_arg_frame* f) {
  Odometer kept(f->kept_ndim, f->kept_sizes, f->kept_in, f->kept_values, f->kept_indices);
  const int64_t outputs = kept.count();
  alignas(64) T buffer[kBlock];
  for (int64_t o = 0; o < outputs; o++, kept.next()) {
    const char* row = elem::at((const void*)f->in, f->dtype, kept.offset[0]);
    put(f, row, kept.offset[1], kept.offset[2], position_in_run<T, kMax>(f, row, buffer));
  }
}

template <class T, bool kMax>
void arg_columns(const reduce_arg_frame* f) {
  Odometer kept(f->kept_ndim - 1, f->kept_sizes + 1, f->kept_in + 1, f->kept_values + 1, f->kept_indices + 1);
  const int64_t outer = kept.count(), width = f->kept_sizes[0];
  using Position = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  alignas(64) T buffer[kLanes];
  alignas(64) T best[kLanes];
  alignas(64) Position where[kLanes];
  ptlite::Pace pace;
  for (int64_t o = 0; o < outer; o++, kept.next()) {
    for (int64_t first = 0; first < width; first += kLanes) {
      const int64_t n = width - first < kLanes ? width - first : kLanes;
      const char* base = elem::at((const void*)f->in, f->dtype, kept.offset[0] + first);
      for (int64_t r = 0; r < f->count; r++) {
        pace.after(n);
        const T* x = elem::view<T>(buffer, f->dtype, elem::at(base, f->dtype, r * f->stride), 1, n);
        if (r == 0) {
          for (int64_t i = 0; i < n; i++) best[i] = x[i], where[i] = 0;
          continue;
        }
        for (int64_t i = 0; i < n; i++) {
          const bool take = better<T, kMax>(x[i], best[i]) | ((x[i] != x[i]) & (best[i] == best[i]));
          best[i] = take ? x[i] : best[i];
          where[i] = take ? Position(r) : where[i];
        }
      }
      for (int64_t i = 0; i < n; i++)
        put(f, elem::at(base, f->dtype, i), kept.offset[1] + (first + i) * f->kept_values[0],
            kept.offset[2] + (first + i) * f->kept_indices[0], where[i]);
    }
  }
}

template <class T, bool kMax>
void arg_with(const reduce_arg_frame* f) {
  const bool columns = f->kept_ndim > 0 && f->kept_in[0] == 1 && f->kept_sizes[0] >= 4 && f->count < 0x7fffffff;
  if (columns && f->stride != 1) arg_columns<T, kMax>(f);
  else arg_inner<T, kMax>(f);
}

template <class T>
void arg_in(const reduce_arg_frame* f) {
  if (f->op == ArgOp_max) arg_with<T, true>(f);
  else arg_with<T, false>(f);
}

int32_t reduce_arg_run(reduce_arg_frame* f) {
  switch (f->compute) {
    case ComputeType_f32: arg_in<float>(f); break;
    case ComputeType_f64: arg_in<double>(f); break;
    default: arg_in<int64_t>(f); break;
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(reduce_arg, reduce_arg_run)
