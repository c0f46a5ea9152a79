// The float16 operators, emulated, against float32 rounded to float16: every bit the same, NaN as NaN.
#define PTLITE_LEVEL 7
#include "instructions.h"
#include "harness.h"

#include "ops/elementwise/half_elementwise.cpp"

// What the kernels of the level below would do: here it is a failure, so that every case runs in float16.
namespace ptlite {
Kernel implementations_of_binary[8];
Kernel implementations_of_unary[8];
uint32_t levels_in_use() { return 1; }
}  // namespace ptlite

namespace {

int wrong = 0;
int cases = 0;

float value(uint16_t x) { return ptlite::to_float(float16{x}); }
bool is_nan(uint16_t x) { return (x & 0x7fff) > 0x7c00; }

void check(uint16_t got, float want, const char* what, uint16_t a, uint16_t b) {
  const uint16_t expected = ptlite::to_float16(want).bits;
  if (got == expected || (is_nan(got) && is_nan(expected))) return;
  if (wrong++ < 5) printf("%s of %04x and %04x: %04x, expected %04x\n", what, a, b, got, expected);
}

float apply(int32_t op, float a, float b) {
  switch (op) {
    case BinaryOp_add: return a + b;
    case BinaryOp_sub: return a - b;
    case BinaryOp_mul: return a * b;
    case BinaryOp_div: return a / b;
    case BinaryOp_minimum: return a != a ? a : b != b ? b : a < b ? a : b;
    default: return a != a ? a : b != b ? b : a > b ? a : b;
  }
}

float apply(int32_t op, float a) {
  switch (op) {
    case UnaryOp_neg: return -a;
    case UnaryOp_abs: return fabsf(a);
    case UnaryOp_square: return a * a;
    case UnaryOp_sqrt: return sqrtf(a);
    case UnaryOp_reciprocal: return 1 / a;
    case UnaryOp_floor: return floorf(a);
    case UnaryOp_ceil: return ceilf(a);
    case UnaryOp_trunc: return truncf(a);
    default: return rintf(a);
  }
}

void run_status(int32_t status) {
  if (status != PTLITE_OK && wrong++ < 5) printf("status %d\n", status);
}

// n elements of a by n of b, by one, or by a scalar.
void binary_case(int32_t op, const std::vector<uint16_t>& a, const std::vector<uint16_t>& b, int64_t n, int form) {
  std::vector<uint16_t> out(n + 1, 0x1234);
  binary_frame f = {};
  f.op = static_cast<BinaryOp>(op);
  f.compute = Compute_f32;
  f.out_dtype = f.a_dtype = f.b_dtype = 5;
  f.n = n;
  f.alpha = 1;
  f.out = address(out);
  f.a = address(a);
  f.b = form == 2 ? 0 : address(b);
  if (form == 2) f.scalar = value(b[0]);
  if (form == 1) {
    f.ndim = 1;
    f.sizes[0] = n;
    f.out_strides[0] = f.a_strides[0] = 1;
    f.b_strides[0] = 0;
  }
  run_status(kernel_binary(&f));
  for (int64_t i = 0; i < n; i++) {
    const uint16_t second = b[form == 0 ? i : 0];
    check(out[i], apply(op, value(a[i]), value(second)), "operator", a[i], second);
  }
  if (out[n] != 0x1234 && wrong++ < 5) printf("wrote past the end\n");
  cases++;
}

}  // namespace

int main() {
  const int32_t binary_ops[] = {BinaryOp_add, BinaryOp_sub, BinaryOp_mul, BinaryOp_div, BinaryOp_minimum, BinaryOp_maximum};
  const int32_t unary_ops[] = {UnaryOp_neg, UnaryOp_abs, UnaryOp_square, UnaryOp_sqrt, UnaryOp_reciprocal, UnaryOp_floor, UnaryOp_ceil, UnaryOp_trunc, UnaryOp_round};
  std::vector<uint16_t> a(1 << 16), b(1 << 16), all(1 << 16), out(1 << 16);
  for (size_t i = 0; i < a.size(); i++) {
    all[i] = static_cast<uint16_t>(i);
    a[i] = static_cast<uint16_t>(next_random());
    b[i] = static_cast<uint16_t>(next_random());
  }
  b[0] = 0x3555;
  for (const int32_t op : binary_ops) {
    binary_case(op, a, b, 1 << 16, 0);
    // every value by itself and by its neighbours, where results are small and roundings close
    std::vector<uint16_t> near(all);
    for (size_t i = 0; i < near.size(); i++) near[i] = static_cast<uint16_t>(i ^ (next_random() & 0x8003));
    binary_case(op, all, near, 1 << 16, 0);
    for (const int64_t n : {1, 31, 32, 33, 100}) {
      for (int form = 0; form < 3; form++) binary_case(op, a, b, n, form);
    }
  }
  for (const int32_t op : unary_ops) {
    unary_frame f = {};
    f.op = static_cast<UnaryOp>(op);
    f.compute = Compute_f32;
    f.out_dtype = f.in_dtype = 5;
    f.n = 1 << 16;
    f.out = address(out);
    f.in = address(all);
    run_status(kernel_unary(&f));
    for (size_t i = 0; i < all.size(); i++) check(out[i], apply(op, value(all[i])), "function", all[i], 0);
    cases++;
  }
  printf("%d cases, %d wrong elements\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
