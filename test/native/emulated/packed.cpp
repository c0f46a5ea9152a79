// Products of many rows with packed weights at one level, emulated, against sums in double of the numbers as they are rounded.
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include "instructions.h"
#endif
#include "harness.h"

// Sources are called directly, not through the stubs.
#include "ops/gemm/packed_product.h"
#undef PTLITE_REGISTER_STUB
#define PTLITE_REGISTER_STUB(name, fn) constexpr auto stub_##name = fn;

#include "dispatch/processor.h"
namespace ptlite {
bool has_fast_pairs() { return true; }
}  // namespace ptlite

#define product product_of_bytes
#include "ops/gemm/packed_bytes.cpp"
#undef product
#define product product_of_pairs
#include "ops/gemm/packed_pairs.cpp"
#undef product

namespace {

int wrong = 0;

void check(float got, double sum, double bound, const char* what, int64_t at) {
  if (fabs(got - sum) <= bound) return;
  if (wrong++ < 5) printf("%s at %ld: %g, expected %g\n", what, at, got, sum);
}

float number_of_bits(uint16_t x) {
  const uint32_t bits = uint32_t{x} << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

uint16_t nearest_bfloat16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t random_bfloat16() { return nearest_bfloat16(static_cast<float>(random_between(-1000, 1000)) / 256); }

// The numbers of a random weight, and the same packed.
struct Weight {
  std::vector<double> numbers;
  std::vector<uint8_t> data;

  explicit Weight(const packed_linear_frame& f) : numbers(int64_t{f.n} * f.k) {
    PackedWeight w(f, 0);
    const int64_t scales = w.floats() ? 0 : w.panels() * w.groups() * kPanel;
    data.resize(w.panels() * w.blocks() * w.block_bytes() + scales * 8 + 64);
    if (f.format == WeightFormat_int4) memset(data.data(), 0x88, data.size());
    w.data = data.data();
    for (int64_t p = 0; p < w.panels() && !w.floats(); p++) {
      for (int64_t g = 0; g < w.groups(); g++) {
        for (int r = 0; r < kPanel; r++) {
          put_float(w, w.scales(p, g), r, static_cast<float>(random_between(1, 255)) / 4096);
          if (w.zero == ZeroPoints_integers) w.zeros(p, g)[r] = static_cast<uint8_t>(random_between(-8, 7));
          else if (w.zero == ZeroPoints_offsets) put_float(w, w.zeros(p, g), r, static_cast<float>(random_between(-255, 255)) / 1024);
        }
      }
    }
    for (int64_t r = 0; r < w.n; r++) {
      for (int64_t i = 0; i < w.k; i++) numbers[r * w.k + i] = put(w, r / kPanel, i / kBlock, static_cast<int>(r % kPanel), static_cast<int>(i % kBlock));
    }
  }

  // Scales and offsets are bfloat16 or float32 here.
  static void put_float(const PackedWeight& w, uint8_t* at, int r, float x) {
    if (w.scale == ScaleFormat_float32) reinterpret_cast<float*>(at)[r] = x;
    else reinterpret_cast<uint16_t*>(at)[r] = nearest_bfloat16(x);
  }
  static double float_at(const PackedWeight& w, const uint8_t* at, int r) {
    return w.scale == ScaleFormat_float32 ? reinterpret_cast<const float*>(at)[r] : number_of_bits(reinterpret_cast<const uint16_t*>(at)[r]);
  }

  static double number(const PackedWeight& w, int64_t panel, int64_t group, int r, int32_t q) {
    const double scale = float_at(w, w.scales(panel, group), r);
    if (w.zero == ZeroPoints_integers) return (q - static_cast<int8_t>(w.zeros(panel, group)[r])) * scale;
    return q * scale + (w.zero == ZeroPoints_offsets ? float_at(w, w.zeros(panel, group), r) : 0);
  }

  static double put(const PackedWeight& w, int64_t panel, int64_t b, int r, int i) {
    uint8_t* at = w.block(panel, b);
    if (w.format == WeightFormat_bfloat16) return number_of_bits(reinterpret_cast<uint16_t*>(at)[i * kPanel + r] = random_bfloat16());
    if (w.format == WeightFormat_int8) {
      const int32_t q = random_between(1, 20) == 1 ? -128 : random_between(-127, 127);
      at[int8_place(i, r)] = static_cast<uint8_t>(q);
      return number(w, panel, b / w.span(), r, q);
    }
    const int32_t q = random_between(-8, 7);
    uint8_t& byte = at[int4_place(i, r)];
    byte = static_cast<uint8_t>(int4_is_high(i) ? (byte & 15) | (q + 8) << 4 : (byte & 0xf0) | (q + 8));
    return number(w, panel, b / w.span(), r, q);
  }
};

// What rows become: bfloat16, or bytes by the largest magnitude of 32.
std::vector<double> rounded(const std::vector<float>& x, int64_t k, bool bytes) {
  std::vector<double> out(x.begin(), x.end());
  for (size_t row = 0; row < x.size(); row += k) {
    for (int64_t b = 0; b < k; b += kBlock) {
      float most = 0;
      const int64_t end = std::min(k, b + kBlock);
      for (int64_t i = b; i < end; i++) most = std::max(most, fabsf(x[row + i]));
      for (int64_t i = b; i < end; i++) {
        const float v = x[row + i];
        out[row + i] = !bytes ? number_of_bits(nearest_bfloat16(v)) : most == 0 ? 0 : nearbyintf(v * (127 / most)) * (most / 127.0);
      }
    }
  }
  return out;
}

// What rows become that are rounded by their own range, in bytes of -128 to 127.
std::vector<double> rounded_rows(const std::vector<float>& x, int64_t k, int32_t kind, float eps) {
  std::vector<double> out(x.begin(), x.end());
  const bool symmetric = kind == RowBytes_symmetric || kind == RowBytes_symmetric_bfloat16 || kind == RowBytes_symmetric_widened;
  const bool quotients = kind == RowBytes_affine_bfloat16 || kind == RowBytes_symmetric_bfloat16;
  const auto half = [](bool rounds, float v) { return rounds ? number_of_bits(nearest_bfloat16(v)) : v; };
  for (size_t row = 0; row < x.size(); row += k) {
    float low = 0, high = 0;
    for (int64_t i = 0; i < k; i++) low = fminf(low, x[row + i]), high = fmaxf(high, x[row + i]);
    const bool halves = quotients || kind == RowBytes_symmetric_widened;
    const float scale = fmaxf(half(halves, symmetric ? fmaxf(-low, high) / 127.5f : half(halves, high - low) / 255), eps);
    float zero = 0;
    if (kind == RowBytes_affine || kind == RowBytes_affine_bfloat16) zero = -128 - nearbyintf(half(quotients, low / scale));
    if (kind == RowBytes_tokens) zero = (low / scale - 128) + (high / scale + 127) > 0 ? -128 - low / scale : 127 - high / scale;
    zero = nearbyintf(fminf(fmaxf(zero, -128), 127));
    for (int64_t i = 0; i < k; i++) {
      volatile double product = x[row + i] * (1 / static_cast<double>(scale));
      const float quotient = half(quotients, x[row + i] * half(quotients, 1 / scale));
      const double q = kind == RowBytes_tokens ? nearbyint(product + zero) : nearbyintf(quotient) + zero;
      out[row + i] = (fmin(fmax(q, -128), 127) - zero) * scale;
    }
  }
  return out;
}

template <class Product>
void one(int i, int32_t format, const char* what, const Product& run) {
  const int sizes[] = {1, 2, 15, 16, 17, 33, 48, 65, 100};
  const int64_t m = random_between(1, 3) == 1 ? random_between(1, 15) : random_between(16, 70), n = sizes[random_between(0, 8)], k = sizes[random_between(3, 8)] + 20;
  const int64_t group = format == WeightFormat_bfloat16 || i % 2 == 0 ? 0 : 32 << i % 3;
  std::vector<float> x(m * k), bias(n), out(m * n, 1e9f);
  for (auto* v : {&x, &bias}) {
    for (auto& e : *v) e = static_cast<float>(random_between(-30000, 30000)) / 4096;
  }
  packed_linear_frame f = {};
  f.format = format;
  f.scale = i % 2 == 0 ? ScaleFormat_bfloat16 : ScaleFormat_float32;
  f.zero = format == WeightFormat_bfloat16 ? ZeroPoints_none : i / 2 % 3;
  f.m = static_cast<int32_t>(m);
  f.n = static_cast<int32_t>(n);
  f.k = static_cast<int32_t>(k);
  f.group = static_cast<int32_t>(group);
  const bool from_planes = format != WeightFormat_bfloat16 && i % 3 != 0;
  f.bytes = format == WeightFormat_bfloat16 || from_planes || i % 2 == 0 ? RowBytes_blocks : RowBytes_affine + i / 3 % 6;
  f.range = 255;
  f.eps = 1e-6;
  f.clamped = i % 4 == 1;
  f.lo = -2;
  f.hi = 3;
  const Weight weight(f);
  f.x = address(x);
  f.weight = address(weight.data);
  f.bias = i % 3 == 0 ? 0 : address(bias);
  f.out = address(out);
  const PackedWeight w(f, f.weight);
  auto* memory = static_cast<uint8_t*>(ptlite::ptlite_scratch(static_cast<size_t>((m + kMostTileRows) * (w.blocks() * (kBlock * 2 + 12) + 4) + 64)));
  const auto step = [&](const RowsTask& task) {
    if (!run(&task)) wrong++;
  };
  const auto multiply = [&](int64_t begin, int64_t end) { step({&f, memory, 0, m, begin, end, RowsStep::kMultiply}); };
  // rows as they lie, from planes of a number of each, or copied from pixels, which are the windows of a convolution with one tap
  std::vector<float> planes(m * k);
  for (int64_t r = 0; r < m; r++)
    for (int64_t c = 0; c < k; c++) planes[c * m + r] = x[r * k + c];
  if (from_planes) f.x = address(planes);
  if (from_planes && i % 3 == 2 && f.zero == ZeroPoints_none) {
    packed_linear_frame one = f;
    one.m = 1;
    const struct {
      int32_t in[3], kernel[3], stride[3], padding[3], dilation[3], out[3];
    } shape = {{1, 1, static_cast<int32_t>(m)}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, static_cast<int32_t>(m)}};
    const WindowPixels windows(shape);
    const RoundedPixels pixels{static_cast<uint8_t*>(ptlite::ptlite_scratch(static_cast<size_t>(m * w.blocks() * (kBlock * 2 + 12) + 64))), m, &windows};
    step({&one, pixels.memory, 0, m, 0, m, RowsStep::kRoundPlanes, nullptr, m});
    step({&f, memory, 0, m, 0, m / 2, RowsStep::kGather, &pixels});
    step({&f, memory, 0, m, m / 2, m, RowsStep::kGather, &pixels});
    free(pixels.memory);
  } else {
    const RowsStep rounding = from_planes ? RowsStep::kRoundPlanes : RowsStep::kRound;
    step({&f, memory, 0, m, 0, m / 2, rounding, nullptr, m});
    step({&f, memory, 0, m, m / 2, m, rounding, nullptr, m});
  }
  const int64_t middle = w.panels() / 4 * 2;
  multiply(0, middle);
  multiply(middle, w.panels());
  const std::vector<double> rows =
      f.bytes > RowBytes_blocks ? rounded_rows(x, k, f.bytes, 1e-6f) : rounded(x, k, format != WeightFormat_bfloat16);
  for (int64_t r = 0; r < m; r++) {
    for (int64_t c = 0; c < n; c++) {
      double sum = f.bias == 0 ? 0 : bias[c], magnitude = fabs(sum);
      for (int64_t p = 0; p < k; p++) {
        const double e = rows[r * k + p] * weight.numbers[c * k + p];
        sum += e;
        magnitude += f.zero == ZeroPoints_none ? fabs(e) : 16 * fabs(e) + 1;
      }
      if (f.clamped != 0) sum = fmin(fmax(sum, f.lo), f.hi);
      check(out[r * n + c], sum, static_cast<double>(k + 8) * 0x1p-23 * magnitude, what, r * n + c);
    }
  }
  free(memory);
}

}  // namespace

int main() {
  int cases = 0;
  for (int i = 0; i < 120; i++, cases++) one(i, WeightFormat_int8, "int8", stub_packed_bytes);
  for (int i = 0; i < 120; i++, cases++) one(i, WeightFormat_int4, "int4", stub_packed_bytes);
#if defined(PTLITE_BF16_AMX) || defined(PTLITE_BF16_DOT)
  for (int i = 0; i < 40; i++, cases++) one(i, WeightFormat_bfloat16, "bfloat16", stub_packed_pairs);
#endif
  printf("%d cases, %d wrong elements\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
