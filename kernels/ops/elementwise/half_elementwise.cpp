// isa: AVX512_FP16, FP16
// Elementwise float16 in float16 instructions, 32 elements at a time and without conversions. Only operators whose result
// is the same as that of float32 rounded to float16: float32 has more than twice the digits of float16, so for + - * /
// and the square root one rounding after the other gives what a single one does. Everything else goes to the level below.
#include "primitives/float16_vector.h"

#if defined(PTLITE_FLOAT16_VECTORS)

#include "frames/elementwise.h"
#include "dispatch/levels.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

using ptlite::float16;

constexpr int32_t kFloat16 = 5;
using namespace ptlite::half;

// Elements that make a range worth handing to another thread.
constexpr int64_t kGrain = 1 << 15;

// A run of `n`; a step of 0 repeats the operand's first element.
template <class F>
void run(F f, float16* out, const float16* a, int64_t a_step, const float16* b, int64_t b_step, int64_t n) {
  const Reg a0 = broadcast(*a), b0 = broadcast(*b);
  for (int64_t i = 0; i < n; i += kLanes) {
    const Mask mask = first(n - i);
    store(out + i, mask, f(a_step == 0 ? a0 : load(a + i, mask), b_step == 0 ? b0 : load(b + i, mask)));
  }
}

template <class F>
void run(F f, float16* out, const float16* in, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const Mask mask = first(n - i);
    store(out + i, mask, f(load(in + i, mask)));
  }
}

// Calls body(f) with the operator's function; false where it has none here.
template <class Body>
bool with_binary(int32_t op, Body body) {
  switch (op) {
    case BinaryOp_add: return body([](Reg a, Reg b) { return add(a, b); });
    case BinaryOp_sub: return body([](Reg a, Reg b) { return subtract(a, b); });
    case BinaryOp_mul: return body([](Reg a, Reg b) { return multiply(a, b); });
    case BinaryOp_div: return body([](Reg a, Reg b) { return divide(a, b); });
    case BinaryOp_minimum: return body([](Reg a, Reg b) { return minimum(a, b); });
    case BinaryOp_maximum: return body([](Reg a, Reg b) { return maximum(a, b); });
    default: return false;
  }
}

template <class Body>
bool with_unary(int32_t op, Body body) {
  switch (op) {
    case UnaryOp_neg: return body([](Reg a) { return negative(a); });
    case UnaryOp_abs: return body([](Reg a) { return absolute(a); });
    case UnaryOp_square: return body([](Reg a) { return multiply(a, a); });
    case UnaryOp_sqrt: return body([](Reg a) { return root(a); });
    case UnaryOp_reciprocal: return body([](Reg a) { return divide(broadcast({0x3c00}), a); });
    case UnaryOp_floor: return body([](Reg a) { return down(a); });
    case UnaryOp_ceil: return body([](Reg a) { return up(a); });
    case UnaryOp_trunc: return body([](Reg a) { return to_zero(a); });
    case UnaryOp_round: return body([](Reg a) { return to_even(a); });
    default: return false;
  }
}

// An operand of a binary operator: its address and its steps along both dimensions of the walk.
struct Operand {
  const float16* data;
  int64_t step[2];
};

// False where the operand is no float16 in runs of step 1 or 0. A scalar must be a float16; it is put in `place`.
bool operand_of(const binary_frame* f, uint64_t address, int32_t dtype, const int64_t* strides, float16* place, Operand* out) {
  if (address == 0) {
    const auto x = static_cast<float>(f->scalar);
    *place = ptlite::to_float16(x);
    *out = {place, {0, 0}};
    return static_cast<double>(x) == f->scalar && ptlite::to_float(*place) == x;
  }
  *out = {reinterpret_cast<const float16*>(address), {f->ndim > 0 ? strides[0] : 1, f->ndim > 1 ? strides[1] : 0}};
  return dtype == kFloat16 && (out->step[0] == 0 || out->step[0] == 1);
}

bool half_binary(const binary_frame* f) {
  const bool scales = (f->op == BinaryOp_add || f->op == BinaryOp_sub) && f->alpha != 1.0;
  if (f->compute != Compute_f32 || f->out_dtype != kFloat16 || f->ndim > 2 || scales || f->n == 0) return false;
  if (f->ndim > 0 && f->out_strides[0] != 1) return false;
  float16 place[2];
  Operand a, b;
  if (!operand_of(f, f->a, f->a_dtype, f->a_strides, place, &a) || !operand_of(f, f->b, f->b_dtype, f->b_strides, place + 1, &b)) return false;
  const int64_t length = f->ndim > 0 ? f->sizes[0] : f->n, rows = f->ndim > 1 ? f->sizes[1] : 1;
  auto* out = reinterpret_cast<float16*>(f->out);
  return with_binary(f->op, [&](auto op) {
    if (rows == 1) {
      ptlite::parallel_for(length, kGrain, [&](int64_t begin, int64_t end) {
        run(op, out + begin, a.data + begin * a.step[0], a.step[0], b.data + begin * b.step[0], b.step[0], end - begin);
      });
      return true;
    }
    for (int64_t r = 0; r < rows; r++) {
      run(op, out + (f->ndim > 1 ? r * f->out_strides[1] : 0), a.data + r * a.step[1], a.step[0], b.data + r * b.step[1], b.step[0], length);
    }
    return true;
  });
}

bool half_unary(const unary_frame* f) {
  if (f->compute != Compute_f32 || f->ndim != 0 || f->out_dtype != kFloat16 || f->in_dtype != kFloat16) return false;
  return with_unary(f->op, [&](auto op) {
    ptlite::parallel_for(f->n, kGrain, [&](int64_t begin, int64_t end) {
      run(op, reinterpret_cast<float16*>(f->out) + begin, reinterpret_cast<const float16*>(f->in) + begin, end - begin);
    });
    return true;
  });
}

// What serves where this level does not.
int32_t below(const ptlite::Kernel* implementations, void* frame) {
  const uint32_t in_use = ptlite::levels_in_use();
  for (int32_t level = PTLITE_LEVEL - 1; level >= 0; level--) {
    if ((in_use >> level & 1) != 0 && implementations[level] != nullptr) return implementations[level](frame);
  }
  return PTLITE_NO_KERNEL;
}

}  // namespace

namespace ptlite {
extern Kernel implementations_of_binary[];
extern Kernel implementations_of_unary[];
}  // namespace ptlite

namespace {

int32_t binary(binary_frame* f) { return half_binary(f) ? PTLITE_OK : below(ptlite::implementations_of_binary, f); }
int32_t unary(unary_frame* f) { return half_unary(f) ? PTLITE_OK : below(ptlite::implementations_of_unary, f); }

}  // namespace

PTLITE_KERNEL(binary, binary)
PTLITE_KERNEL(unary, unary)

#endif
