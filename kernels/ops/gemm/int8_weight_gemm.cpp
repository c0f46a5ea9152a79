// Products of float activations with int8 weights, which are widened in registers as they are read, once for up to four rows.
#include <string.h>

#include <atomic>

#include "frames/weight_only.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "vec/half.h"
#include "vec/vec.h"
#include "primitives/int8.h"

namespace {

using namespace ptlite;
using F = Vec<float>;

constexpr int64_t kRows = 4;
// Weight rows at a time: their sums stay in registers.
#if PTLITE_VEC_BYTES >= 64
constexpr int kColumns = 4;
#else
constexpr int kColumns = 2;
#endif
// Weights that stay in the second-level cache while all rows go by.
constexpr int64_t kCacheBytes = 256 << 10;

PTLITE_INLINE float total(F x) {
  alignas(64) float lanes[F::size];
  x.store(lanes);
  for (int step = F::size / 2; step > 0; step /= 2)
    for (int i = 0; i < step; i++) lanes[i] += lanes[i + step];
  return lanes[0];
}

// One vector of each of R rows of a by one of each of C rows of w, `stride` apart.
template <int R, int C>
PTLITE_INLINE void add(const float* a, int64_t length, const int8_t* w, int64_t stride, F (&part)[R][C]) {
  F x[C];
#pragma GCC unroll 4
  for (int c = 0; c < C; c++) x[c] = convert<float>(widen(w + c * stride));
#pragma GCC unroll 4
  for (int r = 0; r < R; r++) {
    const F value = F::load(a + r * length);
#pragma GCC unroll 4
    for (int c = 0; c < C; c++) part[r][c] = fma(value, x[c], part[r][c]);
  }
}

// Sums of R rows of a, `length` floats apart and zero beyond k, by C rows of w.
template <int R, int C>
void dots(const float* a, int64_t length, const int8_t* w, int64_t k, float (*sums)[kColumns]) {
  F part[R][C];
#pragma GCC unroll 16
  for (int i = 0; i < R * C; i++) part[i / C][i % C] = F::zero();
  int64_t at = 0;
  for (; at + F::size <= k; at += F::size) add<R, C>(a + at, length, w + at, k, part);
  if (at < k) {
    int8_t last[C * F::size] = {};
    for (int c = 0; c < C; c++) memcpy(last + c * F::size, w + c * k + at, static_cast<size_t>(k - at));
    add<R, C>(a + at, length, last, F::size, part);
  }
#pragma GCC unroll 16
  for (int i = 0; i < R * C; i++) sums[i / C][i % C] = total(part[i / C][i % C]);
}

template <class T>
struct Product {
  const int8_mm_frame* f;
  int64_t length = (f->k + F::size - 1) / F::size * F::size;
  const int8_t* w = reinterpret_cast<const int8_t*>(f->w);

  void store(const float (*sums)[kColumns], int64_t m0, int64_t rows, int64_t n0, int64_t columns) const {
    const T* scales = reinterpret_cast<const T*>(f->scales);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < columns; c++) {
        const F value = F(sums[r][c]) * load_float(scales + n0 + c, 1);
        store_float(reinterpret_cast<T*>(f->out) + (m0 + r) * f->n + n0 + c, value, 1);
      }
    }
  }

  template <int R>
  void rows(const float* a, int64_t m0, int64_t from, int64_t to) const {
    float sums[kRows][kColumns];
    int64_t n = from;
    for (; n + kColumns <= to; n += kColumns) {
      dots<R, kColumns>(a, length, w + n * f->k, f->k, sums);
      store(sums, m0, R, n, kColumns);
    }
    for (; n < to; n++) {
      dots<R, 1>(a, length, w + n * f->k, f->k, sums);
      store(sums, m0, R, n, 1);
    }
  }

  // Rows m0.. of activations as floats.
  void gather(int64_t m0, int64_t rows, float* a) const {
    for (int64_t r = 0; r < rows; r++) {
      const T* row = reinterpret_cast<const T*>(f->a) + (m0 + r) * f->a_stride;
      for (int64_t k = 0; k < f->k; k += F::size) load_float(row + k, f->k - k).store(a + r * length + k);
    }
  }

  // Weight rows [begin, end) by all rows of activations. False where there is no memory.
  bool part(int64_t begin, int64_t end) const {
    auto* a = static_cast<float*>(range_scratch(static_cast<size_t>(kRows * length * 4)));
    if (a == nullptr) return false;
    const int64_t wanted = kCacheBytes / (f->k + 1) / kColumns * kColumns, step = wanted < kColumns ? kColumns : wanted;
    for (int64_t from = begin; from < end; from += step) {
      const int64_t to = end - from < step ? end : from + step;
      for (int64_t m = 0; m < f->m; m += kRows) {
        const int64_t count = f->m - m < kRows ? f->m - m : kRows;
        gather(m, count, a);
        if (count == 4) rows<4>(a, m, from, to);
        else if (count == 3) rows<3>(a, m, from, to);
        else if (count == 2) rows<2>(a, m, from, to);
        else rows<1>(a, m, from, to);
      }
    }
    return true;
  }

  int32_t run() const {
    std::atomic<bool> done{true};
    parallel_for(f->n, grain_for(f->m * f->k / 16 + 1), [&](int64_t begin, int64_t end) {
      if (!part(begin, end)) done = false;
    });
    return done ? PTLITE_OK : PTLITE_NO_MEMORY;
  }
};

int32_t int8_mm(int8_mm_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return Product<float>{f}.run();
  if (f->dtype == PTLITE_FLOAT16) return Product<float16>{f}.run();
  if (f->dtype == PTLITE_BFLOAT16) return Product<bfloat16>{f}.run();
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(int8_mm, int8_mm)
