#include "jit/algorithms.h"

#include "support/gelu_pieces.h"
#include "vec/generated/coefficients.h"

namespace ptlite {
namespace jit {
namespace {

using Xbyak::Xmm;
using Scratch = Emitter::Scratch;
using Condition = Emitter::Condition;

void exp(Emitter& e, const Xmm& x, const Parameters&) { e.exp(x); }

void log(Emitter& e, const Xmm& x, const Parameters&) { e.log(x); }

void tanh(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch size(e);
  const Scratch large(e);
  // 1 - 2 / (e^(2|x|) + 1), with the sign of x
  e.magnitude(size, x);
  e.g.vaddps(large, size, size);
  e.exp(large);
  e.g.vaddps(large, large, e.c(1.f));
  {
    const Scratch two(e);
    e.g.broadcast(two, 2.f);
    e.g.vdivps(large, two, large);
    e.g.broadcast(two, 1.f);
    e.g.vsubps(large, two, large);
    e.g.vandps(two, x, e.bits(0x80000000));
    e.g.vorps(large, large, two);
  }
  {
    const Scratch square(e);
    const Scratch p(e);
    e.g.vmulps(square, x, x);
    e.polynomial(p, square, coefficients::TANH_NEAR);
    e.g.vmulps(p, p, square);
    e.g.vfmadd213ps(x, p, x);
  }
  Condition(e, size, e.c(coefficients::TANH_NEAR_END), Emitter::greater).select(x, large);
}

// The functions x F(x) and F(x) below come from s = F(-|x|) by F(x) = 1 - F(-x): nothing cancels, one exponential serves both signs,
// and the power of two is multiplied in last, so that denormal results keep their digits.

// x = max(x, 0) - s; NaN at -infinity, as infinity times 0
void positive_part_minus(Emitter& e, const Xmm& x, const Xmm& s) {
  const Scratch magnitude(e);
  const Scratch half(e);
  e.magnitude(magnitude, x);
  e.g.broadcast(half, 0.5f);
  e.g.vmulps(magnitude, magnitude, half);
  e.g.vfmadd213ps(x, half, magnitude);
  e.g.vsubps(x, x, s);
}

// w = factor e^-v / (1 + e^-v) for v = w + low >= 0; a null factor is 1
void logistic_of_minus(Emitter& e, const Xmm& w, const Xmm* low, const Xmm* factor) {
  const Scratch n(e);
  e.split_exp_minus(w, n, low);
  const Scratch sum(e);
  e.copy(sum, w);
  e.scale_keeping(sum, n);
  e.g.vaddps(sum, sum, e.c(1.f));
  if (factor != nullptr) e.g.vmulps(w, w, *factor);
  e.g.vdivps(w, w, sum);
  e.scale(w, n);
}

void sigmoid(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch s(e);
  e.magnitude(s, x);
  e.at_most(s, coefficients::VANISHED);
  logistic_of_minus(e, s, nullptr, nullptr);
  const Scratch rest(e);
  e.g.broadcast(rest, 1.f);
  e.g.vsubps(rest, rest, s);
  Condition(e, x, e.c(0.f), Emitter::less).select(rest, s);
  e.copy(x, rest);
}

// x / (1 + e^-x): 0 where e^-x is infinity, below -88.7
void silu(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch power(e);
  const Scratch n(e);
  e.copy(power, x);
  e.at_most(power, coefficients::VANISHED);
  e.at_least(power, -coefficients::VANISHED);
  e.split_exp_minus(power, n);
  e.scale(power, n);
  e.g.vaddps(power, power, e.c(1.f));
  e.g.vdivps(x, x, power);
}

// s = t / (1 + e^w), t = |x|, w = t (2 sqrt(2/pi) + 2 sqrt(2/pi) 0.044715 t^2) in two parts: e^w needs more digits of w than a float has.
void gelu_tanh_rest(Emitter& e, const Xmm& x, const Xmm& s) {
  constexpr double linear = coefficients::GELU_TANH_LINEAR, cubic = coefficients::GELU_TANH_CUBIC;
  constexpr float linear_high = static_cast<float>(linear), cubic_high = static_cast<float>(cubic);
  constexpr float linear_low = static_cast<float>(linear - linear_high), cubic_low = static_cast<float>(cubic - cubic_high);
  const Scratch size(e);
  {
    const Scratch low(e);
    e.magnitude(size, x);
    e.at_most(size, coefficients::GELU_TANH_END);
    {
      const Scratch square(e);
      const Scratch product(e);
      const Scratch rest(e);
      // square + rest = size^2
      e.g.vmulps(square, size, size);
      e.copy(rest, square);
      e.g.vfmsub231ps(rest, size, size);
      // product + rest = cubic size^2
      e.g.vmulps(rest, rest, e.c(cubic_high));
      e.g.vfmadd231ps(rest, square, e.c(cubic_low));
      e.g.vmulps(product, square, e.c(cubic_high));
      e.copy(low, product);
      e.g.vfmsub231ps(low, square, e.c(cubic_high));
      e.g.vaddps(rest, rest, low);
      // square = linear + product; what is lost of the sum goes to rest
      e.g.vaddps(square, product, e.c(linear_high));
      const Scratch lost(e);
      const Scratch part(e);
      e.g.vsubps(lost, square, product);
      e.g.vsubps(part, square, lost);
      e.g.vsubps(part, product, part);
      e.g.vaddps(rest, rest, part);
      e.g.broadcast(part, linear_high);
      e.g.vsubps(part, part, lost);
      e.g.vaddps(rest, rest, part);
      e.g.vaddps(rest, rest, e.c(linear_low));
      // s + low = size (square + rest)
      e.g.vmulps(s, size, square);
      e.copy(low, s);
      e.g.vfmsub231ps(low, size, square);
      e.g.vfmadd231ps(low, rest, size);
    }
    const Xmm lower = low, factor = size;
    logistic_of_minus(e, s, &lower, &factor);
  }
}

// s = t Phi(-t), t = |x|: e^(-t^2/2) q g(2 q - 1) with q = t / (t + 3.5): g is a polynomial with relative error 7e-9 up to 14.6.
void gelu_erf_rest(Emitter& e, const Xmm& x, const Xmm& s) {
  {
    const Scratch n(e);
    const Scratch q(e);
    const Scratch low(e);
    e.magnitude(q, x);
    e.at_most(q, coefficients::GELU_ERF_END);
    e.g.vaddps(n, q, e.c(coefficients::GELU_ERF_POLE));
    // s + low = t^2
    e.g.vmulps(s, q, q);
    e.copy(low, s);
    e.g.vfmsub231ps(low, q, q);
    e.g.vdivps(q, q, n);
    const Xmm lower = low;
    e.split_exp_minus(s, n, &lower, true);
    e.g.vmulps(s, s, q);
    const Scratch g(e);
    const Scratch y(e);
    e.g.broadcast(y, -1.f);
    e.g.vfmadd231ps(y, q, e.c(2.f));
    e.polynomial(g, y, coefficients::GELU_ERF);
    e.g.vmulps(s, s, g);
    e.scale(s, n);
  }
}

// x = max(x, 0) - s(|x|), where rest() gives s. With AVX-512 s is a polynomial whose coefficients are looked up for the piece in which |x|
// lies; only vectors with an x below the last piece, where s is smaller than 1e-6, take the way through the exponential.
void gelu_of(Emitter& e, const Xmm& x, const GeluPieces& pieces, void (*rest)(Emitter&, const Xmm&, const Xmm&)) {
  const Scratch s(e);
  if (!e.g.wide()) {
    rest(e, x, s);
    positive_part_minus(e, x, s);
    return;
  }
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
    rest(e, x, exact);
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

void gelu_tanh(Emitter& e, const Xmm& x, const Parameters&) { gelu_of(e, x, kGeluTanhPieces, &gelu_tanh_rest); }
void gelu_erf(Emitter& e, const Xmm& x, const Parameters&) { gelu_of(e, x, kGeluErfPieces, &gelu_erf_rest); }

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

// min(max(x + 3, 0), 6) / 6
void hardsigmoid(Emitter& e, const Xmm& x, const Parameters&) {
  e.g.vaddps(x, x, e.c(3.f));
  e.at_least(x, 0.f);
  e.at_most(x, 6.f);
  e.g.vdivps(x, x, e.c(6.f));
}

void hardswish(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch gate(e);
  e.g.vaddps(gate, x, e.c(3.f));
  e.at_least(gate, 0.f);
  e.at_most(gate, 6.f);
  e.g.vmulps(x, x, gate);
  e.g.vdivps(x, x, e.c(6.f));
}

void clamp(Emitter& e, const Xmm& x, const Parameters& p) {
  if (p.alpha != -__builtin_inff()) e.at_least(x, p.alpha);
  if (p.beta != __builtin_inff()) e.at_most(x, p.beta);
}

// x = e^x - 1 for x <= 0
void expm1_negative(Emitter& e, const Xmm& x) {
  const Scratch n(e);
  const Scratch one(e);
  const Scratch power(e);
  e.at_least(x, -30.f);
  e.split_exp(x, n);
  // p 2^n + (2^n - 1), without loss where n is 0
  e.g.broadcast(power, 1.f);
  {
    const Scratch spent(e);
    e.copy(spent, n);
    e.scale(power, spent);
  }
  e.g.broadcast(one, 1.f);
  e.g.vsubps(one, power, one);
  e.g.vfmadd213ps(x, power, one);
}

void elu(Emitter& e, const Xmm& x, const Parameters& p) {
  const Scratch low(e);
  e.copy(low, x);
  e.at_most(low, 0.f);
  expm1_negative(e, low);
  e.g.vmulps(low, low, e.c(p.alpha));
  const Condition positive(e, x, e.c(0.f), Emitter::greater);
  positive.select(low, x);
  e.copy(x, low);
}

// x = log(1 + x) for x >= 0
void log1p(Emitter& e, const Xmm& x) {
  const Scratch sum(e);
  const Scratch lost(e);
  e.g.vaddps(sum, x, e.c(1.f));
  e.g.vsubps(lost, sum, e.c(1.f));
  e.g.vsubps(lost, x, lost);
  e.g.vdivps(lost, lost, sum);
  const Condition tiny(e, sum, e.c(1.f), Emitter::equal);
  e.log(sum);
  e.g.vaddps(sum, sum, lost);
  tiny.select(sum, x);
  e.copy(x, sum);
}

// log(1 + e^(alpha x)) / alpha; x where alpha x > beta
void softplus(Emitter& e, const Xmm& x, const Parameters& p) {
  const Scratch y(e);
  e.g.vmulps(y, x, e.c(p.alpha));
  const Condition linear_part(e, y, e.c(p.beta), Emitter::greater);
  e.exp(y);
  log1p(e, y);
  e.g.vdivps(y, y, e.c(p.alpha));
  linear_part.select(y, x);
  e.copy(x, y);
}

// x tanh(log(1 + e^x)) = x p / (p + 2) with p = e^x (e^x + 2); the power of two in the leading e^x comes last, for denormal results
void mish(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch n(e);
  const Scratch mantissa(e);
  const Scratch power(e);
  e.copy(mantissa, x);
  e.at_most(mantissa, coefficients::MISH_END);
  e.split_exp(mantissa, n);
  e.g.vaddps(mantissa, mantissa, e.c(1.f));
  e.copy(power, mantissa);
  {
    const Scratch spent(e);
    e.copy(spent, n);
    e.scale(power, spent);
  }
  const Scratch sum(e);
  e.g.vaddps(sum, power, e.c(2.f));
  e.g.vmulps(mantissa, mantissa, sum);
  e.g.vmulps(power, power, sum);
  e.g.vaddps(power, power, e.c(2.f));
  e.g.vdivps(mantissa, mantissa, power);
  // an infinite x times 0 is NaN
  e.g.vsubps(sum, x, x);
  e.copy(power, x);
  e.at_least(power, coefficients::MISH_LOW);
  e.g.vmulps(mantissa, mantissa, power);
  e.scale(mantissa, n);
  const Condition below(e, x, e.c(0.f), Emitter::less);
  e.g.vsubps(sum, mantissa, sum);
  below.select(mantissa, sum);
  e.copy(x, mantissa);
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

void rsqrt(Emitter& e, const Xmm& x, const Parameters& p) {
  e.g.vsqrtps(x, x);
  reciprocal(e, x, p);
}

void erf(Emitter& e, const Xmm& x, const Parameters&) {
  const Scratch size(e);
  const Scratch large(e);
  e.magnitude(size, x);
  {
    const Scratch bounded(e);
    const Scratch p(e);
    e.copy(bounded, size);
    e.at_most(bounded, coefficients::ERF_END);
    e.polynomial(p, bounded, coefficients::ERF_FAR);
    e.g.vfmsub213ps(p, bounded, bounded);
    e.exp(p);
    e.g.broadcast(bounded, 1.f);
    e.g.vsubps(large, bounded, p);
    e.g.vandps(bounded, x, e.bits(0x80000000));
    e.g.vorps(large, large, bounded);
  }
  const Condition is_near(e, size, e.c(1.f), Emitter::less);
  {
    const Scratch square(e);
    const Scratch p(e);
    e.g.vmulps(square, x, x);
    e.polynomial(p, square, coefficients::ERF_NEAR);
    e.g.vfmadd213ps(p, x, x);
    is_near.select(large, p);
  }
  Condition(e, x, x, Emitter::is_nan).select(large, x);
  e.copy(x, large);
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

#define PTLITE_UNARY(name, takes, gives, scratch) {JitAlgorithm_##name, #name, takes, gives, scratch, &name, nullptr}
// sums of doubles: compiled kernels only
#define PTLITE_COMPILED(name) {JitAlgorithm_##name, #name, f32, f32, 0, nullptr, nullptr}
#define PTLITE_BINARY(name, scratch) {JitAlgorithm_##name, #name, f32, f32, scratch, nullptr, &name}
constexpr Algorithm kRows[] = {
    PTLITE_UNARY(exp, f32, f32, 4),         PTLITE_UNARY(tanh, f32, f32, 6),        PTLITE_UNARY(gelu_tanh, f32, f32, 9),
    PTLITE_UNARY(gelu_erf, f32, f32, 8),    PTLITE_UNARY(relu, f32, f32, 2),        PTLITE_UNARY(linear, f32, f32, 1),
    PTLITE_UNARY(quantize_u8, f32, i32, 0), PTLITE_UNARY(quantize_s8, f32, i32, 0), PTLITE_UNARY(dequantize, i32, f32, 0),
    PTLITE_UNARY(int8_lut, i32, i32, 2),    PTLITE_UNARY(sigmoid, f32, f32, 6),     PTLITE_UNARY(silu, f32, f32, 3),
    PTLITE_UNARY(hardswish, f32, f32, 2),   PTLITE_UNARY(hardsigmoid, f32, f32, 1), PTLITE_UNARY(clamp, f32, f32, 1),
    PTLITE_UNARY(elu, f32, f32, 6),         PTLITE_UNARY(softplus, f32, f32, 11),   PTLITE_UNARY(mish, f32, f32, 6),
    PTLITE_UNARY(abs, f32, f32, 0),         PTLITE_UNARY(neg, f32, f32, 0),         PTLITE_UNARY(sqrt, f32, f32, 0),
    PTLITE_UNARY(reciprocal, f32, f32, 1),  PTLITE_UNARY(log, f32, f32, 6),         PTLITE_UNARY(square, f32, f32, 0),
    PTLITE_UNARY(rsqrt, f32, f32, 1),       PTLITE_UNARY(erf, f32, f32, 8),         PTLITE_COMPILED(sin),
    PTLITE_COMPILED(cos),                   PTLITE_UNARY(bits_not, f32, f32, 0),    PTLITE_UNARY(round_bfloat16, f32, f32, 2),
    PTLITE_UNARY(round_float16, f32, f32, 0),
    PTLITE_BINARY(add, 0),                  PTLITE_BINARY(sub, 0),                  PTLITE_BINARY(mul, 0),
    PTLITE_BINARY(div, 0),                  PTLITE_BINARY(max, 2),                  PTLITE_BINARY(min, 2),
    PTLITE_BINARY(less, 1),                 PTLITE_BINARY(less_equal, 1),           PTLITE_BINARY(equal, 1),
    PTLITE_BINARY(not_equal, 1),            PTLITE_BINARY(bits_and, 0),             PTLITE_BINARY(bits_or, 0),
    PTLITE_BINARY(bits_and_not, 0),
};
#undef PTLITE_UNARY
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
