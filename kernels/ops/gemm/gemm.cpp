// Matrix products for float and double (blocked, packed) and for integers (plain loops, arithmetic modulo 2^bits).
#include "frames/gemm.h"
#include "frames/post_ops.h"
#include "dispatch/kernel.h"

#include <atomic>
#include <type_traits>

#include "gemm_core.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

namespace gemm = ptlite::gemm;

template <class T>
const T* pointer(uint64_t address) {
  return reinterpret_cast<const T*>(address);
}

template <class T>
int32_t gemm_float(const gemm_frame& f, const ptlite::PostOps* post = nullptr) {
  gemm::Epilogue<T> e;
  e.post = post;
  e.alpha = T(f.alpha);
  e.beta = T(f.beta);
  e.lo = T(f.lo);
  e.hi = T(f.hi);
  e.clamped = f.clamped != 0;
  e.source_row = f.source_row;
  e.source_col = f.source_col;
  std::atomic<bool> fine{true};
  const auto some = [&](int64_t begin, int64_t end) {
    gemm::Epilogue<T> own = e;
    for (int64_t i = begin; i < end; i++) {
      own.source = f.source == 0 ? nullptr : pointer<T>(f.source) + i * f.source_batch;
      own.post_batch = i;
      const gemm::Operand<T> a{pointer<T>(f.a) + i * f.a_batch, f.a_row, f.a_col, f.packed == 1};
      const gemm::Operand<T> b{pointer<T>(f.b) + i * f.b_batch, f.b_row, f.b_col, f.packed == 2};
      T* c = reinterpret_cast<T*>(f.c) + i * f.c_batch;
      if (!gemm::multiply<T>(f.m, f.n, f.k, a, b, c, f.c_row, own)) fine = false;
    }
  };
  // threads share out the matrices of a batch, or else the columns of each
  if (f.batch >= ptlite::thread_limit()) ptlite::parallel_for(f.batch, ptlite::grain_for(int64_t{f.m} * f.n * f.k), some);
  else some(0, f.batch);
  return fine ? PTLITE_OK : PTLITE_NO_MEMORY;
}

template <class T>
int32_t gemm_integer(const gemm_frame& f) {
  using U = uint64_t;
  const U alpha = U(int64_t(f.alpha)), beta = U(int64_t(f.beta));
  for (int64_t i = 0; i < f.batch; i++) {
    const T* a = pointer<T>(f.a) + i * f.a_batch;
    const T* b = pointer<T>(f.b) + i * f.b_batch;
    const T* s = f.source == 0 ? nullptr : pointer<T>(f.source) + i * f.source_batch;
    T* c = reinterpret_cast<T*>(f.c) + i * f.c_batch;
    for (int64_t r = 0; r < f.m; r++) {
      for (int64_t q = 0; q < f.n; q++) {
        U sum = 0;
        for (int64_t p = 0; p < f.k; p++) sum += U(a[r * f.a_row + p * f.a_col]) * U(b[p * f.b_row + q * f.b_col]);
        U v = alpha * sum;
        if (s != nullptr) v += beta * U(s[r * f.source_row + q * f.source_col]);
        c[r * f.c_row + q] = T(v);
      }
    }
  }
  return PTLITE_OK;
}

/// Rounds after every step, as PyTorch's loops for small bfloat16 products do.
int32_t gemm_bfloat16(const gemm_frame& f) {
  using ptlite::bfloat16;
  const auto round = [](float v) { return to_float(ptlite::to_bfloat16(v)); };
  const float alpha = round(float(f.alpha)), beta = round(float(f.beta));
  for (int64_t i = 0; i < f.batch; i++) {
    const bfloat16* a = pointer<bfloat16>(f.a) + i * f.a_batch;
    const bfloat16* b = pointer<bfloat16>(f.b) + i * f.b_batch;
    const bfloat16* s = f.source == 0 ? nullptr : pointer<bfloat16>(f.source) + i * f.source_batch;
    bfloat16* c = reinterpret_cast<bfloat16*>(f.c) + i * f.c_batch;
    for (int64_t r = 0; r < f.m; r++) {
      for (int64_t q = 0; q < f.n; q++) {
        float sum = s == nullptr ? 0 : round(beta * to_float(s[r * f.source_row + q * f.source_col]));
        for (int64_t p = 0; p < f.k; p++) {
          sum = round(sum + round(to_float(a[r * f.a_row + p * f.a_col]) * round(alpha * to_float(b[p * f.b_row + q * f.b_col]))));
        }
        c[r * f.c_row + q] = ptlite::to_bfloat16(sum);
      }
    }
  }
  return PTLITE_OK;
}

int32_t gemm_kernel(gemm_frame* f) {
  switch (f->dtype) {
    PTLITE_HELD_CASE(PTLITE_FLOAT32, PTLITE_NO_DTYPE) return gemm_float<float>(*f);
    PTLITE_HELD_CASE(PTLITE_FLOAT64, PTLITE_NO_DTYPE) return gemm_float<double>(*f);
    PTLITE_HELD_CASE(PTLITE_BFLOAT16, PTLITE_NO_DTYPE) return gemm_bfloat16(*f);
    PTLITE_HELD_CASE(PTLITE_UINT8, PTLITE_NO_DTYPE) return gemm_integer<uint8_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT8, PTLITE_NO_DTYPE) return gemm_integer<int8_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT16, PTLITE_NO_DTYPE) return gemm_integer<int16_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT32, PTLITE_NO_DTYPE) return gemm_integer<int32_t>(*f);
    PTLITE_HELD_CASE(PTLITE_INT64, PTLITE_NO_DTYPE) return gemm_integer<int64_t>(*f);
    default: return PTLITE_NO_DTYPE;
  }
}

template <class T>
int32_t linear(const linear_frame& f, const ptlite::PostOps* post = nullptr) {
  gemm::Epilogue<T> e;
  e.post = post;
  e.lo = T(f.lo);
  e.hi = T(f.hi);
  e.clamped = f.clamped != 0;
  e.source = pointer<T>(f.bias);
  e.source_col = 1;
  const gemm::Operand<T> a{pointer<T>(f.x), f.k, 1, false};
  const gemm::Operand<T> b{pointer<T>(f.weight), 1, f.k, f.packed != 0};
  return gemm::multiply<T>(f.m, f.n, f.k, a, b, reinterpret_cast<T*>(f.out), f.n, e) ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t linear_kernel(linear_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return linear<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return linear<double>(*f);
  return PTLITE_NO_DTYPE;
}

/// A frame that starts as another one does.
template <class Base, class Frame>
const Base& start_of(const Frame& f) {
  return reinterpret_cast<const Base&>(f);
}

int32_t gemm_post_kernel(gemm_post_frame* f) {
  const ptlite::PostOps post(*f);
  if (f->dtype != PTLITE_FLOAT32) return PTLITE_NO_DTYPE;
  return post.valid() ? gemm_float<float>(start_of<gemm_frame>(*f), &post) : PTLITE_NO_KERNEL;
}

int32_t linear_post_kernel(linear_post_frame* f) {
  const ptlite::PostOps post(*f);
  if (f->dtype != PTLITE_FLOAT32) return PTLITE_NO_DTYPE;
  return post.valid() ? linear<float>(start_of<linear_frame>(*f), &post) : PTLITE_NO_KERNEL;
}

template <class T>
int64_t pack_elements(int32_t side, int64_t outer, int64_t k) {
  return side == 0 ? gemm::packed_a_size<T>(outer, k) : gemm::packed_b_size<T>(outer, k);
}

template <class T>
int32_t pack(const gemm_pack_frame& f) {
  const int64_t size = pack_elements<T>(f.side, f.outer, f.k);
  for (int64_t g = 0; g < f.groups; g++) {
    const T* src = pointer<T>(f.src) + g * f.group_stride;
    T* dst = reinterpret_cast<T*>(f.dst) + g * size;
    if (f.side == 0) gemm::pack_a<T>(f.outer, f.k, src, f.outer_stride, f.k_stride, dst);
    else gemm::pack_b<T>(f.k, f.outer, src, f.k_stride, f.outer_stride, dst);
  }
  return PTLITE_OK;
}

int32_t gemm_pack_kernel(gemm_pack_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return pack<float>(*f);
  if (f->dtype == PTLITE_FLOAT64) return pack<double>(*f);
  return PTLITE_NO_DTYPE;
}

int32_t gemm_pack_size_kernel(gemm_pack_size_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) f->bytes = int64_t{4} * f->groups * pack_elements<float>(f->side, f->outer, f->k);
  else if (f->dtype == PTLITE_FLOAT64) f->bytes = int64_t{8} * f->groups * pack_elements<double>(f->side, f->outer, f->k);
  else return PTLITE_NO_DTYPE;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(gemm, gemm_kernel)
PTLITE_KERNEL(linear, linear_kernel)
PTLITE_KERNEL(gemm_post, gemm_post_kernel)
PTLITE_KERNEL(linear_post, linear_post_kernel)
PTLITE_KERNEL(gemm_pack, gemm_pack_kernel)
PTLITE_KERNEL(gemm_pack_size, gemm_pack_size_kernel)
