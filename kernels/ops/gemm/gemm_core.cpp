// The blocked product: which way a product goes, what is packed when, and how it is shared among threads.
#include "gemm_core.h"

#include <algorithm>
#include <atomic>

#include "dispatch/kernel.h"
#include "ops/gemm/gemm_few.h"
#include "ops/gemm/gemm_pack.h"
#include "ops/gemm/gemm_tile.h"
#include "pool/pool.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace gemm {
namespace {

/// Bytes of a block of A that are read again for each panel of B.
constexpr int64_t kStreamed = 320 << 10;

/// Bytes of an operand that the second-level cache does not keep until it is read again.
constexpr int64_t kFar = 1536 << 10;

/// Applies the post-ops to a finished block at (row, col) of the product.
template <class T>
inline void apply_post_ops(const Epilogue<T>& e, int64_t rows, int64_t cols, T* c, int64_t c_row, int64_t row, int64_t col) {
  if constexpr (sizeof(T) == 4) {
    if (e.post != nullptr) e.post->apply(rows, cols, c, c_row, e.post_batch, e.post_row + row, e.post_col + col);
  }
}

}  // namespace

template <class T>
void multiply_packed(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_depth, const T* b, int64_t b_depth, int64_t k0_b, T* c,
                     int64_t c_row, const Epilogue<T>& e, bool first, bool last, int64_t row0, int64_t col0) {
  alignas(64) T buffer[kRows * kCols<T>];
  const auto tile_at = [&](int64_t i, int64_t j, PanelAhead panel) {
    const int rows = int(std::min<int64_t>(kRows, m - i)), cols = int(std::min<int64_t>(kCols<T>, n - j));
    const int width = int(round_up(cols, Vec<T>::size));
    T* cp = c + i * c_row + j;
    const Ahead here{reinterpret_cast<const char*>(a), 0};
    Lines lines{here, here, panel};
    const bool post = last && e.post != nullptr;
    if (sizeof(T) == 4 && k >= kPass * kRows && rows == kRows && cols == kCols<T>) {
      lines.write = {reinterpret_cast<const char*>(cp), c_row * int64_t(sizeof(T))};
    } else {
      for (int r = 0; r < rows; r++) {
        __builtin_prefetch(cp + r * c_row, 1);
        __builtin_prefetch(cp + r * c_row + cols - 1, 1);
      }
    }
    const TileEnd<T> end = tile_end<T>(e, first, last, row0 + i, col0 + j, rows, cols, cp, c_row, buffer);
    const auto run = [&](T* to, int64_t to_row) {
      run_tile<T>(k, a + i * a_depth, 1, kRows, b + j * b_depth + k0_b * width, width, Packed::kBoth, to, to_row, rows, cols, end, &lines);
    };
    if constexpr (sizeof(T) == 4) {
      if (post) {
        alignas(64) T tile[kRows * kCols<T>];
        const int64_t row = e.post_row + row0 + i, col = e.post_col + col0 + j;
        lines.read = e.post->ahead(e.post_batch, row, col, here);
        run(tile, cols);
        e.post->apply(rows, cols, tile, cp, c_row, e.post_batch, row, col);
        return;
      }
    }
    run(cp, c_row);
  };
  // The panel of B is larger than that of A and better stays in the first-level cache, unless A is too large to be read
  // from the second-level one for each panel of B. A B that is small is read again for each panel of A: C, which counts
  // for more then, is filled along its rows, as the processor prefetches it.
  const bool few_products = k * n * int64_t(sizeof(T)) <= kStreamed / 2;
  // The panel that the next row of tiles reads: where it comes from beyond the second-level cache, the first tiles of this one ask for it.
  const auto part_of = [&](const T* panel, int64_t elements, bool far, int64_t tile, int64_t bytes) -> PanelAhead {
    const int64_t from = tile * (k / kPass) * bytes;
    return {far && from < elements * int64_t(sizeof(T)) ? reinterpret_cast<const char*>(panel) + from : nullptr, bytes};
  };
  if (m * k * int64_t(sizeof(T)) <= kStreamed && !few_products) {
    const int64_t bytes = m < 4 * kRows ? kWholeBytes : kPartBytes;
    for (int64_t j = 0; j < n; j += kCols<T>) {
      poll();
      const int64_t next = j + kCols<T>, width = round_up(std::min<int64_t>(kCols<T>, n - next), Vec<T>::size);
      const T* panel = b + next * b_depth + k0_b * width;
      const bool far = next < n && n * b_depth * int64_t(sizeof(T)) > kFar;
      for (int64_t i = 0; i < m; i += kRows) tile_at(i, j, part_of(panel, k * width, far, i / kRows, bytes));
    }
  } else {
    for (int64_t i = 0; i < m; i += kRows) {
      poll();
      const T* panel = a + (i + kRows) * a_depth;
      const bool far = i + kRows < m && m * a_depth * int64_t(sizeof(T)) > kFar;
      for (int64_t j = 0; j < n; j += kCols<T>) tile_at(i, j, part_of(panel, k * kRows, far, j / kCols<T>, kPartBytes));
    }
  }
}

namespace {

/// How a product is computed. It depends on the sizes of the whole product alone, so that a part of it, which another
/// thread computes, has the same bits.
enum class Way { kRow, kDots, kUnpacked, kBlocked };

template <class T>
Way way_of(int64_t m, int64_t k, const Operand<T>& a, const Operand<T>& b) {
  if (b.packed && m == 1 && !a.packed) return Way::kRow;
  if (!a.packed && !b.packed && b.row == 1 && (a.col == 1 || k == 1) && m <= 3) return Way::kDots;
  return !a.packed && m <= kUnpackedRows<T> && (b.packed || b.col == 1) ? Way::kUnpacked : Way::kBlocked;
}

/// Columns of B that are packed at a time: each column block packs all of A again.
template <class T>
constexpr int64_t kWide = 16384 / int64_t(sizeof(T)) / kCols<T> * kCols<T>;

template <class T>
bool blocked(int64_t m, int64_t n, int64_t k, const Operand<T>& a, const Operand<T>& b, T* c, int64_t c_row, const Epilogue<T>& e) {
  const int64_t depth = even_depth(k);
  const int64_t width = b.packed ? round_up(n, kCols<T>) : std::min(round_up(n, kCols<T>), kWide<T>);
  // a block of A that stays in the second-level cache beside the block of B
  const int64_t height = std::min<int64_t>(round_up(m, kRows), kRows * std::max<int64_t>(1, 262144 / int64_t(sizeof(T)) / (kRows * depth)));
  const int64_t a_elements = a.packed ? 0 : round_up(height * depth, 64);
  const int64_t b_elements = b.packed ? 0 : width * depth;
  T* memory = nullptr;
  if (a_elements + b_elements > 0) {
    memory = static_cast<T*>(ptlite_scratch(size_t(a_elements + b_elements) * sizeof(T)));
    if (memory == nullptr) return false;
  }
  T* a_pack = memory;
  T* b_pack = memory + a_elements;
  for (int64_t j = 0; j < n; j += width) {
    const int64_t nn = std::min(width, n - j);
    for (int64_t p = 0; p < k; p += depth) {
      const int64_t kk = std::min(depth, k - p);
      const bool first = p == 0, last = p + kk == k;
      const T* bp = b.data + j * k;
      if (!b.packed) {
        pack_b<T>(kk, nn, b.data + p * b.row + j * b.col, b.row, b.col, b_pack);
        bp = b_pack;
      }
      const int64_t b_depth = b.packed ? k : kk;
      const int64_t b_k0 = b.packed ? p : 0;
      if (a.packed) {
        multiply_packed<T>(m, nn, kk, a.data + p * kRows, k, bp, b_depth, b_k0, c + j, c_row, e, first, last, 0, j);
      } else {
        for (int64_t i = 0; i < m; i += height) {
          const int64_t mm = std::min(height, m - i);
          pack_a<T>(mm, kk, a.data + i * a.row + p * a.col, a.row, a.col, a_pack);
          multiply_packed<T>(mm, nn, kk, a_pack, kk, bp, b_depth, b_k0, c + i * c_row + j, c_row, e, first, last, i, j);
        }
      }
    }
  }
  return true;
}

/// The columns from `col` on and rows from `row` on, `cols` and `rows` of them; both are starts of panels.
template <class T>
bool part(Way way, int64_t row, int64_t rows, int64_t col, int64_t cols, int64_t k, Operand<T> a, Operand<T> b, T* c, int64_t c_row,
          Epilogue<T> e) {
  a.data += a.packed ? row * k : row * a.row;
  b.data += b.packed ? col * k : col * b.col;
  c += row * c_row + col;
  if (e.source != nullptr) e.source += row * e.source_row + col * e.source_col;
  e.post_row += row;
  e.post_col += col;
  switch (way) {
    case Way::kRow:
      row_by_packed<T>(cols, k, a.data, a.col, b.data, c, e);
      break;
    case Way::kDots:
      dots<T>(rows, cols, k, a.data, a.row, b.data, b.col, c, c_row, e);
      break;
    case Way::kUnpacked:
      few_rows<T>(rows, cols, k, a, b, c, c_row, e);
      break;
    default:
      return blocked<T>(rows, cols, k, a, b, c, c_row, e);
  }
  apply_post_ops<T>(e, rows, cols, c, c_row, 0, 0);
  return true;
}

}  // namespace

template <class T>
bool multiply(int64_t m, int64_t n, int64_t k, Operand<T> a, Operand<T> b, T* c, int64_t c_row, const Epilogue<T>& e) {
  if (m == 0 || n == 0) return true;
  if (k == 0) {
    only_source<T>(m, n, c, c_row, e);
    apply_post_ops<T>(e, m, n, c, c_row, 0, 0);
    return true;
  }
  const Way way = way_of(m, k, a, b);
  // one row takes four panels at a time
  const int64_t width = way == Way::kRow ? 4 * kCols<T> : kCols<T>;
  const int64_t panels = (n + width - 1) / width;
  std::atomic<bool> fine{true};
  const int64_t strips = (m + kRows - 1) / kRows;
  // each range packs what it needs of an operand that is not packed: rows of A are packed once where B is packed already
  // Few strips are uneven shares, and every range reads all of B for its own. Where there are panels enough for all threads, packing
  // A in each range costs less than that.
  const bool by_panels = b.packed && strips < 64 * thread_limit() && panels >= 4 * thread_limit();
  if (way == Way::kBlocked && !by_panels && (m > n || (b.packed && strips >= 4 * thread_limit()))) {
    const int64_t fewest = b.packed ? 1 : (strips + thread_limit() - 1) / thread_limit();
    parallel_for(strips, std::max(fewest, grain_for(kRows * n * k)), [&](int64_t begin, int64_t end) {
      const int64_t row = begin * kRows;
      if (!part<T>(way, row, std::min(end * kRows, m) - row, 0, n, k, a, b, c, c_row, e)) fine = false;
    });
  } else {
    parallel_for(panels, grain_for(m * width * k), [&](int64_t begin, int64_t end) {
      const int64_t col = begin * width;
      if (!part<T>(way, 0, m, col, std::min(end * width, n) - col, k, a, b, c, c_row, e)) fine = false;
    });
  }
  return fine;
}

PTLITE_GEMM_OF(, float)
PTLITE_GEMM_OF(, double)

}  // namespace gemm
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
