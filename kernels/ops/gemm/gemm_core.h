// Blocked matrix product C = clamp(alpha * A * B + beta * S) for float and double, shared by the GEMM, linear and
// convolution kernels of a level. Operands are cut into register tiles of kRows x kCols: A in panels of kRows rows stored
// k-major (panel[k][row]), B in panels of kCols columns stored k-major (panel[k][column]).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <limits>

#include "ops/fused/post_ops.h"
#include "vec/vec.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace gemm {

// The tile leaves room for one vector of B per column group and one broadcast of A: 28 of 32 registers with
// AVX-512, 12 of 16 with AVX2 and WebAssembly, 8 of 16 with SSE2, which has no three-operand form. 64-bit Arm multiplies by a lane: 24 of 32, and three
// registers hold a column of A.
#if PTLITE_VEC_BYTES >= 64
constexpr int kRows = 14;
#elif PTLITE_VEC_REGISTERS >= 32
constexpr int kRows = 12;
#elif PTLITE_VEC_BYTES >= 32 || defined(PTLITE_TILE_PARTS)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
constexpr int kVectors = 2;
/// Most rows of A that are multiplied without packing them, nor B: a tile reads each once, as packing does. In WebAssembly tiles of more rows are
/// bytes to download.
#if defined(PTLITE_TILE_PARTS)
constexpr int kMostUnpacked = 4;
#else
constexpr int kMostUnpacked = kRows;
#endif
template <class T>
constexpr int kUnpackedRows = sizeof(T) == 4 ? kMostUnpacked : 1;

/// Columns of a register tile.
template <class T>
constexpr int kCols = kVectors * Vec<T>::size;

/// Depth of a block: an A panel of this depth stays in the first-level cache.
constexpr int64_t kDepth = 384;
/// Columns of a packed B block: with kDepth rows it fills about half of a 1 MiB second-level cache.
template <class T>
constexpr int64_t kWidth = 1280 / int64_t(sizeof(T)) / kCols<T> * kCols<T>;

/// NaN in v survives, as in at::clamp.
template <class T>
inline Vec<T> clamp(Vec<T> v, T lo, T hi) {
  const Vec<T> l(lo), h(hi);
  v = select(v < l, l, v);
  return select(v > h, h, v);
}
template <class T>
inline T clamp_one(T v, T lo, T hi) {
  v = v < lo ? lo : v;
  return v > hi ? hi : v;
}

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// Depth of each k block so that all blocks of k are about equal.
inline int64_t even_depth(int64_t k) {
  const int64_t blocks = (k + kDepth - 1) / kDepth;
  return blocks <= 1 ? k : round_up((k + blocks - 1) / blocks, 8);
}

/// What happens to the product on its way to memory: alpha * product + beta * source, then clamp.
template <class T>
struct Epilogue {
  T alpha = 1;
  T beta = 1;
  const T* source = nullptr;  ///< null: nothing is added
  int64_t source_row = 0;     ///< strides of the source; 0 broadcasts
  int64_t source_col = 0;
  T lo = -std::numeric_limits<T>::infinity();
  T hi = std::numeric_limits<T>::infinity();
  bool clamped = false;
  const PostOps* post = nullptr;  ///< steps on finished blocks, float only; null: none
  int64_t post_batch = 0;         ///< where the product lies for them
  int64_t post_row = 0;
  int64_t post_col = 0;
};

/// An operand: strided, or packed whole by pack_a / pack_b.
template <class T>
struct Operand {
  const T* data;
  int64_t row;
  int64_t col;
  bool packed;
};

/// Elements of A packed whole: panels of kRows x k, the last one padded with zeros.
template <class T>
inline int64_t packed_a_size(int64_t m, int64_t k) {
  return round_up(m, kRows) * k;
}

/// Elements of B packed whole: panels of k x kCols, the last one padded to whole vectors.
template <class T>
inline int64_t packed_b_size(int64_t n, int64_t k) {
  return round_up(n, Vec<T>::size) * k;
}

/// Packs m rows and k columns of A into panels.
template <class T>
void pack_a(int64_t m, int64_t k, const T* a, int64_t a_row, int64_t a_col, T* out);

/// Packs k rows and n columns of B into panels. Panel p starts at p * kCols * k; the last is as wide as whole vectors need.
template <class T>
void pack_b(int64_t k, int64_t n, const T* b, int64_t b_row, int64_t b_col, T* out);

/// Multiplies a packed A block by a packed B block over k of the a_depth and b_depth that both were packed with, from
/// k0_b on in B. `first` and `last` say which k block of the whole product it is; row0 and col0 where C lies in it.
template <class T>
void multiply_packed(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_depth, const T* b, int64_t b_depth, int64_t k0_b, T* c,
                     int64_t c_row, const Epilogue<T>& e, bool first, bool last, int64_t row0, int64_t col0);

/// The product, with C contiguous along its columns. Where an operand is not packed it is, in ptlite_scratch memory.
/// False where there is none.
template <class T>
bool multiply(int64_t m, int64_t n, int64_t k, Operand<T> a, Operand<T> b, T* c, int64_t c_row, const Epilogue<T>& e);

#define PTLITE_GEMM_OF(linkage, T)                                                                                             \
  linkage template void pack_a<T>(int64_t, int64_t, const T*, int64_t, int64_t, T*);                                           \
  linkage template void pack_b<T>(int64_t, int64_t, const T*, int64_t, int64_t, T*);                                           \
  linkage template void multiply_packed<T>(int64_t, int64_t, int64_t, const T*, int64_t, const T*, int64_t, int64_t, T*,       \
                                           int64_t, const Epilogue<T>&, bool, bool, int64_t, int64_t);                         \
  linkage template bool multiply<T>(int64_t, int64_t, int64_t, Operand<T>, Operand<T>, T*, int64_t, const Epilogue<T>&);
PTLITE_GEMM_OF(extern, float)
PTLITE_GEMM_OF(extern, double)

}  // namespace gemm
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
