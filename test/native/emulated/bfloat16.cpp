// The bfloat16 product and convolution of one level, emulated, against sums in double: each element within the bound of
// the sums in float32 plus half a unit of bfloat16.
#include "instructions.h"
#include "harness.h"

#include "dispatch/processor.h"
#include "dispatch/run_frame.h"
namespace ptlite {
bool has_fast_pairs() { return true; }
int32_t ptlite_run_frame_at(void*, uint32_t) { return PTLITE_NO_KERNEL; }
}  // namespace ptlite

#include "ops/gemm/bfloat16_gemm.cpp"
#define conv conv_of_level
#define by_pairs conv_by_pairs
#include "ops/convolution/bfloat16_conv.cpp"
#undef by_pairs
#undef conv

namespace {

int wrong = 0;

uint16_t random_bfloat16() { return emulated::to_bfloat16(static_cast<float>(random_between(-1000, 1000)) / 256); }
double value(uint16_t x) { return emulated::from_bfloat16(x); }

void check(uint16_t got, double sum, double magnitude, int64_t k, const char* what, int64_t at) {
  const double bound = static_cast<double>(k + 2) * 0x1p-23 * magnitude + fabs(sum) * 0x1p-8;
  if (fabs(value(got) - sum) <= bound) return;
  if (wrong++ < 5) printf("%s at %ld: %g, expected %g\n", what, at, value(got), sum);
}

void one_gemm(int i) {
  const int sizes[] = {1, 2, 5, 12, 13, 16, 17, 31, 32, 33, 47, 64, 65, 130};
  const auto size = [&] { return sizes[random_between(0, 13)]; };
  const int64_t m = size(), n = size(), k = size();
  std::vector<uint16_t> a(m * k), b(k * n), s(n), c(m * n);
  for (auto* v : {&a, &b, &s}) {
    for (auto& x : *v) x = random_bfloat16();
  }
  const bool a_turned = i % 2 == 1, b_turned = i % 3 == 1, adds = i % 4 != 0;
  bfloat16_gemm_frame f = {};
  f.m = m;
  f.n = n;
  f.k = k;
  f.batch = 1;
  f.a = address(a);
  f.b = address(b);
  f.c = address(c);
  f.source = adds ? address(s) : 0;
  f.a_row = a_turned ? 1 : k;
  f.a_col = a_turned ? m : 1;
  f.b_row = b_turned ? 1 : n;
  f.b_col = b_turned ? k : 1;
  f.c_row = n;
  f.source_col = 1;
  f.alpha = 1;
  f.beta = 2;
  kernel_bfloat16_gemm(&f);
  for (int64_t r = 0; r < m; r++) {
    for (int64_t q = 0; q < n; q++) {
      double sum = adds ? 2 * value(s[q]) : 0, magnitude = fabs(sum);
      for (int64_t p = 0; p < k; p++) {
        const double x = value(a[r * f.a_row + p * f.a_col]) * value(b[p * f.b_row + q * f.b_col]);
        sum += x;
        magnitude += fabs(x);
      }
      check(c[r * n + q], sum, magnitude, k, "product", r * n + q);
    }
  }
}

void one_conv(int i) {
  const int64_t groups = 1 + i % 2, ic = 3 * groups, oc = 5 * groups, h = 9, w = 11, kh = 3, kw = 2, stride = 1 + i % 3, pad = i % 4, dil = 1 + i % 2;
  const int64_t oh = (h + 2 * pad - dil * (kh - 1) - 1) / stride + 1, ow = (w + 2 * pad - dil * (kw - 1) - 1) / stride + 1;
  std::vector<uint16_t> x(2 * ic * h * w), k(oc * 3 * kh * kw), b(oc), y(2 * oc * oh * ow);
  for (auto* v : {&x, &k, &b}) {
    for (auto& e : *v) e = random_bfloat16();
  }
  bfloat16_conv_frame f = {};
  f.batch = 2;
  f.groups = groups;
  f.in_channels = ic;
  f.out_channels = oc;
  const int64_t in[] = {1, h, w}, kernel[] = {1, kh, kw}, strides[] = {1, stride, stride}, pads[] = {0, pad, pad}, dils[] = {1, dil, dil}, out[] = {1, oh, ow};
  memcpy(f.in, in, sizeof(in));
  memcpy(f.kernel, kernel, sizeof(in));
  memcpy(f.stride, strides, sizeof(in));
  memcpy(f.padding, pads, sizeof(in));
  memcpy(f.dilation, dils, sizeof(in));
  memcpy(f.out, out, sizeof(in));
  f.input = address(x);
  f.weight = address(k);
  f.bias = address(b);
  f.output = address(y);
  kernel_bfloat16_conv(&f);
  for (int64_t at = 0; at < 2 * oc * oh * ow; at++) {
    const int64_t q = at % ow, p = at / ow % oh, o = at / (ow * oh) % oc, image = at / (ow * oh * oc), group = o / 5;
    double sum = value(b[o]), magnitude = fabs(sum);
    for (int64_t c = 0; c < 3; c++) {
      for (int64_t u = 0; u < kh; u++) {
        for (int64_t v = 0; v < kw; v++) {
          const int64_t r = p * stride - pad + u * dil, s = q * stride - pad + v * dil;
          if (r < 0 || r >= h || s < 0 || s >= w) continue;
          const double e = value(x[((image * ic + group * 3 + c) * h + r) * w + s]) * value(k[((o * 3 + c) * kh + u) * kw + v]);
          sum += e;
          magnitude += fabs(e);
        }
      }
    }
    check(y[at], sum, magnitude, 3 * kh * kw, "convolution", at);
  }
}

}  // namespace

int main() {
  const int cases = 60;
  for (int i = 0; i < cases; i++) one_gemm(i);
  for (int i = 0; i < 12; i++) one_conv(i);
  printf("%d cases, %d wrong elements\n", cases + 12, wrong);
  return wrong == 0 ? 0 : 1;
}
