// The walk that all elementwise kernels share. An operator is a function on dense runs of one compute type C (float,
// double or int64_t); the walk hands it memory directly where the dtype is C's and the run is dense, and else converts
// through buffers that stay in the first-level cache. So every operator serves every dtype and every stride.
#pragma once

#include <atomic>

#include "frames/elementwise.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "vec/convert.h"
#include "vec/math.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

template <class C>
constexpr bool is_real = detail::is_real<C>;

// out[i] = f(in[0][i], ...) for i < n; p holds the operator's parameters. Returns a status.
template <class C>
using Run = int32_t (*)(C* out, const C* const* in, int64_t n, const C* p);

// Operand 0 is written. An input with address 0 is the number in scalar.
template <class C, int inputs>
struct Walk {
  int32_t ndim;
  int64_t n;
  const int64_t* sizes;
  uint64_t address[inputs + 1];
  int32_t dtype[inputs + 1];
  const int64_t* strides[inputs + 1];
  C scalar[inputs];
};

namespace detail {

constexpr int64_t kChunk = 512;
// Shorter rows are not worth a call each.
constexpr int64_t kLongRow = 48;

// Loops over operands cost a small operator more than its arithmetic; -O2 alone keeps them.
#define PTLITE_UNROLL_INPUTS _Pragma("GCC unroll 4")

// The order of the walk is the order of memory, without gaps.
inline bool is_flat(int32_t ndim, const int64_t* sizes, const int64_t* strides) {
  int64_t step = 1;
  for (int d = 0; d < ndim; d++) {
    if (strides[d] != step) return false;
    step *= sizes[d];
  }
  return true;
}

template <class C, int inputs>
struct Walker {
  const Walk<C, inputs>& w;
  const Run<C> run;
  const C* const p;
  alignas(64) C buffer[inputs + 1][kChunk];
  int64_t item[inputs + 1];
  // Where dimension 0 is several rows in one (see `repeating`): elements of one of them, and the operands that repeat it; else 0.
  int64_t period = 0;
  bool repeats[inputs + 1] = {};

  // leaves the buffers as they are: clearing them would cost more than a small operator
  Walker(const Walk<C, inputs>& walk, Run<C> f, const C* parameters) : w(walk), run(f), p(parameters) {}

  // Dense runs of operand k need no buffer.
  bool direct(int k) const { return w.dtype[k] == dtype_of<C>; }
  char* place(int k, int64_t offset) const { return reinterpret_cast<char*>(w.address[k]) + offset * item[k]; }

  int32_t start() {
    for (int k = 0; k <= inputs; k++) item[k] = element_size(w.dtype[k]);
    for (int k = 1; k <= inputs; k++) {
      if (w.address[k] != 0) continue;
      const int64_t m = w.n < kChunk ? w.n : kChunk;
      for (int64_t i = 0; i < m; i++) buffer[k][i] = w.scalar[k - 1];
    }
    if (w.ndim == 0) return row(nullptr, w.n);
    if (w.ndim == 1 || w.sizes[0] >= kLongRow) return rows();
    bool again[inputs + 1];
    if (repeating(again)) return repeated_rows(again);
    return stretches();
  }

  // Whether dimensions 0 and 1 can be walked as one row: each operand lies dense along both, or has its run of dimension 0
  // again for each index of dimension 1, as the factors of channels have in blocked and channels-last layouts.
  bool repeating(bool* again) const {
    bool any = false;
    for (int k = 0; k <= inputs; k++) {
      again[k] = false;
      if (k > 0 && w.address[k] == 0) continue;
      const int64_t* s = w.strides[k];
      again[k] = k > 0 && s[0] == 1 && s[1] == 0;
      if (!again[k] && (s[0] != 1 || s[1] != w.sizes[0])) return false;
      any |= again[k];
    }
    return any;
  }

  int32_t repeated_rows(const bool* again) {
    int64_t sizes[11];
    int64_t strides[inputs + 1][11];
    Walk<C, inputs> joined = w;
    joined.ndim = w.ndim - 1;
    joined.sizes = sizes;
    for (int d = 0; d < joined.ndim; d++) {
      sizes[d] = d == 0 ? w.sizes[0] * w.sizes[1] : w.sizes[d + 1];
      for (int k = 0; k <= inputs; k++) {
        if (k == 0 || w.address[k] != 0) strides[k][d] = d == 0 ? 1 : w.strides[k][d + 1];
      }
    }
    Walker walker(joined, run, p);
    for (int k = 0; k <= inputs; k++) {
      joined.strides[k] = strides[k];
      walker.repeats[k] = again[k];
      walker.item[k] = item[k];
      if (k > 0 && w.address[k] == 0) memcpy(walker.buffer[k], buffer[k], sizeof(buffer[k]));
    }
    walker.period = w.sizes[0];
    return walker.rows();
  }

  // n elements from these offsets on, with the strides of dimension 0 (1 where offsets is null).
  int32_t row(const int64_t* offsets, int64_t n) {
    const C* in[inputs];
    char* at[inputs + 1];
    int64_t stride[inputs + 1];
    bool fixed[inputs + 1];  // the same run for every chunk
    bool buffered = false;
    PTLITE_UNROLL_INPUTS
    for (int k = 0; k <= inputs; k++) {
      const bool scalar = k > 0 && w.address[k] == 0;
      stride[k] = offsets == nullptr || scalar ? 1 : w.strides[k][0];
      at[k] = scalar ? nullptr : place(k, offsets == nullptr ? 0 : offsets[k]);
      fixed[k] = scalar || (k > 0 && (stride[k] == 0 || repeats[k]));
      buffered |= fixed[k] || stride[k] != 1 || !direct(k);
    }
    const int64_t chunk = !buffered ? n : period > 0 ? kChunk / period * period : kChunk;
    PTLITE_UNROLL_INPUTS
    for (int k = 1; k <= inputs; k++) {
      if (!fixed[k] || at[k] == nullptr) continue;
      const int64_t m = n < chunk ? n : chunk;
      load_as<C>(buffer[k], w.dtype[k], at[k], repeats[k] ? 1 : 0, repeats[k] ? period : m);
      for (int64_t i = period; repeats[k] && i < m; i++) buffer[k][i] = buffer[k][i - period];
    }
    for (int64_t i = 0; i < n; i += chunk) {
      const int64_t m = n - i < chunk ? n - i : chunk;
      PTLITE_UNROLL_INPUTS
      for (int k = 1; k <= inputs; k++) {
        if (fixed[k]) {
          in[k - 1] = buffer[k];
        } else if (stride[k] == 1 && direct(k)) {
          in[k - 1] = reinterpret_cast<const C*>(at[k]) + i;
        } else {
          const int32_t status = load_as<C>(buffer[k], w.dtype[k], at[k] + i * stride[k] * item[k], stride[k], m);
          if (status != PTLITE_OK) return status;
          in[k - 1] = buffer[k];
        }
      }
      if (stride[0] == 1 && direct(0)) {
        const int32_t status = run(reinterpret_cast<C*>(at[0]) + i, in, m, p);
        if (status != PTLITE_OK) return status;
      } else {
        int32_t status = run(buffer[0], in, m, p);
        if (status != PTLITE_OK) return status;
        status = store_as<C>(w.dtype[0], at[0] + i * stride[0] * item[0], stride[0], buffer[0], m);
        if (status != PTLITE_OK) return status;
      }
    }
    return PTLITE_OK;
  }

  // Long rows, one by one.
  __attribute__((noinline)) int32_t rows() {
    int64_t index[12] = {};
    int64_t offset[inputs + 1] = {};
    for (;;) {
      const int32_t status = row(offset, w.sizes[0]);
      if (status != PTLITE_OK) return status;
      int d = 1;
      for (; d < w.ndim; d++) {
        const bool wraps = ++index[d] == w.sizes[d];
        if (wraps) index[d] = 0;
        PTLITE_UNROLL_INPUTS
        for (int k = 0; k <= inputs; k++) {
          if (k == 0 || w.address[k] != 0) offset[k] += wraps ? -(w.sizes[d] - 1) * w.strides[k][d] : w.strides[k][d];
        }
        if (!wraps) break;
      }
      if (d >= w.ndim) return PTLITE_OK;
    }
  }

  // Short rows: stretches of many rows at a time.
  int32_t stretches() {
    bool flat[inputs + 1];
    for (int k = 0; k <= inputs; k++) flat[k] = (k == 0 || w.address[k] != 0) && is_flat(w.ndim, w.sizes, w.strides[k]);
    int64_t index[12] = {};
    const C* in[inputs];
    for (int64_t i = 0; i < w.n; i += kChunk) {
      const int64_t m = w.n - i < kChunk ? w.n - i : kChunk;
      for (int k = 1; k <= inputs; k++) {
        in[k - 1] = buffer[k];
        if (w.address[k] == 0) continue;
        int32_t status = PTLITE_OK;
        if (flat[k] && direct(k)) {
          in[k - 1] = reinterpret_cast<const C*>(w.address[k]) + i;
        } else if (flat[k]) {
          status = load_as<C>(buffer[k], w.dtype[k], place(k, i), 1, m);
        } else {
          status = gather_as<C>(buffer[k], w.dtype[k], place(k, 0), {w.ndim, w.sizes, w.strides[k]}, index, m);
        }
        if (status != PTLITE_OK) return status;
      }
      const bool straight = flat[0] && direct(0);
      int32_t status = run(straight ? reinterpret_cast<C*>(w.address[0]) + i : buffer[0], in, m, p);
      if (status != PTLITE_OK) return status;
      if (!straight) {
        status = flat[0] ? store_as<C>(w.dtype[0], place(0, i), 1, buffer[0], m)
                         : scatter_as<C>(w.dtype[0], place(0, 0), {w.ndim, w.sizes, w.strides[0]}, index, buffer[0], m);
        if (status != PTLITE_OK) return status;
      }
      int64_t carry = m;
      for (int d = 0; d < w.ndim && carry > 0; d++) {
        const int64_t sum = index[d] + carry;
        index[d] = sum % w.sizes[d];
        carry = sum / w.sizes[d];
      }
    }
    return PTLITE_OK;
  }
};

}  // namespace detail

// Elements that are worth handing to another thread.
constexpr int64_t kRange = 16384;

// The part of a walk that threads share out: slices [begin, end) of its last dimension, or dense elements.
template <class C, int inputs>
int32_t walk_part(Walk<C, inputs> w, int64_t begin, int64_t end, Run<C> run, const C* p) {
  int64_t sizes[12];
  const int last = w.ndim - 1;
  for (int k = 0; k <= inputs; k++) {
    if (k > 0 && w.address[k] == 0) continue;
    w.address[k] += begin * (last < 0 ? 1 : w.strides[k][last]) * element_size(w.dtype[k]);
  }
  if (last < 0) {
    w.n = end - begin;
  } else {
    for (int d = 0; d < last; d++) sizes[d] = w.sizes[d];
    sizes[last] = end - begin;
    w.n = w.n / w.sizes[last] * (end - begin);
    w.sizes = sizes;
  }
  detail::Walker<C, inputs> walker(w, run, p);
  return walker.start();
}

template <class C, int inputs>
int32_t walk(const Walk<C, inputs>& w, Run<C> run, const C* p) {
  if (run == nullptr) return PTLITE_NO_DTYPE;
  if (w.n == 0) return PTLITE_OK;
  if (w.n < 2 * kRange || thread_limit() == 1) {
    detail::Walker<C, inputs> walker(w, run, p);
    return walker.start();
  }
  const int64_t slices = w.ndim == 0 ? w.n : w.sizes[w.ndim - 1];
  std::atomic<int32_t> status{PTLITE_OK};
  parallel_for(slices, (kRange * slices + w.n - 1) / w.n, [&](int64_t begin, int64_t end) {
    const int32_t s = walk_part<C, inputs>(w, begin, end, run, p);
    if (s != PTLITE_OK) status = s;
  });
  return status;
}

// A parameter of a frame as C; beyond int64 it is the nearest end.
template <class C>
PTLITE_INLINE C parameter(double x) {
  if constexpr (is_real<C>) return static_cast<C>(x);
  if (x != x) return C(0);
  return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : static_cast<C>(x);
}

// A scalar operand of a frame: a number for the floating compute types, two words of an int64 else.
template <class C>
PTLITE_INLINE C scalar_operand(double number, int32_t low, int32_t high) {
  if constexpr (is_real<C>) return static_cast<C>(number);
  return static_cast<C>(static_cast<uint32_t>(low) | (static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32));
}

// Calls f(C{}) for the compute type of a frame.
template <class F>
PTLITE_INLINE int32_t with_compute(int32_t compute, F f) {
  switch (compute) {
    PTLITE_HELD_CASE(Compute_f32, PTLITE_NO_DTYPE) return f(float{});
    PTLITE_HELD_CASE(Compute_f64, PTLITE_NO_DTYPE) return f(double{});
    PTLITE_HELD_CASE(Compute_i64, PTLITE_NO_DTYPE) return f(int64_t{});
    default:
      return PTLITE_NO_DTYPE;
  }
}

// Runs of one, two and three inputs from a function object on vectors: f(Vec<C>, ..., p) -> Vec<C>.
template <class C, class F>
int32_t run_unary(C* out, const C* const* in, int64_t n, const C* p) {
  using V = Vec<C>;
  const F f{};
  const C* a = in[0];
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) f(V::load(a + i), p).store(out + i);
  if (i < n) f(V::load(a + i, n - i), p).store(out + i, n - i);
  return PTLITE_OK;
}

template <class C, class F>
int32_t run_binary(C* out, const C* const* in, int64_t n, const C* p) {
  using V = Vec<C>;
  const F f{};
  const C* a = in[0];
  const C* b = in[1];
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) f(V::load(a + i), V::load(b + i), p).store(out + i);
  if (i < n) f(V::load(a + i, n - i), V::load(b + i, n - i), p).store(out + i, n - i);
  return PTLITE_OK;
}

template <class C, class F>
int32_t run_ternary(C* out, const C* const* in, int64_t n, const C* p) {
  using V = Vec<C>;
  const F f{};
  const C* a = in[0];
  const C* b = in[1];
  const C* c = in[2];
  int64_t i = 0;
  for (; i + V::size <= n; i += V::size) f(V::load(a + i), V::load(b + i), V::load(c + i), p).store(out + i);
  if (i < n) f(V::load(a + i, n - i), V::load(b + i, n - i), V::load(c + i, n - i), p).store(out + i, n - i);
  return PTLITE_OK;
}

// The same from a function object on single elements, for what has no vector form.
template <class C, class F>
int32_t run_unary_lanes(C* out, const C* const* in, int64_t n, const C* p) {
  const F f{};
  for (int64_t i = 0; i < n; i++) out[i] = f(in[0][i], p);
  return PTLITE_OK;
}

template <class C, class F>
int32_t run_binary_lanes(C* out, const C* const* in, int64_t n, const C* p) {
  const F f{};
  for (int64_t i = 0; i < n; i++) out[i] = f(in[0][i], in[1][i], p);
  return PTLITE_OK;
}

// 1 where the mask is set, else 0.
template <class C>
PTLITE_INLINE Vec<C> truth(typename Vec<C>::Mask mask) {
  return select(mask, Vec<C>(C(1)), Vec<C>::zero());
}

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
