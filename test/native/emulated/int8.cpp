// The 8-bit product of one level, emulated, against the definition, with float32 and with 8-bit results.
#include "instructions.h"
#include "harness.h"

#include "ops/quantized/quantized_gemm.cpp"

int main() {
  const int sizes[] = {1, 2, 5, 12, 13, 16, 17, 31, 32, 33, 47, 64, 65, 130};
  const auto size = [&] { return sizes[random_between(0, 13)]; };
  int wrong = 0;
  const int cases = 60;
  for (int i = 0; i < cases; i++) {
    const int64_t m = size(), n = size(), k = size() + i % 3;
    const bool signed_a = i % 2 == 1, signed_w = i % 3 != 1;
    const int extreme = i % 5;  // 0: the largest values everywhere
    std::vector<uint8_t> a(m * k), w(n * k), packed;
    std::vector<int32_t> zeros(n);
    for (auto& x : a) x = static_cast<uint8_t>(extreme == 0 ? (signed_a ? 127 : 255) : random_between(0, 255));
    for (auto& x : w) x = static_cast<uint8_t>(extreme == 0 ? (signed_w ? -128 : 0) : random_between(0, 255));
    for (auto& x : zeros) x = i % 4 == 0 ? 0 : signed_w ? random_between(-128, 127) : random_between(0, 255);
    const int32_t a_zero = signed_a ? random_between(-128, 127) : random_between(0, 255);
    quantized_gemm_pack_size_frame size_frame = {};
    size_frame.n = n;
    size_frame.k = k;
    kernel_quantized_gemm_pack_size(&size_frame);
    packed.resize(static_cast<size_t>(size_frame.bytes) + 64);
    const uint64_t aligned = (address(packed) + 63) / 64 * 64;
    quantized_gemm_pack_frame pack_frame = {};
    pack_frame.n = n;
    pack_frame.k = k;
    pack_frame.dtype = signed_w ? 12 : 13;
    pack_frame.w = address(w);
    pack_frame.zero_points = address(zeros);
    pack_frame.out = aligned;
    kernel_quantized_gemm_pack(&pack_frame);
    std::vector<float> scales(n, 1), bias(n, 0), out(m * n, -1);
    quantized_gemm_frame f = {};
    f.m = m;
    f.n = n;
    f.k = k;
    f.a = address(a);
    f.a_dtype = signed_a ? 12 : 13;
    f.a_zero = a_zero;
    f.a_stride = k;
    f.w = aligned;
    f.scales = address(scales);
    f.bias = address(bias);
    f.out = address(out);
    f.out_dtype = 6;
    f.out_stride = n;
    kernel_quantized_gemm(&f);
    // rows of 8-bit results are longer than n, so that writing past their end would show
    const float scale = i % 9 == 8 ? 3e5f : 1.0f / static_cast<float>(1 + random_between(0, 300) * k);
    std::vector<int32_t> int_bias(n);
    for (auto& x : int_bias) x = random_between(-1000, 1000);
    std::vector<float> factors(n, scale);
    std::vector<uint8_t> bytes(m * (n + 1), 99);
    f.out_dtype = f.a_dtype;
    f.out_zero = signed_a ? -7 : 120;
    f.min = signed_a ? -128 : i % 7 == 0 ? 120 : 0;
    f.max = signed_a ? 127 : 255;
    f.scales = address(factors);
    f.bias = address(int_bias);
    f.out = address(bytes);
    f.out_stride = n + 1;
    kernel_quantized_gemm(&f);
    for (int64_t r = 0; r < m; r++) {
      wrong += bytes[r * (n + 1) + n] != 99;
      for (int64_t c = 0; c < n; c++) {
        int32_t sum = 0;
        for (int64_t p = 0; p < k; p++) {
          const int32_t x = signed_a ? static_cast<int8_t>(a[r * k + p]) : a[r * k + p];
          const int32_t y = signed_w ? static_cast<int8_t>(w[c * k + p]) : w[c * k + p];
          sum += (x - a_zero) * (y - zeros[c]);
        }
        if (out[r * n + c] != static_cast<float>(sum) && wrong++ < 5) {
          printf("%ld x %ld x %ld at %ld, %ld: %g, expected %d\n", m, n, k, r, c, out[r * n + c], sum);
        }
        const float rounded = rintf(static_cast<float>(sum + int_bias[c]) * scale) + static_cast<float>(f.out_zero);
        const float low = static_cast<float>(f.min), high = static_cast<float>(f.max);
        const auto want = static_cast<uint8_t>(static_cast<int32_t>(rounded < low ? low : rounded > high ? high : rounded));
        const uint8_t got = bytes[r * (n + 1) + c];
        if (got != want && wrong++ < 5) printf("%ld x %ld x %ld at %ld, %ld: %d, expected %d\n", m, n, k, r, c, got, want);
      }
    }
  }
  printf("%d cases, %d wrong elements\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
