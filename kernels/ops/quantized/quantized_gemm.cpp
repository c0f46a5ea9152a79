// isa: AVX2_VNNI, AVX512_VNNI, AMX, DOTPROD, I8MM
// 8-bit matrix products, exact in int32 (modulo 2^32 where a sum exceeds it). The loops multiply activations a, unsigned or, where the level has
// products of these alone, signed, by signed weights w as they are stored; with zero points za and zw the product wanted is
//   sum((a - za) (w - zw)) = sum(a w) - za sum(w) - zw sum(a) + k za zw
// of which the second and last terms are one number per column, and the third is gone where weights are symmetric.
#include <math.h>
#include <string.h>

#include <atomic>

#include "frames/quantized.h"
#include "dispatch/kernel.h"
#include "ops/quantized/quantized_direct.h"
#include "ops/quantized/quantized_rows.h"
#include "ops/quantized/quantized_tile.h"
#include "ops/quantized/quantizer.h"
#include "ops/quantized/requantize.h"
#include "pool/pool.h"

namespace {

using namespace ptlite::int8;

constexpr int32_t kFloat32 = 6;
constexpr int32_t kQInt8 = 12;
constexpr int32_t kQUInt8 = 13;
// Row blocks that share one pass over the weights stay in the second-level cache.
constexpr int64_t kBlocksBytes = 256 << 10;
// Multiplications that take as long as one of the steps by which ranges for threads are cut.
constexpr int64_t kStepsPerWork = 4;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Packed weights: this header, sum(w) and zw per column as int32, then the panels.
struct alignas(64) WeightsHeader {
  int32_t has_zero_points;
};

struct Layout {
  int64_t columns;  // with those that pad the last panel
  int64_t depth;

  Layout(int64_t n, int64_t k) : columns(round_up(n, kNarrowPanels ? kLanes : kColumns)), depth(round_up(k, kStep)) {}
  int64_t sums_at() const { return sizeof(WeightsHeader); }
  int64_t zeros_at() const { return sums_at() + 4 * columns; }
  int64_t panels_at() const { return round_up(zeros_at() + 4 * columns, 64); }
  int64_t bytes() const { return panels_at() + columns * depth; }
  int64_t width(int64_t n0) const { return columns - n0 < kColumns ? columns - n0 : kColumns; }
};

int32_t pack_size(quantized_gemm_pack_size_frame* f) {
  f->bytes = Layout(f->n, f->k).bytes();
  return PTLITE_OK;
}

int32_t pack(quantized_gemm_pack_frame* f) {
  const Layout layout(f->n, f->k);
  // unsigned weights are shifted by 128, their zero points with them
  const int32_t flip = f->dtype == kQInt8 ? 0 : 128;
  const auto* w = reinterpret_cast<const uint8_t*>(f->w);
  const auto* zero_points = reinterpret_cast<const int32_t*>(f->zero_points);
  auto* out = reinterpret_cast<char*>(f->out);
  auto* header = reinterpret_cast<WeightsHeader*>(out);
  auto* sums = reinterpret_cast<int32_t*>(out + layout.sums_at());
  auto* zeros = reinterpret_cast<int32_t*>(out + layout.zeros_at());
  auto* panel = reinterpret_cast<int8_t*>(out + layout.panels_at());
  // a file of packed weights has what lies between its parts, too
  memset(out, 0, layout.sums_at());
  memset(out + layout.zeros_at(), 0, layout.panels_at() - layout.zeros_at());
  for (int64_t n0 = 0; n0 < layout.columns; n0 += kColumns) {
    const int64_t width = layout.width(n0);
    for (int64_t c = 0; c < width; c++) {
      const int64_t n = n0 + c;
      const bool real = n < f->n;
      int32_t sum = 0;
      for (int64_t k = 0; k < layout.depth; k++) {
        const auto x = real && k < f->k ? static_cast<int8_t>(w[n * f->k + k] ^ flip) : int8_t{0};
        sum += x;
        panel[(k / kGroup * width + c) * kGroup + k % kGroup] = x;
      }
      sums[n] = sum;
      zeros[n] = real ? zero_points[n] - flip : 0;
      if (zeros[n] != 0) header->has_zero_points = 1;
    }
    panel += width * layout.depth;
  }
  return PTLITE_OK;
}

// What the rest of a call needs of the weights.
struct Weights {
  const int32_t* zeros;  // null where all are 0
  const int32_t* sums;
  const uint8_t* panels;

  Weights(const Layout& layout, uint64_t address) {
    const auto* at = reinterpret_cast<const char*>(address);
    sums = reinterpret_cast<const int32_t*>(at + layout.sums_at());
    zeros = reinterpret_cast<const WeightsHeader*>(at)->has_zero_points != 0 ? reinterpret_cast<const int32_t*>(at + layout.zeros_at())
                                                                             : nullptr;
    panels = reinterpret_cast<const uint8_t*>(at + layout.panels_at());
  }
};

// A block's sums on their way out. offsets: what is to be added per column, bias included where it is int32.
void finish(const quantized_gemm_frame* f, int32_t* sums, const int32_t* offsets, const float* scales, const Weights& weights, const int32_t* row_sums,
            int64_t m0, int64_t rows, int64_t n0, int64_t width) {
  const int64_t n = f->n - n0 < width ? f->n - n0 : width;
  for (int64_t r = 0; r < rows; r++, sums += width) {
    if (weights.zeros != nullptr) {
      for (int64_t i = 0; i < n; i++) sums[i] -= weights.zeros[n0 + i] * row_sums[r];
    }
    const int64_t at = (m0 + r) * f->out_stride + n0;
    if (f->out_dtype == PTLITE_INT32) {
      auto* out = reinterpret_cast<int32_t*>(f->out) + at;
      for (int64_t i = 0; i < n; i++) out[i] = sums[i] + offsets[n0 + i];
    } else if (f->out_dtype == kFloat32) {
      auto* out = reinterpret_cast<float*>(f->out) + at;
      const auto* bias = reinterpret_cast<const float*>(f->bias) + n0;
      for (int64_t i = 0; i < n; i++) {
        const float x = static_cast<float>(sums[i] + offsets[n0 + i]) * scales[n0 + i] + bias[i];
        out[i] = f->relu && x < 0 ? 0 : x;
      }
    } else {
      const ptlite::OutputRange range{f->out_zero, f->min, f->max};
      if (f->out_dtype == kQInt8) ptlite::requantize(sums, offsets + n0, scales + n0, reinterpret_cast<int8_t*>(f->out) + at, n, range);
      else ptlite::requantize(sums, offsets + n0, scales + n0, reinterpret_cast<uint8_t*>(f->out) + at, n, range);
    }
  }
}

// Per column, filled up to the width of the panels.
struct Epilogue {
  int32_t* offsets;  // what is to be added to the sums
  float* scales;
};

// Rows [first, last) by columns [from, to), of which from is the start of a panel. False where there is no memory.
#if defined(PTLITE_INT8_DOT)
bool part(const quantized_gemm_frame* f, const Layout& layout, const Weights& weights, const Epilogue& epilogue, int64_t first, int64_t last,
          int64_t from, int64_t to) {
  const Rows activations(f, f->a_dtype == kQInt8);
  const bool in_place = f->taps == 0 && f->k % kGroup == 0 && (f->a_dtype == kQInt8) == kSignedActivations;
  const int64_t stride = in_place ? f->a_stride : layout.depth;
  // few weights stay in the second-level cache while all rows go by; of many, each panel is used for as many rows as stay there
  const bool few = (to - from) * layout.depth <= kBlocksBytes;
  const int64_t wanted = few ? 1 : kBlocksBytes / (kRows * layout.depth) + 1, needed = (last - first + kRows - 1) / kRows;
  const int64_t rows_at_once = kRows * (wanted < needed ? wanted : needed);
  const bool through_sums = f->out_dtype == kFloat32 || f->out_dtype == PTLITE_INT32 || weights.zeros != nullptr || !small_scales(epilogue.scales, f->n);
  alignas(64) static constexpr int32_t kNoOffsets[kColumns] = {};
  const int64_t sums_bytes = 4 * kRows * kColumns, row_sums_bytes = round_up(4 * rows_at_once, 64);
  auto* memory = static_cast<uint8_t*>(
      ptlite::range_scratch(static_cast<size_t>(sums_bytes + row_sums_bytes + (in_place ? 0 : rows_at_once * layout.depth))));
  if (memory == nullptr) return false;
  auto* sums = reinterpret_cast<int32_t*>(memory);
  auto* row_sums = reinterpret_cast<int32_t*>(memory + sums_bytes);
  uint8_t* lines = memory + sums_bytes + row_sums_bytes;
  const Narrow narrow({f->out_zero, f->min, f->max}, f->out_dtype == kQInt8);
  for (int64_t m0 = first; m0 < last; m0 += rows_at_once) {
    const int64_t rows = last - m0 < rows_at_once ? last - m0 : rows_at_once;
    const uint8_t* a = in_place ? reinterpret_cast<const uint8_t*>(f->a) + m0 * stride : lines;
    if (!in_place) activations.lines(m0, rows, lines, stride);
    if (weights.zeros != nullptr) {
      for (int64_t r = 0; r < rows; r++) row_sums[r] = Rows::sum_of(a + r * stride, f->k);
    }
    const uint8_t* panel = weights.panels + from * layout.depth;
    for (int64_t n0 = from; n0 < to; n0 += kColumns) {
      const int64_t width = layout.width(n0);
      const auto multiply = [&](int64_t r, int64_t count, const DirectOutput& output) {
        const uint8_t* at = a + r * stride;
        if (width == kLanes) direct_rows<1>(at, stride, panel, layout.depth / kGroup, count, output, narrow);
        else direct_rows<2>(at, stride, panel, layout.depth / kGroup, count, output, narrow);
      };
      if (through_sums) {
        for (int64_t r = 0; r < rows; r += kRows) {
          const int64_t count = rows - r < kRows ? rows - r : kRows;
          multiply(r, count, {sums, kNoOffsets, nullptr, nullptr, 0, 0});
          finish(f, sums, epilogue.offsets, epilogue.scales, weights, row_sums + r, m0 + r, count, n0, width);
        }
      } else {
        auto* out = reinterpret_cast<uint8_t*>(f->out) + m0 * f->out_stride + n0;
        const int64_t columns = f->n - n0 < width ? f->n - n0 : width;
        multiply(0, rows, {nullptr, epilogue.offsets + n0, epilogue.scales + n0, out, f->out_stride, columns});
      }
      panel += width * layout.depth;
    }
  }
  return true;
}
#else
bool part(const quantized_gemm_frame* f, const Layout& layout, const Weights& weights, const Epilogue& epilogue, int64_t first, int64_t last,
          int64_t from, int64_t to) {
  const int64_t line_bytes = static_cast<int64_t>(Rows::line_bytes(f->k)), block_bytes = static_cast<int64_t>(Rows::block_bytes(f->k));
  const int64_t wanted = kBlocksBytes / (block_bytes + 1) + 1, needed = (last - first + kRows - 1) / kRows;
  const int64_t blocks = wanted < needed ? wanted : needed;
  const int64_t meta_bytes = round_up(blocks * (4 * kRows + static_cast<int64_t>(sizeof(Form))), 64);
  auto* memory = static_cast<uint8_t*>(ptlite::range_scratch(static_cast<size_t>(meta_bytes + kRows * line_bytes + blocks * block_bytes)));
  if (memory == nullptr) return false;
  auto* row_sums = reinterpret_cast<int32_t*>(memory);
  auto* forms = reinterpret_cast<Form*>(row_sums + blocks * kRows);
  uint8_t* line = memory + meta_bytes;
  uint8_t* a = line + kRows * line_bytes;
  const Rows activations(f, f->a_dtype == kQInt8);
  alignas(64) int32_t sums[kRows * kColumns];
  [[maybe_unused]] const Tiles tiles;
  for (int64_t m0 = first; m0 < last; m0 += blocks * kRows) {
    const int64_t rows = last - m0 < blocks * kRows ? last - m0 : blocks * kRows;
    const auto rows_from = [&](int64_t r) { return rows - r < kRows ? rows - r : kRows; };
    for (int64_t r = 0, b = 0; r < rows; r += kRows, b++) {
      forms[b] = activations.pack(m0 + r, rows_from(r), line, a + b * block_bytes, weights.zeros != nullptr ? row_sums + r : nullptr);
    }
    const uint8_t* panel = weights.panels + from * layout.depth;
    for (int64_t n0 = from; n0 < to; n0 += kColumns) {
      const int64_t width = layout.width(n0);
      for (int64_t r = 0, b = 0; r < rows; r += kRows, b++) {
        multiply_block(forms[b], a + b * block_bytes, panel, layout.depth / 4, rows_from(r), width, sums);
        finish(f, sums, epilogue.offsets, epilogue.scales, weights, row_sums + r, m0 + r, rows_from(r), n0, width);
      }
      panel += width * layout.depth;
    }
  }
  return true;
}
#endif

int64_t epilogue_bytes(const Layout& layout) { return round_up(layout.columns * 8, 64); }

// The product with `scale` times the frame's scales; `memory` holds epilogue_bytes.
int32_t multiply(const quantized_gemm_frame* f, const Layout& layout, float scale, char* memory) {
  const Weights weights(layout, f->w);
  const Epilogue epilogue{reinterpret_cast<int32_t*>(memory), reinterpret_cast<float*>(memory + 4 * layout.columns)};
  // 32 bits that wrap around, as the sums themselves
  const uint32_t a_zero = f->a_zero + (f->a_dtype == kQInt8 ? 128 : 0) - (kSignedActivations ? 128 : 0);
  for (int64_t n = 0; n < f->n; n++) {
    const uint32_t zero = weights.zeros != nullptr ? weights.zeros[n] : 0;
    uint32_t offset = a_zero * (static_cast<uint32_t>(f->k) * zero - static_cast<uint32_t>(weights.sums[n]));
    if (f->out_dtype != kFloat32 && f->out_dtype != PTLITE_INT32) offset += reinterpret_cast<const uint32_t*>(f->bias)[n];
    epilogue.offsets[n] = static_cast<int32_t>(offset);
    epilogue.scales[n] = scale * reinterpret_cast<const float*>(f->scales)[n];
  }
  for (int64_t n = f->n; n < layout.columns; n++) {
    epilogue.offsets[n] = 0;
    epilogue.scales[n] = 0;
  }
  std::atomic<bool> done{true};
  const int64_t work = f->k / kStepsPerWork + 1;
  // few rows are shared out by columns, so that each thread reads its own weights
  if (f->m <= 2 * kRows) {
    ptlite::parallel_for((f->n + kColumns - 1) / kColumns, ptlite::grain_for(f->m * kColumns * work), [&](int64_t begin, int64_t end) {
      const int64_t to = end * kColumns < f->n ? end * kColumns : f->n;
      if (!part(f, layout, weights, epilogue, 0, f->m, begin * kColumns, to)) done = false;
    });
  } else {
    ptlite::parallel_for(f->m, round_up(ptlite::grain_for(f->n * work), kRows), [&](int64_t begin, int64_t end) {
      if (!part(f, layout, weights, epilogue, begin, end, 0, f->n)) done = false;
    });
  }
  return done ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t gemm(quantized_gemm_frame* f) {
  const Layout layout(f->n, f->k);
  auto* memory = static_cast<char*>(ptlite_scratch(static_cast<size_t>(epilogue_bytes(layout))));
  return memory == nullptr ? PTLITE_NO_MEMORY : multiply(f, layout, 1, memory);
}

struct ByteQuant {
  float scale;
  int32_t zero_point;
};

// Scale and zero point of quint8 for data between two finite numbers, with 0 in their range (PyTorch's ChooseQuantizationParams, in doubles).
ByteQuant choose_quant(double min, double max) {
  constexpr double kLeastScale = 6.1e-5f, kMost = 255;
  double low = min < 0 ? min : 0, high = max > 0 ? max : 0;
  double scale = (high - low) / kMost;
  if (static_cast<float>(scale) == 0) scale = static_cast<double>(0.1f);
  if (scale < kLeastScale) {
    const double factor = kLeastScale / scale;
    low *= factor;
    high *= factor;
    scale = kLeastScale;
  }
  scale = static_cast<double>(static_cast<float>(scale));
  // from the end of the range that loses less
  const double from_low = 0 - low / scale, from_high = kMost - high / scale;
  const double start = 0 - fabs(low / scale) < kMost - fabs(high / scale) ? from_low : from_high;
  return {static_cast<float>(scale), start < 0 ? 0 : start > kMost ? 255 : static_cast<int32_t>(nearbyint(start))};
}

// False where some of n numbers is an infinity or NaN.
bool range_of(const float* x, int64_t n, float& least, float& most) {
  using F = ptlite::Vec<float>;
  F low = F::zero(), high = F::zero(), nothing = F::zero();
  for (int64_t i = 0; i < n; i += F::size) {
    // lanes behind the end are 0, which belongs to every range
    const F v = n - i >= F::size ? F::load(x + i) : F::load(x + i, n - i);
    low = fast_min(v, low);
    high = fast_max(v, high);
    nothing = nothing + (v - v);
  }
  least = reduce_min(low);
  most = reduce_max(high);
  return reduce_add(nothing) == 0;
}

int32_t linear_dynamic(quantized_linear_dynamic_frame* f) {
  const auto* x = reinterpret_cast<const float*>(f->x);
  const int64_t count = f->m * f->k;
  float least, most;
  if (!range_of(x, count, least, most)) return PTLITE_NOT_FINITE;
  const ByteQuant quant = choose_quant(least, most);
  const Layout layout(f->n, f->k);
  auto* memory = static_cast<char*>(ptlite_scratch(static_cast<size_t>(epilogue_bytes(layout) + count)));
  if (memory == nullptr) return PTLITE_NO_MEMORY;
  auto* integers = reinterpret_cast<uint8_t*>(memory + epilogue_bytes(layout));
  const ptlite::Quantizer quantizer(1 / quant.scale, quant.zero_point, false);
  ptlite::parallel_for(count, ptlite::grain_for(1), [&](int64_t begin, int64_t end) { quantizer.run(x, integers, begin, end); });
  quantized_gemm_frame product = {};
  product.m = f->m;
  product.n = f->n;
  product.k = f->k;
  product.a = reinterpret_cast<uint64_t>(integers);
  product.a_dtype = kQUInt8;
  product.a_zero = quant.zero_point;
  product.a_stride = f->k;
  product.w = f->w;
  product.scales = f->scales;
  product.bias = f->bias;
  product.out = f->out;
  product.out_dtype = kFloat32;
  product.out_stride = f->n;
  product.relu = f->relu;
  return multiply(&product, layout, quant.scale, memory);
}

}  // namespace

PTLITE_KERNEL(quantized_gemm_pack_size, pack_size)
PTLITE_KERNEL(quantized_gemm_pack, pack)
PTLITE_KERNEL(quantized_gemm, gemm)
PTLITE_KERNEL(quantized_linear_dynamic, linear_dynamic)
