// isa: AVX2_VNNI, AVX512_VNNI, DOTPROD, I8MM
// Products of packed integers with activations that were made bytes: a panel is read once for as many rows as registers have room for. Of many rows, what dot
// products take is laid out once.
#include <string.h>

#include <algorithm>

#include "ops/gemm/packed_product.h"
#include "ops/gemm/row_range.h"
#include "ops/gemm/weight_dot.h"
#include "pool/budget.h"
#include "pool/pool.h"
#include "vec/half.h"
#include "vec/transpose.h"

namespace {

using namespace ptlite;
using namespace ptlite::packed;
using F = Vec<float>;

// Rows, and vectors of columns, whose sums stay in registers beside a weight's.
constexpr int kRows = 4;
constexpr int kWide = kVectors < 2 ? kVectors : 2;
constexpr int kNarrow = PTLITE_VEC_REGISTERS >= 32 ? kWide : 1;
// Bytes of a weight that are asked for ahead.
constexpr int64_t kAhead = 2048;

#if defined(PTLITE_INT8_DOT)
// Rows of a tile where there are many rows, and how many that is. Sums of a block and totals of all are in registers, for two vectors of columns.
constexpr int kTileRows = PTLITE_VEC_REGISTERS >= 32 ? 6 : 3;
constexpr int kTileVectors = 2;
constexpr int kMany = 16;
#endif

// Rows of activations as bytes, or int16, with the scale and the sum of each block, which is there times -offset, too. The rows of a tile lie together, block by block.
// Of rows that have one scale and one zero point each, blocks have the zero point, with the other sign, in the place of a scale, and sums without it.
struct Bytes {
  int64_t blocks, tile, block_bytes;
  uint8_t* values;
  float* scales;
  int32_t* starts;
  float* sums;
  // Of whole rows.
  float* row_scales;

  Bytes(uint8_t* memory, int64_t m, int64_t blocks, bool words, int64_t tile)
      : blocks(blocks), tile(tile), block_bytes(kBlock * (words ? 2 : 1)), values(memory), scales(reinterpret_cast<float*>(memory + rows(m) * blocks * block_bytes)),
        starts(reinterpret_cast<int32_t*>(scales + rows(m) * blocks)), sums(reinterpret_cast<float*>(starts + rows(m) * blocks)), row_scales(sums + rows(m) * blocks) {}

  int64_t at(int64_t r, int64_t b) const { return (r / tile * blocks + b) * tile + r % tile; }

  // Row r, of k floats, as many blocks at a time as a vector has lanes. A block with a number that is not finite has NaN as its scale.
  // Where blocks of tiles are matrices of two rows and eight numbers, pairs of rows lie together.
  template <class W>
  void fill(int64_t r, const float* x, int64_t k) const {
    const int64_t first = at(r, 0);
    for (int64_t b = 0; b < blocks; b += kLanes) {
      const int64_t count = std::min<int64_t>(kLanes, blocks - b);
      alignas(64) float factors[kLanes], scale[kLanes];
      const F most = largest_of(x, b, count, k);
      select(most > F(1e-30f), F(127) / most, F::zero()).store(factors);
      (most / F(127) + (most - most)).store(scale);
      F sums_of[kLanes];
      for (int64_t j = 0; j < kLanes; j++) sums_of[j] = F::zero();
      for (int64_t j = 0; j < count; j++) {
        const F factor(factors[j]);
        alignas(64) int32_t q[kBlock];
        Vec<int32_t> sum = Vec<int32_t>::zero();
        for (int i = 0; i < kBlock / F::size; i++) {
          const F rounded = rint(load(x, b + j, i, k) * factor);
          const Vec<int32_t> integer = convert<int32_t>(select(is_nan(rounded), F::zero(), rounded));
          sum += integer;
          integer.store(q + i * F::size);
        }
        sums_of[j] = bit_cast<float>(sum);
#if defined(PTLITE_INT8_MATRIX)
        if (tile > 1) {
          uint8_t numbers[kBlock];
          narrow<false>(q, numbers);
          put<W>(r, first + (b + j) * tile, numbers);
          continue;
        }
#endif
        narrow<W::kWords>(q, values + (first + (b + j) * tile) * block_bytes);
      }
      transpose_square<float>(sums_of);
      Vec<int32_t> total = bit_cast<int32_t>(sums_of[0]);
#pragma GCC unroll 16
      for (int j = 1; j < kLanes; j++) total += bit_cast<int32_t>(sums_of[j]);
      alignas(64) int32_t own[kLanes];
      alignas(64) float whole[kLanes];
      (total * Vec<int32_t>(-W::kOffset)).store(own);
      convert<float>(total).store(whole);
      for (int64_t j = 0; j < count; j++) {
        scales[first + (b + j) * tile] = scale[j];
        starts[first + (b + j) * tile] = own[j];
        sums[first + (b + j) * tile] = whole[j];
      }
    }
  }

  // Row r, of k floats, by what all of it is rounded by. What fills the last block up is zero, too, which is the zero point.
  template <class W>
  void fill_row(int64_t r, const float* x, int64_t k, const RowRange& range) const {
    row_scales[r] = range.scale;
    for (int64_t b = 0; b < blocks; b++) {
      alignas(64) int32_t q[kBlock];
      Vec<int32_t> sum = Vec<int32_t>::zero();
      range.round([&](int i) { return load(x, b, i, k); }, q);
      for (int i = 0; i < kBlock; i += F::size) sum += Vec<int32_t>::load(q + i);
      const int32_t total = reduce_add(sum);
      const int64_t to = at(r, b);
      alignas(64) uint8_t numbers[kBlock * (W::kWords ? 2 : 1)];
      narrow<W::kWords>(q, numbers);
      put<W>(r, to, numbers);
      scales[to] = static_cast<float>(-range.zero);
      starts[to] = -W::kOffset * total;
      sums[to] = static_cast<float>(total - kBlock * range.zero);
    }
  }

  // Rows r.. of `count` pixels, one for each lane at most, from planes of k channels; as fill has them.
  template <class W>
  void fill_planes(int64_t r, int64_t count, const float* x, int64_t plane, int64_t k) const {
    using I = Vec<int32_t>;
    constexpr int kWordsOf = kBlock / (W::kWords ? 2 : 4);
    alignas(64) int32_t numbers[kLanes][kWordsOf > kLanes ? kWordsOf : kLanes];
    alignas(64) float scale[kLanes], whole[kLanes];
    alignas(64) int32_t own[kLanes];
    int64_t first[kLanes];
    for (int64_t i = 0; i < count; i++) first[i] = at(r + i, 0);
    float *const to_scales = scales, *const to_sums = sums;
    int32_t* const to_starts = starts;
    for (int64_t b = 0; b < blocks; b++, x += kBlock * plane) {
      F values[kBlock];
      I largest[2] = {I::zero(), I::zero()};
      const int64_t channels = std::min<int64_t>(kBlock, k - b * kBlock);
#pragma GCC unroll 4
      for (int64_t i = 0; i < kBlock; i++) {
        values[i] = i >= channels ? F::zero() : count == kLanes ? F::load(x + i * plane) : F::load(x + i * plane, count);
        // magnitudes are ordered as their bits are, where NaN comes last
        const I bits = bit_cast<int32_t>(abs(values[i]));
        largest[i % 2] = select(bits > largest[i % 2], bits, largest[i % 2]);
      }
      const F most = bit_cast<float>(select(largest[0] > largest[1], largest[0], largest[1]));
      const F factor = select(most > F(1e-30f), F(127) / most, F::zero());
      (most / F(127) + (most - most)).store(scale);
      I sum = I::zero(), word[kWordsOf];
      const auto integer = [&](int i) __attribute__((always_inline)) {
        const F rounded = rint(values[i] * factor);
        const I q = convert<int32_t>(select(is_nan(rounded), F::zero(), rounded));
        sum += q;
        return q;
      };
      for (int i = 0; i < kBlock; i += 4) {
        const I q0 = integer(i), q1 = integer(i + 1), q2 = integer(i + 2), q3 = integer(i + 3);
        if constexpr (W::kWords) {
          word[i / 2] = (q0 & I(0xffff)) | (q2 << 16);
          word[i / 2 + 1] = (q1 & I(0xffff)) | (q3 << 16);
        } else {
          word[i / 4] = (q0 & I(255)) | ((q1 & I(255)) << 8) | ((q2 & I(255)) << 16) | (q3 << 24);
        }
      }
      (sum * I(-W::kOffset)).store(own);
      convert<float>(sum).store(whole);
      for (int from = 0; from < kWordsOf; from += kLanes) {
        F square[kLanes];
        for (int i = 0; i < kLanes; i++) square[i] = from + i < kWordsOf ? bit_cast<float>(word[from + i < kWordsOf ? from + i : 0]) : F::zero();
        transpose_square<float>(square);
        for (int i = 0; i < kLanes; i++) bit_cast<int32_t>(square[i]).store(numbers[i] + from);
      }
      for (int64_t i = 0; i < count; i++) {
        const int64_t to = first[i] + b * tile;
        put<W>(r + i, to, reinterpret_cast<const uint8_t*>(numbers[i]));
        to_scales[to] = scale[i];
        to_starts[to] = own[i];
        to_sums[to] = whole[i];
      }
    }
  }

  // Row r from blocks of rows that are no tiles, `each` of them for a window's tap; zeros where there is none. Sums of blocks, which zero points need, are left out.
  template <class W>
  void gather(int64_t r, int64_t output, const WindowPixels& windows, const Bytes& from) const {
    alignas(64) static constexpr uint8_t kNone[kBlock * 2] = {};
    const int64_t each = from.blocks, apart = tile, first = at(r, 0);
    const auto* numbers = from.values;
    const auto *factors = from.scales, *none = reinterpret_cast<const float*>(kNone);
    const auto* own = from.starts;
    float* const to_scales = scales;
    int32_t* const to_starts = starts;
    windows.visit(output, [&](int64_t tap, int64_t pixel) __attribute__((always_inline)) {
      const int64_t place = pixel < 0 ? 0 : pixel * each;
      int64_t to = first + tap * each * apart;
      for (int64_t b = 0; b < each; b++, to += apart) {
        put<W>(r, to, pixel < 0 ? kNone : numbers + (place + b) * kBytesOf<W>);
        to_scales[to] = *(pixel < 0 ? none : factors + place + b);
        to_starts[to] = pixel < 0 ? 0 : own[place + b];
      }
    });
  }

 private:
  int64_t rows(int64_t m) const { return (m + tile - 1) / tile * tile; }

  template <class W>
  static constexpr int64_t kBytesOf = kBlock * (W::kWords ? 2 : 1);

  // A block of row r, which has place `to`.
  template <class W>
  PTLITE_INLINE void put([[maybe_unused]] int64_t r, int64_t to, const uint8_t* numbers) const {
#if defined(PTLITE_INT8_MATRIX)
    if (tile > 1) {
      uint8_t* pairs = values + (to - r % 2) * kBlock + r % 2 * 8;
      for (int i = 0; i < kBlock; i += 8) memcpy(pairs + 2 * i, numbers + i, 8);
      return;
    }
#endif
    memcpy(values + to * kBytesOf<W>, numbers, kBytesOf<W>);
  }

  // Vector i of a block, zeros beyond k.
  static PTLITE_INLINE F load(const float* x, int64_t b, int i, int64_t k) {
    const int64_t from = b * kBlock + i * F::size;
    if (from + F::size <= k) return F::load(x + from);
    return from >= k ? F::zero() : F::load(x + from, k - from);
  }

  // The largest magnitude of each of `count` blocks. Magnitudes are ordered as their bits are, where NaN comes last.
  static PTLITE_INLINE F largest_of(const float* x, int64_t b, int64_t count, int64_t k) {
    using I = Vec<int32_t>;
    const auto larger = [](I p, I q) { return select(p > q, p, q); };
    F largest[kLanes];
    for (int64_t j = 0; j < kLanes; j++) {
      I own = I::zero();
      if (j < count) {
        for (int i = 0; i < kBlock / F::size; i++) own = larger(bit_cast<int32_t>(abs(load(x, b + j, i, k))), own);
      }
      largest[j] = bit_cast<float>(own);
    }
    transpose_square<float>(largest);
    I most = bit_cast<int32_t>(largest[0]);
#pragma GCC unroll 16
    for (int j = 1; j < kLanes; j++) most = larger(bit_cast<int32_t>(largest[j]), most);
    return bit_cast<float>(most);
  }

  template <bool words>
  static PTLITE_INLINE void narrow(const int32_t* q, uint8_t* to) {
    if constexpr (words) {
      int16_t numbers[kBlock];
      for (int i = 0; i < kBlock; i += 4) {
        numbers[i] = static_cast<int16_t>(q[i]), numbers[i + 1] = static_cast<int16_t>(q[i + 2]);
        numbers[i + 2] = static_cast<int16_t>(q[i + 1]), numbers[i + 3] = static_cast<int16_t>(q[i + 3]);
      }
      memcpy(to, numbers, sizeof(numbers));
    } else {
      for (int i = 0; i < kBlock; i++) to[i] = static_cast<uint8_t>(q[i]);
    }
  }
};

// What zero points or offsets change of the sums of a block of R rows, whose scales and sums are `step` apart; without scales where whole rows have them.
template <int R, int V>
PTLITE_INLINE void add_zeros(const PackedWeight& w, const F (&zero)[V], const F (&scale)[V], const float* factors, const float* sums, int64_t step, F (&total)[R][V]) {
  for (int r = 0; r < R; r++) {
    const F factor(factors == nullptr ? 1 : factors[r * step]), sum(sums[r * step]);
    for (int v = 0; v < V; v++) {
      if (w.zero == ZeroPoints_integers) total[r][v] = fma(zero[v] * (F::zero() - sum), factor * scale[v], total[r][v]);
      else total[r][v] = fma(zero[v], factor * sum, total[r][v]);
    }
  }
}

// Adds sums of a block of R rows to totals. Of rows that have one scale each, what their zero points, `step` apart, change comes from sums of the weight's own numbers: it is exact.
template <int R, int V>
PTLITE_INLINE void add_block(const Reg (&sum)[R][V], const F* own, const F (&scale)[V], const float* factors, int64_t step, F (&total)[R][V]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
    const F factor(factors[r * step]);
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      const F value = convert<float>(Vec<int32_t>((Vec<int32_t>::Raw)sum[r][v]));
      total[r][v] = own == nullptr ? fma(value, factor * scale[v], total[r][v]) : fma(fma(factor, own[v], value), scale[v], total[r][v]);
    }
  }
}

// Totals of rows that have one scale each.
template <int R, int V>
PTLITE_INLINE void scale_rows(const float* factors, F (&total)[R][V]) {
#pragma GCC unroll 16
  for (int i = 0; i < R * V; i++) total[i / V][i % V] *= F(factors[i / V]);
}

// Sums of a block of V vectors of a panel.
template <class W, int V>
PTLITE_INLINE void sums_of_block(const uint8_t* at, F (&own)[V]) {
  alignas(64) static constexpr uint8_t kOnes[kBlock] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(64) static constexpr int16_t kWordOnes[kBlock] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const int32_t start = -W::kOffset * kBlock;
  Reg sum[1][V];
  W::template block<1, V>(at, W::kWords ? reinterpret_cast<const uint8_t*>(kWordOnes) : kOnes, 0, &start, 0, sum);
  for (int v = 0; v < V; v++) own[v] = convert<float>(Vec<int32_t>((Vec<int32_t>::Raw)sum[0][v]));
}

// R rows by V vectors of columns of a panel, from vector v0 on.
template <class W, int R, int V>
void by_bytes(const PackedWeight& w, const Bytes& a, int64_t row, int64_t m0, int64_t panel, int v0, const Finish& finish) {
  F total[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R * V; i++) total[i / V][i % V] = F::zero();
  const uint8_t* at = w.block(panel, 0) + v0 * PTLITE_VEC_BYTES;
  const int64_t blocks = w.blocks(), span = w.span(), a_row = blocks * a.block_bytes;
  const bool whole = w.group == 0 && w.zero != ZeroPoints_offsets, by_rows = finish.f.bytes > RowBytes_blocks;
  const bool shifts = by_rows && RowRange::shifts(finish.f.bytes);
  for (int64_t b = 0, g = 0; b < blocks; g++) {
    F scale[V], zero[V], own[V];
    for (int v = 0; v < V; v++) own[v] = F::zero();
    for (int v = 0; v < V; v++) scale[v] = whole ? F(1) : scales_of(w, panel, g, v0 + v);
    for (int v = 0; v < V; v++) zero[v] = w.zero == ZeroPoints_none ? F::zero() : zeros_of(w, panel, g, v0 + v);
    for (const int64_t end = std::min(blocks, b + span); b < end; b++, at += W::kBytes) {
      // of 4 bits there is more arithmetic between two lines; processors read larger ones ahead by themselves, and faster
      if constexpr (R == 1 && W::kBytes < kBlock * kPanel) {
        for (int64_t line = 0; line < W::kBytes; line += 64) __builtin_prefetch(at + kAhead + line);
      }
      Reg sum[R][V];
      W::template block<R, V>(at, a.values + row * a_row + b * a.block_bytes, a_row, a.starts + row * blocks + b, blocks, sum);
      const float* factors = a.scales + row * blocks + b;
      if (shifts) sums_of_block<W, V>(at, own);
      if (by_rows) add_block<R, V>(sum, own, scale, factors, blocks, total);
      else add_block<R, V>(sum, nullptr, scale, factors, blocks, total);
      if (w.zero != ZeroPoints_none) add_zeros<R, V>(w, zero, scale, by_rows ? nullptr : factors, a.sums + row * blocks + b, blocks, total);
    }
  }
  if (by_rows) scale_rows<R, V>(a.row_scales + row, total);
  if (whole) {
    for (int v = 0; v < V; v++)
      for (int r = 0; r < R; r++) total[r][v] *= scales_of(w, panel, 0, v0 + v);
  }
  finish.store<R, V>(m0 + row, panel, v0, total);
}

#if defined(PTLITE_INT8_DOT)

// The numbers of some vectors of columns as bytes that dot products take, offset where they have to be unsigned, their scales, and what they have of zero points.
struct Strip {
  uint8_t* values;  // [block][8][kTileVectors] vectors, or [block][4][kTileVectors * kLanes columns][8] for products of matrices
  float* scales;    // [group][kTileVectors] vectors
  float* zeros;     // the same
  float* sums;      // [block][kTileVectors] vectors, of the numbers

  static int64_t bytes(const PackedWeight& w) { return w.blocks() * kBlockBytes + (2 * w.groups() + w.blocks()) * kTileVectors * PTLITE_VEC_BYTES; }
  static_assert(kBlock / 4 * kTileVectors * PTLITE_VEC_BYTES + 3 * kTileVectors * PTLITE_VEC_BYTES <= kPanelScratch);
  Strip(uint8_t* memory, const PackedWeight& w)
      : values(memory), scales(reinterpret_cast<float*>(memory + w.blocks() * kBlockBytes)), zeros(scales + w.groups() * kTileVectors * kLanes),
        sums(zeros + w.groups() * kTileVectors * kLanes) {}

  static constexpr int kBlockBytes = kBlock / 4 * kTileVectors * PTLITE_VEC_BYTES;

  // The sums of all blocks, of the same columns.
  template <class W>
  void fill_sums(const PackedWeight& w, int64_t first) const {
    for (int v = 0; v < kTileVectors; v++) {
      const int64_t panel = (first + v) / kVectors, part = (first + v) % kVectors;
      for (int64_t b = 0; b < w.blocks(); b++) {
        F own[1] = {F::zero()};
        if (panel < w.panels()) sums_of_block<W, 1>(w.block(panel, b) + part * PTLITE_VEC_BYTES, own);
        own[0].store(sums + (b * kTileVectors + v) * kLanes);
      }
    }
  }

  // From vector `first` of all columns on; zeros where there are none.
  void fill(const PackedWeight& w, int64_t first) const {
    for (int v = 0; v < kTileVectors; v++) {
      const int64_t panel = (first + v) / kVectors, part = (first + v) % kVectors;
      const bool there = panel < w.panels();
      uint8_t* to = values + v * PTLITE_VEC_BYTES;
      for (int64_t b = 0; b < w.blocks(); b++, to += kBlockBytes) {
        // four numbers of each column
        const auto step = [&](int s) {
          if (!there) return int8::none();
          if (w.format == WeightFormat_int8) return int8::load(w.block(panel, b) + s * 4 * kPanel + part * PTLITE_VEC_BYTES);
          const Reg x = int8::load(w.block(panel, b) + s / 2 * 4 * kPanel + part * PTLITE_VEC_BYTES);
          return int8::both(s % 2 == 0 ? x : Int4::shifted(x), int8::bytes(15));
        };
#if defined(PTLITE_INT8_MATRIX)
        for (int s = 0; s < kBlock / 4; s += 2) {
          Reg first_four = step(s), next_four = step(s + 1);
          if (w.format == WeightFormat_int4) {
            first_four = int8::subtract_bytes(first_four, int8::bytes(8));
            next_four = int8::subtract_bytes(next_four, int8::bytes(8));
          }
          uint8_t* columns = to + v * PTLITE_VEC_BYTES + s * kTileVectors * PTLITE_VEC_BYTES;
          int8::store(columns, int8::low_lanes(first_four, next_four));
          int8::store(columns + PTLITE_VEC_BYTES, int8::high_lanes(first_four, next_four));
        }
#else
        for (int s = 0; s < kBlock / 4; s++) {
          Reg x = step(s);
          if (Int8::kOffset != 0 && w.format == WeightFormat_int8) x = int8::flip(x, int8::bytes(0x80));
          int8::store(to + s * kTileVectors * PTLITE_VEC_BYTES, x);
        }
#endif
      }
      for (int64_t g = 0; g < w.groups(); g++) {
        const F scale = there ? scales_of(w, panel, g, static_cast<int>(part)) : F::zero();
        scale.store(scales + (g * kTileVectors + v) * kLanes);
        const F zero = there && w.zero != ZeroPoints_none ? zeros_of(w, panel, g, static_cast<int>(part)) : F::zero();
        zero.store(zeros + (g * kTileVectors + v) * kLanes);
      }
    }
  }
};

#if defined(PTLITE_INT8_MATRIX)

// Sums of a block: pairs of rows by pairs of columns. Where the last pair has one row, the other is what happens to be there.
template <int R>
PTLITE_INLINE void by_matrices(const uint8_t* w, const uint8_t* x, Reg (&sum)[R][kTileVectors]) {
  constexpr int kPairs = (R + 1) / 2, kColumnPairs = 2 * kTileVectors;
  Reg part[kPairs][kColumnPairs];
#pragma GCC unroll 12
  for (int i = 0; i < kPairs * kColumnPairs; i++) part[i / kColumnPairs][i % kColumnPairs] = int8::none();
#pragma GCC unroll 4
  for (int s = 0; s < kBlock / 8; s++) {
    Reg columns[kColumnPairs];
#pragma GCC unroll 4
    for (int c = 0; c < kColumnPairs; c++) columns[c] = int8::load(w + (s * kColumnPairs + c) * PTLITE_VEC_BYTES);
#pragma GCC unroll 3
    for (int p = 0; p < kPairs; p++) {
      const Reg rows = int8::load(x + p * 2 * kBlock + s * 16);
#pragma GCC unroll 4
      for (int c = 0; c < kColumnPairs; c++) part[p][c] = int8::multiply_signed_matrices(part[p][c], rows, columns[c]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < R; r++) {
    for (int v = 0; v < kTileVectors; v++) {
      const Reg a = part[r / 2][2 * v], b = part[r / 2][2 * v + 1];
      sum[r][v] = r % 2 == 0 ? int8::first_row(a, b) : int8::second_row(a, b);
    }
  }
}

#endif

// R rows from the first one of a tile on by a strip, from vector `first` of all columns on.
template <int R>
void by_strip(const PackedWeight& w, const Strip& strip, const Bytes& a, int64_t row, int64_t m0, int64_t first, const Finish& finish) {
  constexpr int V = kTileVectors;
  F total[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R * V; i++) total[i / V][i % V] = F::zero();
  const int64_t blocks = w.blocks(), span = w.span();
  const bool whole = w.group == 0 && w.zero != ZeroPoints_offsets, by_rows = finish.f.bytes > RowBytes_blocks;
  const uint8_t *at = strip.values, *x = a.values + a.at(row, 0) * kBlock;
  const float* factors = a.scales + a.at(row, 0);
  [[maybe_unused]] const int32_t* starts = a.starts + a.at(row, 0);
  const float* sums = a.sums + a.at(row, 0);
  const auto scale_at = [&](int64_t g, int v) { return F::load(strip.scales + (g * V + v) * kLanes); };
  for (int64_t b = 0, g = 0; b < blocks; g++) {
    F scale[V];
    for (int v = 0; v < V; v++) scale[v] = whole ? F(1) : scale_at(g, v);
    for (const int64_t end = std::min(blocks, b + span); b < end; b++) {
      Reg sum[R][V];
#if defined(PTLITE_INT8_MATRIX)
      by_matrices<R>(at, x, sum);
#else
#pragma GCC unroll 16
      for (int i = 0; i < R * V; i++) sum[i / V][i % V] = int8::broadcast(starts[i / V]);
#pragma GCC unroll 8
      for (int s = 0; s < kBlock / 4; s++) {
        Reg column[V];
#pragma GCC unroll 4
        for (int v = 0; v < V; v++) column[v] = int8::load(at + (s * V + v) * PTLITE_VEC_BYTES);
#pragma GCC unroll 8
        for (int r = 0; r < R; r++) {
          const Reg part = load_part(x + r * kBlock + s * 4);
#pragma GCC unroll 4
          for (int v = 0; v < V; v++) sum[r][v] = int8::dot_bytes(sum[r][v], column[v], part);
        }
      }
      starts += kTileRows;
#endif
      at += Strip::kBlockBytes;
      if (by_rows) {
        F own[V];
        for (int v = 0; v < V; v++) own[v] = F::load(strip.sums + (b * V + v) * kLanes);
        add_block<R, V>(sum, own, scale, factors, 1, total);
      } else {
        add_block<R, V>(sum, nullptr, scale, factors, 1, total);
      }
      if (w.zero != ZeroPoints_none) {
        F zero[V];
        for (int v = 0; v < V; v++) zero[v] = F::load(strip.zeros + (g * V + v) * kLanes);
        add_zeros<R, V>(w, zero, scale, by_rows ? nullptr : factors, sums, 1, total);
      }
      x += kTileRows * kBlock;
      factors += kTileRows;
      sums += kTileRows;
    }
  }
  if (by_rows) scale_rows<R, V>(a.row_scales + row, total);
  if (whole) {
    for (int v = 0; v < V; v++)
      for (int r = 0; r < R; r++) total[r][v] *= scale_at(0, v);
  }
  finish.store<R, V>(m0 + row, first / kVectors, static_cast<int>(first % kVectors), total);
}

// The last rows: `M` of them or fewer.
template <int M>
void rest(const PackedWeight& w, const Strip& strip, const Bytes& a, int64_t row, const RowsTask& task, int64_t first, const Finish& finish) {
  if constexpr (M > 1) {
    if (task.m - row < M) return rest<M - 1>(w, strip, a, row, task, first, finish);
  }
  by_strip<M>(w, strip, a, row, task.m0, first, finish);
}

template <class W>
bool multiply_many(const RowsTask& task, const PackedWeight& w, const Bytes& a) {
  auto* memory = task.scratch != nullptr ? task.scratch : static_cast<uint8_t*>(range_scratch(static_cast<size_t>(Strip::bytes(w))));
  if (memory == nullptr) return false;
  const Strip strip(memory, w);
  const Finish finish{*task.f};
  for (int64_t first = task.begin * kVectors; first < task.end * kVectors; first += kTileVectors) {
    poll();
    strip.fill(w, first);
    if (task.f->bytes > RowBytes_blocks) strip.fill_sums<W>(w, first);
    int64_t r = 0;
    for (; r + kTileRows <= task.m; r += kTileRows) by_strip<kTileRows>(w, strip, a, r, task.m0, first, finish);
    if (r < task.m) rest<kTileRows - 1>(w, strip, a, r, task, first, finish);
  }
  return true;
}

#endif

template <class W>
bool run(const RowsTask& task) {
  const packed_linear_frame& f = *task.f;
  const PackedWeight w(f, f.weight);
#if defined(PTLITE_INT8_DOT)
  // by the rows of all calls of a product
  const bool many = f.m >= kMany;
  const Bytes a(task.memory, task.m, w.blocks(), W::kWords, many ? kTileRows : 1);
#else
  const Bytes a(task.memory, task.m, w.blocks(), W::kWords, 1);
#endif
  if (task.step == RowsStep::kRound) {
    for (int64_t r = task.begin; r < task.end; r++) {
      const float* x = reinterpret_cast<const float*>(f.x) + (task.m0 + r) * f.k;
      if (f.bytes > RowBytes_blocks) a.template fill_row<W>(r, x, f.k, RowRange(f, x));
      else a.template fill<W>(r, x, f.k);
    }
    return true;
  }
  if (task.step == RowsStep::kRoundPlanes) {
    const auto* x = reinterpret_cast<const float*>(f.x) + task.m0;
    for (int64_t r = task.begin; r < task.end; r += kLanes)
      a.template fill_planes<W>(r, std::min<int64_t>(kLanes, task.end - r), x + r, task.plane, f.k);
    return true;
  }
  if (task.step == RowsStep::kGather) {
    const RoundedPixels& pixels = *task.pixels;
    const WindowPixels& windows = *pixels.windows;
    const Bytes from(pixels.memory, pixels.count, w.blocks() / (windows.kernel[0] * windows.kernel[1] * windows.kernel[2]), W::kWords, 1);
    for (int64_t r = task.begin; r < task.end; r++) a.template gather<W>(r, task.m0 + r, windows, from);
    return true;
  }
#if defined(PTLITE_INT8_DOT)
  if (many) return multiply_many<W>(task, w, a);
#endif
  const Finish finish{f};
  for (int64_t p = task.begin; p < task.end; p++) {
    poll();
    int64_t r = 0;
    for (; r + kRows <= task.m; r += kRows)
      for (int v = 0; v < kVectors; v += kNarrow) by_bytes<W, kRows, kNarrow>(w, a, r, task.m0, p, v, finish);
    for (; r + 2 <= task.m; r += 2)
      for (int v = 0; v < kVectors; v += kWide) by_bytes<W, 2, kWide>(w, a, r, task.m0, p, v, finish);
    if (r < task.m)
      for (int v = 0; v < kVectors; v += kWide) by_bytes<W, 1, kWide>(w, a, r, task.m0, p, v, finish);
  }
  return true;
}

bool product(const RowsTask* task) {
  if (task->f->format != WeightFormat_int8) return run<Int4>(*task);
#if defined(PTLITE_INT8_SIGNS)
  // rows of their own range have -128, which has no sign to take
  if (task->f->bytes > RowBytes_blocks) return run<Int8Words>(*task);
#endif
  return run<Int8>(*task);
}

}  // namespace

PTLITE_REGISTER_STUB(packed_bytes, &product)
