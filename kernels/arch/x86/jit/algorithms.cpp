#include "jit/algorithms.h"

#include "jit/functions.h"
#include "support/gelu_pieces.h"
#include "vec/generated/coefficients.h"

namespace ptlite {
namespace jit {
namespace {

using Xbyak::Xmm;
using Scratch = Emitter::Scratch;
using Condition = Emitter::Condition;

template <const steps::Function& f>
void in_place(Emitter& e, const Xmm& x, const Parameters& p) {
  apply(e, f, x, x, p);
}

// x = max(x, 0) - s(|x|), where `rest` gives s. With AVX-512 s is a polynomial whose coefficients are looked up for the piece in which |x|
// lies; only vectors with an x below the last piece, where s is smaller than 1e-6, take the way through the exponential.
void gelu_by_pieces(Emitter& e, const Xmm& x, const GeluPieces& pieces, const steps::Function& rest) {
  const Scratch s(e);
  constexpr float kRounder = coefficients::ROUNDER;
  {
    const Scratch t(e);
    const Scratch k(e);
    const Scratch coefficient(e);
    const auto divide = [&](const auto& end, const auto& per_width, const auto& rounder, const auto& width) {
      // the lesser magnitude of two, without its sign; the bound where x is NaN
      constexpr uint8_t least_magnitude = 0b1010;
      e.g.vrangeps(t, x, end, least_magnitude);
      // the low bits of k are the number of the piece
      e.g.broadcast(k, kRounder);
      e.g.vfmadd231ps(k, t, per_width);
      e.g.vsubps(coefficient, k, rounder);
      e.g.vfnmadd231ps(t, coefficient, width);
    };
    const float numbers[] = {pieces.end(), 1 / pieces.width, kRounder, pieces.width};
    if (e.g.count() == 4) {
      const Scratch registers(e);
      One one[4];
      for (int i = 0; i < 4; i++) {
        one[i] = e.g.one(registers, i);
        e.g.base().broadcast(one[i].real, numbers[i]);
      }
      divide(one[0], one[1], one[2], one[3]);
    } else {
      divide(e.c(numbers[0]), e.c(numbers[1]), e.c(numbers[2]), e.c(numbers[3]));
    }
    e.look_up(s, k, pieces.coefficients[GeluPieces::kDegree]);
    for (int j = GeluPieces::kDegree - 1; j >= 0; j--) {
      e.look_up(coefficient, k, pieces.coefficients[j]);
      e.g.vfmadd213ps(s, t, coefficient);
    }
  }
  Xbyak::Label none;
  e.jump_if_none_below(x, -pieces.end(), none);
  {
    const Condition below(e, x, e.c(-pieces.end()), Emitter::less);
    const Scratch exact(e);
    apply(e, rest, exact, x, {});
    const Scratch nan(e);
    // at -infinity
    e.g.vsubps(nan, x, x);
    e.g.vaddps(exact, exact, nan);
    below.select(s, exact);
  }
  e.g.base().L(none);
  e.at_least(x, 0.f);
  e.g.vsubps(x, x, s);
}

void gelu_tanh(Emitter& e, const Xmm& x, const Parameters& p) {
  if (!e.g.wide()) return apply(e, steps::gelu_tanh_by_exp, x, x, p);
  gelu_by_pieces(e, x, kGeluTanhPieces, steps::gelu_tanh_rest);
}
void gelu_erf(Emitter& e, const Xmm& x, const Parameters& p) {
  if (!e.g.wide()) return apply(e, steps::gelu_erf_by_exp, x, x, p);
  gelu_by_pieces(e, x, kGeluErfPieces, steps::gelu_erf_rest);
}

void relu(Emitter& e, const Xmm& x, const Parameters& p) {
  if (p.alpha == 0) {
    e.at_least(x, 0.f);
    return;
  }
  const Scratch slope(e);
  e.g.vmulps(slope, x, e.c(p.alpha));
  // by the complement, so that NaN takes the product
  const Condition positive(e, x, e.c(0.f), Emitter::greater);
  positive.select(slope, x);
  e.copy(x, slope);
}

void linear(Emitter& e, const Xmm& x, const Parameters& p) {
  const Scratch factor(e);
  e.g.broadcast(factor, p.alpha);
  e.g.vfmadd213ps(x, factor, e.c(p.beta));
}

// saturate(round(x / scale + zero point)); NaN becomes the lowest value
void quantize(Emitter& e, const Xmm& x, const Parameters& p, float lowest, float highest) {
  e.g.vdivps(x, x, e.c(p.scale));
  e.g.vaddps(x, x, e.c(p.alpha));
  // with the bound as second operand, NaN becomes the bound
  e.g.vmaxps(x, x, e.c(lowest));
  e.g.vminps(x, x, e.c(highest));
  e.g.vcvtps2dq(x, x);
}
void quantize_u8(Emitter& e, const Xmm& x, const Parameters& p) { quantize(e, x, p, 0.f, 255.f); }
void quantize_s8(Emitter& e, const Xmm& x, const Parameters& p) { quantize(e, x, p, -128.f, 127.f); }

void dequantize(Emitter& e, const Xmm& x, const Parameters& p) {
  e.g.vcvtdq2ps(x, x);
  e.g.vsubps(x, x, e.c(p.alpha));
  e.g.vmulps(x, x, e.c(p.scale));
}

// alpha says whether the bytes that come out are signed; those that go in count from the byte's bits
void int8_lut(Emitter& e, const Xmm& x, const Parameters& p) {
  std::vector<uint32_t> words(256);
  for (int i = 0; i < 256; i++) words[i] = p.alpha != 0 ? static_cast<uint32_t>(static_cast<int8_t>(p.lut[i])) : p.lut[i];
  Xbyak::Label& table = e.g.base().table(words);
  const Scratch index(e);
  e.g.vandps(index, x, e.bits(0xff));
  using namespace Xbyak::util;
  // r10 is the generators' scratch register
  e.g.base().lea(r10, e.g.base().ptr[rip + table]);
  if (e.g.wide()) {
    e.g.base().kxnorw(k1, k1, k1);
    e.g.base().vpgatherdd(Xbyak::Zmm(x.getIdx()) | k1, e.g.base().ptr[r10 + Xbyak::Zmm(Xmm(index).getIdx()) * 4]);
  } else {
    const Scratch all(e);
    e.g.base().vpcmpeqd(all, all, all);
    e.g.base().vpgatherdd(Xbyak::Ymm(x.getIdx()), e.g.base().ptr[r10 + Xbyak::Ymm(Xmm(index).getIdx()) * 4], Xbyak::Ymm(Xmm(all).getIdx()));
  }
}

void clamp(Emitter& e, const Xmm& x, const Parameters& p) {
  if (p.alpha != -__builtin_inff()) e.at_least(x, p.alpha);
  if (p.beta != __builtin_inff()) e.at_most(x, p.beta);
}

void abs(Emitter& e, const Xmm& x, const Parameters&) { e.magnitude(x, x); }
void neg(Emitter& e, const Xmm& x, const Parameters&) { e.g.vxorps(x, x, e.bits(0x80000000)); }
void sqrt(Emitter& e, const Xmm& x, const Parameters&) { e.g.vsqrtps(x, x); }
void square(Emitter& e, const Xmm& x, const Parameters&) { e.g.vmulps(x, x, x); }

void reciprocal(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch one(e);
  e.g.broadcast(one, 1.f);
  e.g.vdivps(x, one, x);
}

void add(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vaddps(x, x, y); }
void sub(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vsubps(x, x, y); }
void mul(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vmulps(x, x, y); }
void div(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vdivps(x, x, y); }

// the instructions give y where either is NaN; where x is, x is right
void max(Emitter& e, const Xmm& x, const Xmm& y) {
  const Scratch result(e);
  e.g.vmaxps(result, x, y);
  const Condition nan(e, x, x, Emitter::is_nan);
  nan.select(result, x);
  e.copy(x, result);
}
void min(Emitter& e, const Xmm& x, const Xmm& y) {
  const Scratch result(e);
  e.g.vminps(result, x, y);
  const Condition nan(e, x, x, Emitter::is_nan);
  nan.select(result, x);
  e.copy(x, result);
}

void bits_not(Emitter& e, const Xmm& x, const Parameters&) { e.g.vxorps(x, x, e.bits(0xffffffff)); }

// to the nearest number of 8 bits of mantissa, ties to even: x + 0x7fff + the lowest bit kept, without the lower half; NaN becomes the quiet one
void round_bfloat16(Emitter& e, const Xmm& x, const Parameters&) {
  const Condition nan(e, x, x, Emitter::is_nan);
  const Scratch odd(e);
  e.g.vpsrld(odd, x, 16);
  e.g.vandps(odd, odd, e.bits(1));
  e.g.vpaddd(x, x, e.bits(0x7fff));
  e.g.vpaddd(x, x, odd);
  e.g.vandps(x, x, e.bits(0xffff0000));
  nan.select(x, e.bits(0x7fc00000));
}

// to the nearest number that float16 holds
void round_float16(Emitter& e, const Xmm& x, const Parameters&) {
  for (int u = 0; u < e.g.count(); u++) {
    const int i = e.g.at(x, u).getIdx();
    if (e.g.wide()) {
      e.g.base().vcvtps2ph(Xbyak::Ymm(i), Xbyak::Zmm(i), 0);
      e.g.base().vcvtph2ps(Xbyak::Zmm(i), Xbyak::Ymm(i));
    } else {
      e.g.base().vcvtps2ph(Xmm(i), Xbyak::Ymm(i), 0);
      e.g.base().vcvtph2ps(Xbyak::Ymm(i), Xmm(i));
    }
  }
}

// x = all ones where x <predicate> y, else all zeros
void compare(Emitter& e, const Xmm& x, const Xmm& y, uint8_t predicate) {
  const Condition holds(e, x, y, predicate);
  e.g.vxorps(x, x, x);
  holds.select(x, e.bits(0xffffffff));
}
void less(Emitter& e, const Xmm& x, const Xmm& y) { compare(e, x, y, Emitter::less); }
void less_equal(Emitter& e, const Xmm& x, const Xmm& y) { compare(e, x, y, Emitter::less_equal); }
void equal(Emitter& e, const Xmm& x, const Xmm& y) { compare(e, x, y, Emitter::equal); }
void not_equal(Emitter& e, const Xmm& x, const Xmm& y) { compare(e, x, y, Emitter::not_equal); }

void bits_and(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vandps(x, x, y); }
void bits_or(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vorps(x, x, y); }
void bits_and_not(Emitter& e, const Xmm& x, const Xmm& y) { e.g.vandnps(x, y, x); }

constexpr Lanes f32 = Lanes::f32, i32 = Lanes::i32;

#define PTLITE_UNARY(name, takes, gives) {JitAlgorithm_##name, #name, takes, gives, &name, nullptr}
#define PTLITE_FUNCTION(name, function) {JitAlgorithm_##name, #name, f32, f32, &in_place<steps::function>, nullptr}
// sums of doubles: compiled kernels only
#define PTLITE_COMPILED(name) {JitAlgorithm_##name, #name, f32, f32, nullptr, nullptr}
#define PTLITE_BINARY(name) {JitAlgorithm_##name, #name, f32, f32, nullptr, &name}
constexpr Algorithm kRows[] = {
    PTLITE_FUNCTION(exp, exp), PTLITE_FUNCTION(tanh, tanh), PTLITE_UNARY(gelu_tanh, f32, f32), PTLITE_UNARY(gelu_erf, f32, f32),
    PTLITE_UNARY(relu, f32, f32), PTLITE_UNARY(linear, f32, f32), PTLITE_UNARY(quantize_u8, f32, i32), PTLITE_UNARY(quantize_s8, f32, i32),
    PTLITE_UNARY(dequantize, i32, f32), PTLITE_UNARY(int8_lut, i32, i32), PTLITE_FUNCTION(sigmoid, logistic), PTLITE_FUNCTION(silu, silu),
    PTLITE_FUNCTION(hardswish, hardswish), PTLITE_FUNCTION(hardsigmoid, hardsigmoid), PTLITE_UNARY(clamp, f32, f32), PTLITE_FUNCTION(elu, elu),
    PTLITE_FUNCTION(softplus, softplus), PTLITE_FUNCTION(mish, mish), PTLITE_UNARY(abs, f32, f32), PTLITE_UNARY(neg, f32, f32),
    PTLITE_UNARY(sqrt, f32, f32), PTLITE_UNARY(reciprocal, f32, f32), PTLITE_FUNCTION(log, log), PTLITE_UNARY(square, f32, f32),
    PTLITE_FUNCTION(rsqrt, rsqrt), PTLITE_FUNCTION(erf, erf), PTLITE_COMPILED(sin), PTLITE_COMPILED(cos), PTLITE_UNARY(bits_not, f32, f32),
    PTLITE_UNARY(round_bfloat16, f32, f32), PTLITE_UNARY(round_float16, f32, f32), PTLITE_BINARY(add), PTLITE_BINARY(sub), PTLITE_BINARY(mul),
    PTLITE_BINARY(div), PTLITE_BINARY(max), PTLITE_BINARY(min), PTLITE_BINARY(less), PTLITE_BINARY(less_equal), PTLITE_BINARY(equal),
    PTLITE_BINARY(not_equal), PTLITE_BINARY(bits_and), PTLITE_BINARY(bits_or), PTLITE_BINARY(bits_and_not),
};
#undef PTLITE_UNARY
#undef PTLITE_FUNCTION
#undef PTLITE_COMPILED
#undef PTLITE_BINARY

constexpr bool rows_in_order() {
  for (int32_t i = 0; i < kAlgorithms; i++) {
    if (kRows[i].id != i) return false;
  }
  return true;
}
static_assert(sizeof kRows / sizeof kRows[0] == kAlgorithms && rows_in_order(), "a row per algorithm, in the order of JitAlgorithm");

}  // namespace

const Algorithm* algorithm(int32_t id) { return id >= 0 && id < kAlgorithms ? &kRows[id] : nullptr; }

}  // namespace jit
}  // namespace ptlite
