// Conversion between float32 and quantized integers, and element-wise arithmetic on 8-bit integers.
#include <limits.h>
#include <math.h>

#include "frames/quantized.h"
#include "isa/kernel.h"
#include "vec/vec.h"

namespace {

constexpr int32_t kQInt8 = 12;
constexpr int32_t kQUInt8 = 13;

template <class T>
void quantize_to(const float* in, T* out, int64_t n, float inv_scale, int32_t zero_point) {
  // beyond 2^23 a float is integral, so clamping before the conversion loses nothing
  constexpr double low = sizeof(T) == 1 ? (T(-1) < T(0) ? -128.0 : 0.0) : -2147483648.0;
  constexpr double high = sizeof(T) == 1 ? (T(-1) < T(0) ? 127.0 : 255.0) : 2147483647.0;
  for (int64_t i = 0; i < n; i++) {
    const float whole = __builtin_rintf(in[i] * inv_scale);
    // what no 64-bit integer holds, NaN too, becomes the lowest value, as on x86
    double q = whole < 0x1p63f ? static_cast<double>(whole) + zero_point : low;
    q = q > low ? q : low;
    q = q < high ? q : high;
    out[i] = static_cast<T>(static_cast<int32_t>(q));
  }
}

int32_t quantize(quantize_frame* f) {
  const auto* in = reinterpret_cast<const float*>(f->in);
  if (f->dtype == kQUInt8) quantize_to(in, reinterpret_cast<uint8_t*>(f->out), f->n, f->inv_scale, f->zero_point);
  else if (f->dtype == kQInt8) quantize_to(in, reinterpret_cast<int8_t*>(f->out), f->n, f->inv_scale, f->zero_point);
  else quantize_to(in, reinterpret_cast<int32_t*>(f->out), f->n, f->inv_scale, f->zero_point);
  return 0;
}

template <class T>
void dequantize_from(const T* in, float* out, int64_t n, float scale, float zero_point) {
  for (int64_t i = 0; i < n; i++) out[i] = (static_cast<float>(in[i]) - zero_point) * scale;
}

int32_t dequantize(dequantize_frame* f) {
  auto* out = reinterpret_cast<float*>(f->out);
  if (f->dtype == kQUInt8) dequantize_from(reinterpret_cast<const uint8_t*>(f->in), out, f->n, f->scale, f->zero_point);
  else if (f->dtype == kQInt8) dequantize_from(reinterpret_cast<const int8_t*>(f->in), out, f->n, f->scale, f->zero_point);
  else dequantize_from(reinterpret_cast<const int32_t*>(f->in), out, f->n, f->scale, f->zero_point);
  return 0;
}

int32_t dequantize_nibbles(dequantize_nibbles_frame* f) {
  const auto* in = reinterpret_cast<const uint8_t*>(f->in);
  auto* out = reinterpret_cast<float*>(f->out);
  for (int64_t i = 0; i < f->n; i++) {
    const int32_t q = i % 2 == 0 ? in[i / 2] & 15 : in[i / 2] >> 4;
    out[i] = (static_cast<float>(q) - f->zero_point) * f->scale;
  }
  return 0;
}

int32_t float_range(float_range_frame* f) {
  const auto* in = reinterpret_cast<const float*>(f->in);
  float min = in[0], max = in[0];
  for (int64_t i = 0; i < f->n; i++) {
    min = in[i] < min ? in[i] : min;
    max = in[i] > max ? in[i] : max;
  }
  f->min = min;
  f->max = max;
  return 0;
}

int32_t quantized_lookup(quantized_lookup_frame* f) {
  const auto* table = reinterpret_cast<const uint8_t*>(f->header.host);
  const auto* in = reinterpret_cast<const uint8_t*>(f->in);
  auto* out = reinterpret_cast<uint8_t*>(f->out);
  const int64_t n = f->n;
  for (int64_t i = 0; i < n; i++) out[i] = table[in[i]];
  return 0;
}

template <class T>
void add(const quantized_binary_frame* f) {
  const auto* a = reinterpret_cast<const T*>(f->a);
  const auto* b = reinterpret_cast<const T*>(f->b);
  auto* out = reinterpret_cast<T*>(f->out);
  const int32_t za = f->a_zero, zb = f->b_zero, zo = f->out_zero, ma = f->a_multiplier, mb = f->b_multiplier, shift = f->shift;
  const int32_t low = f->min, high = f->max;
  const int32_t half = shift > 0 ? 1 << (shift - 1) : 0;
  const int64_t n = f->n;  // a store of bytes might change the frame for all the compiler knows
  for (int64_t i = 0; i < n; i++) {
    int32_t q = ((((a[i] - za) * ma + (b[i] - zb) * mb) + half) >> shift) + zo;
    q = q < low ? low : q;
    out[i] = static_cast<T>(q > high ? high : q);
  }
}

template <class T>
void mul(const quantized_binary_frame* f) {
  const auto* a = reinterpret_cast<const T*>(f->a);
  const auto* b = reinterpret_cast<const T*>(f->b);
  auto* out = reinterpret_cast<T*>(f->out);
  const int32_t za = f->a_zero, zb = f->b_zero, zo = f->out_zero;
  const float scale = f->scale, low = static_cast<float>(f->min - zo), high = static_cast<float>(f->max - zo);
  const int64_t n = f->n;
  for (int64_t i = 0; i < n; i++) {
    float q = __builtin_rintf(static_cast<float>((a[i] - za) * (b[i] - zb)) * scale);
    q = q < low ? low : q;
    q = q > high ? high : q;
    out[i] = static_cast<T>(static_cast<int32_t>(q) + zo);
  }
}

int32_t quantized_binary(quantized_binary_frame* f) {
  const bool is_signed = f->dtype == kQInt8;
  if (f->op == QuantizedBinaryOp_add) is_signed ? add<int8_t>(f) : add<uint8_t>(f);
  else is_signed ? mul<int8_t>(f) : mul<uint8_t>(f);
  return 0;
}

}  // namespace

PTLITE_KERNEL(quantize, quantize)
PTLITE_KERNEL(dequantize, dequantize)
PTLITE_KERNEL(dequantize_nibbles, dequantize_nibbles)
PTLITE_KERNEL(float_range, float_range)
PTLITE_KERNEL(quantized_lookup, quantized_lookup)
PTLITE_KERNEL(quantized_binary, quantized_binary)
