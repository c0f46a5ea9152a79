// Products of float activations with weights of 4 bits. A block of 64 weight rows is widened in registers as it is read, once for
// up to four rows of activations; sums of a group are scaled when it ends.
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "frames/weight_only.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "primitives/math.h"
#include "primitives/int8.h"
#include "vec/half.h"
#include "vec/vec.h"

namespace {

using namespace ptlite;
using F = Vec<float>;
using I = Vec<int32_t>;

constexpr int64_t kBlock = 64;
constexpr int64_t kRows = 4;
// Rows of activations whose floats are kept for all weights.
constexpr int64_t kRowsAtOnce = 256;
constexpr int kPairs = static_cast<int>(kBlock) / 2 / F::size;
// Vectors of sums that stay in registers, beside those of weights.
#if PTLITE_VEC_BYTES >= 64
constexpr int kSums = 16;
#else
constexpr int kSums = 8;
#endif

int32_t form(int4_form_frame* f) {
#if PTLITE_VEC_BYTES >= 64
  f->block = 64;
  f->halves = 1;
#elif PTLITE_VEC_BYTES >= 32
  f->block = 32;
  f->halves = 1;
#else
  f->block = 32;
  f->halves = 0;
#endif
  const char* machine = getenv("PTLITE_INT4_PACKING");
  if (machine == nullptr) return PTLITE_OK;
  if (strcmp(machine, "avx512") == 0) f->block = 64, f->halves = 1;
  if (strcmp(machine, "avx2") == 0) f->block = 32, f->halves = 1;
  if (strcmp(machine, "default") == 0) f->block = 32, f->halves = 0;
  return PTLITE_OK;
}

// Bytes of weights as floats from -8 to 7: the low bits, and the high bits.
PTLITE_INLINE void split(const uint8_t* bytes, F& low, F& high) {
  const I b = widen(bytes);
#if defined(PTLITE_VEC_LOOKS_UP_32)
  const F values = F::iota(-8);
  low = arch::look_up_16(values, b);
  high = arch::look_up_16(values, b >> 4);
#else
  low = convert<float>((b & I(15)) - I(8));
  high = convert<float>((b >> 4) - I(8));
#endif
}

// Weights of a whole block: bytes hold rows of both halves.
struct Halves {
  static constexpr int pairs = kPairs;
  const uint8_t* w;

  PTLITE_INLINE void load(int64_t k, int pair, F& first, F& second) const { split(w + k * (kBlock / 2) + pair * F::size, first, second); }
  static int64_t first_row(int pair) { return pair * F::size; }
  static int64_t second_row(int pair) { return kBlock / 2 + pair * F::size; }
};

// Weights less 8 of a group, one a byte, by k, then by row.
struct Widened {
  static constexpr int pairs = kPairs;
  const int8_t* w;

  PTLITE_INLINE void load(int64_t k, int pair, F& first, F& second) const {
    const int8_t* at = w + k * kBlock + pair * 2 * F::size;
    first = convert<float>(widen(at));
    second = convert<float>(widen(at + F::size));
  }
  static int64_t first_row(int pair) { return 2 * pair * F::size; }
  static int64_t second_row(int pair) { return (2 * pair + 1) * F::size; }
};

// Scales and zero points of a group's rows.
struct Parameters {
  alignas(64) float scales[kBlock];
  alignas(64) float zeros[kBlock];

  template <class T>
  void load(const T* interleaved, int64_t rows) {
    using Index = I::Raw;
    const I even = I::iota() << 1;
    for (int64_t i = 0; i < rows; i += F::size) {
      const F a = load_float(interleaved + 2 * i), b = load_float(interleaved + 2 * i + F::size);
      F(arch::shuffled(a.v, b.v, Index(even.v))).store(scales + i);
      F(arch::shuffled(a.v, b.v, Index((even + I(1)).v))).store(zeros + i);
    }
  }
};

// Adds a group's part to R rows of sums. a: R values for each k; a_sums: their sums over the group.
template <int R, class Weights>
void add_group(const Weights& w, int64_t group, const float* a, const float* a_sums, const Parameters& p, float* sums) {
  constexpr int kFit = kSums / (2 * R) < 1 ? 1 : kSums / (2 * R);
  constexpr int P = kFit < Weights::pairs ? kFit : Weights::pairs;
  static_assert(Weights::pairs % P == 0, "pairs come in whole steps");
  for (int p0 = 0; p0 < Weights::pairs; p0 += P) {
    F part[R][2 * P];
#pragma GCC unroll 16
    for (int i = 0; i < R * 2 * P; i++) part[i / (2 * P)][i % (2 * P)] = F::zero();
    for (int64_t k = 0; k < group; k++) {
      F x[2 * P];
#pragma GCC unroll 4
      for (int i = 0; i < P; i++) w.load(k, p0 + i, x[2 * i], x[2 * i + 1]);
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        const F value(a[k * R + r]);
#pragma GCC unroll 8
        for (int i = 0; i < 2 * P; i++) part[r][i] = fma(value, x[i], part[r][i]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < 2 * P; i++) {
      const int64_t row = i % 2 == 0 ? Weights::first_row(p0 + i / 2) : Weights::second_row(p0 + i / 2);
      const F scale = F::load(p.scales + row), zero = F::load(p.zeros + row);
#pragma GCC unroll 4
      for (int r = 0; r < R; r++) {
        float* at = sums + r * kBlock + row;
        fma(part[r][i], scale, fma(F(a_sums[r]), zero, F::load(at))).store(at);
      }
    }
  }
}

// The bytes of the last, smaller block, which hold rows in pairs.
void widen_pairs(const uint8_t* w, int64_t group, int64_t rows, int8_t* out) {
  for (int64_t k = 0; k < group; k++, w += rows / 2, out += kBlock) {
    for (int64_t j = 0; j < rows / 2; j++) {
      out[2 * j] = static_cast<int8_t>((w[j] & 15) - 8);
      out[2 * j + 1] = static_cast<int8_t>((w[j] >> 4) - 8);
    }
  }
}

// Activations as floats: blocks of up to four rows, each by k, then by row, and their sums over groups.
struct Activations {
  float* values;
  float* sums;

  static int64_t floats(int64_t m, int64_t k, int64_t group) { return m * (k + k / group); }

  template <class T>
  void gather(const T* a, int64_t m, int64_t k, int64_t group) const {
    for (int64_t m0 = 0; m0 < m; m0 += kRows) {
      const int64_t rows = m - m0 < kRows ? m - m0 : kRows;
      for (int64_t r = 0; r < rows; r++) {
        float* out = values + m0 * k + r;
        const T* row = a + (m0 + r) * k;
        for (int64_t g = 0; g < k / group; g++) {
          F sum = F::zero();
          for (int64_t i = g * group; i < (g + 1) * group; i += F::size) {
            const F x = load_float(row + i);
            sum += x;
            alignas(64) float lanes[F::size];
            x.store(lanes);
            for (int j = 0; j < F::size; j++) out[(i + j) * rows] = lanes[j];
          }
          float total = 0;
          for (int j = 0; j < F::size; j++) total += sum[j];
          sums[(m0 * (k / group)) + g * rows + r] = total;
        }
      }
    }
  }
};

template <class T>
struct Product {
  const int4_mm_frame* f;
  const T* scales_zeros = reinterpret_cast<const T*>(f->scales_zeros);
  const uint8_t* w = reinterpret_cast<const uint8_t*>(f->w);

  // A block of weight rows by R rows of activations; out is the first row of their results.
  template <int R>
  void rows(const float* values, const float* group_sums, int64_t n0, int8_t* widened, T* out) const {
    const int64_t width = f->n - n0 < kBlock ? f->n - n0 : kBlock;
    const uint8_t* block = w + n0 * f->k / 2;
    alignas(64) float sums[R * kBlock] = {};
    Parameters p;
    if (width < kBlock) memset(&p, 0, sizeof(p));
    for (int64_t g = 0, k = 0; k < f->k; g++, k += f->group) {
      p.load(scales_zeros + (g * f->n + n0) * 2, width);
      if (width == kBlock) {
        add_group<R>(Halves{block + k * (kBlock / 2)}, f->group, values + k * R, group_sums + g * R, p, sums);
      } else {
        widen_pairs(block + k * width / 2, f->group, width, widened);
        add_group<R>(Widened{widened}, f->group, values + k * R, group_sums + g * R, p, sums);
      }
    }
    for (int r = 0; r < R; r++)
      for (int64_t i = 0; i < width; i += F::size) store_float(out + r * f->n + n0 + i, F::load(sums + r * kBlock + i));
  }

  // Weight rows of blocks [begin, end) by m rows of activations. False where there is no memory.
  bool blocks(const Activations& a, int64_t m, T* out, int64_t begin, int64_t end) const {
    auto* widened = static_cast<int8_t*>(range_scratch(static_cast<size_t>(f->group * kBlock)));
    if (widened == nullptr) return false;
    memset(widened, 0, static_cast<size_t>(f->group * kBlock));
    for (int64_t n0 = begin * kBlock; n0 < end * kBlock && n0 < f->n; n0 += kBlock) {
      for (int64_t m0 = 0; m0 < m; m0 += kRows) {
        const float* values = a.values + m0 * f->k;
        const float* sums = a.sums + m0 * (f->k / f->group);
        T* to = out + m0 * f->n;
        if (m - m0 >= 4) rows<4>(values, sums, n0, widened, to);
        else if (m - m0 == 3) rows<3>(values, sums, n0, widened, to);
        else if (m - m0 == 2) rows<2>(values, sums, n0, widened, to);
        else rows<1>(values, sums, n0, widened, to);
      }
    }
    return true;
  }

  int32_t run() const {
    const int64_t most = f->m < kRowsAtOnce ? f->m : kRowsAtOnce;
    auto* memory = static_cast<float*>(ptlite_scratch(static_cast<size_t>(Activations::floats(most, f->k, f->group)) * 4));
    if (memory == nullptr) return PTLITE_NO_MEMORY;
    const Activations a{memory, memory + most * f->k};
    std::atomic<bool> done{true};
    for (int64_t m0 = 0; m0 < f->m; m0 += kRowsAtOnce) {
      const int64_t m = f->m - m0 < kRowsAtOnce ? f->m - m0 : kRowsAtOnce;
      a.gather(reinterpret_cast<const T*>(f->a) + m0 * f->k, m, f->k, f->group);
      T* out = reinterpret_cast<T*>(f->out) + m0 * f->n;
      parallel_for((f->n + kBlock - 1) / kBlock, grain_for(m * f->k * kBlock / 16), [&](int64_t begin, int64_t end) {
        if (!blocks(a, m, out, begin, end)) done = false;
      });
    }
    return done ? PTLITE_OK : PTLITE_NO_MEMORY;
  }
};

int32_t int4_mm(int4_mm_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return Product<float>{f}.run();
  if (f->dtype == PTLITE_FLOAT16) return Product<float16>{f}.run();
  if (f->dtype == PTLITE_BFLOAT16) return Product<bfloat16>{f}.run();
  return PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(int4_form, form)
PTLITE_KERNEL(int4_mm, int4_mm)
