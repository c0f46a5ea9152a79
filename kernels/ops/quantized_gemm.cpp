// 8-bit matrix products in exact int32 arithmetic. Activations and weights are widened to int16 with their zero
// points taken off, so that one multiply-add of int16 pairs does two steps of k without saturation and padding is
// plain zero. A row block is packed as [k/2][rows][2], weights as panels [k/2][columns][2].
#include <string.h>

#include "frames/quantized.h"
#include "isa/kernel.h"
#include "vec/vec.h"

namespace {

constexpr int32_t kFloat32 = 6;
constexpr int32_t kQInt8 = 12;

#if defined(CPU_CAPABILITY_AVX512)
using Reg = __m512i;
constexpr int kRows = 12;
PTLITE_INLINE Reg load(const void* p) { return _mm512_loadu_si512(p); }
PTLITE_INLINE Reg broadcast(int32_t x) { return _mm512_set1_epi32(x); }
PTLITE_INLINE Reg multiply_add(Reg sum, Reg a, Reg b) {
#if defined(__AVX512VNNI__)
  return _mm512_dpwssd_epi32(sum, a, b);
#else
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
#endif
}
PTLITE_INLINE void store(int32_t* p, Reg r) { _mm512_storeu_si512(p, r); }
PTLITE_INLINE Reg none() { return _mm512_setzero_si512(); }
#elif defined(CPU_CAPABILITY_AVX2)
using Reg = __m256i;
constexpr int kRows = 6;
PTLITE_INLINE Reg load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
PTLITE_INLINE Reg broadcast(int32_t x) { return _mm256_set1_epi32(x); }
PTLITE_INLINE Reg multiply_add(Reg sum, Reg a, Reg b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
PTLITE_INLINE void store(int32_t* p, Reg r) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), r); }
PTLITE_INLINE Reg none() { return _mm256_setzero_si256(); }
#else
using Reg = __m128i;
constexpr int kRows = 4;
PTLITE_INLINE Reg load(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
PTLITE_INLINE Reg broadcast(int32_t x) { return _mm_set1_epi32(x); }
PTLITE_INLINE Reg multiply_add(Reg sum, Reg a, Reg b) { return _mm_add_epi32(sum, _mm_madd_epi16(a, b)); }
PTLITE_INLINE void store(int32_t* p, Reg r) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), r); }
PTLITE_INLINE Reg none() { return _mm_setzero_si128(); }
#endif

constexpr int kLanes = sizeof(Reg) / 4;
constexpr int kColumns = 2 * kLanes;
// Row blocks that share one pass over the weights; their packed form stays in the second-level cache.
constexpr int kBlocks = 8;

int32_t tile(quantized_gemm_tile_frame* f) {
  f->columns = kColumns;
  return 0;
}

template <class T>
void pack_weights(const quantized_gemm_pack_frame* f) {
  const auto* w = reinterpret_cast<const T*>(f->w);
  const auto* zero = reinterpret_cast<const int32_t*>(f->zero_points);
  auto* out = reinterpret_cast<int16_t*>(f->out);
  const int64_t pairs = (f->k + 1) / 2;
  for (int64_t n0 = 0; n0 < f->n; n0 += kColumns) {
    for (int64_t p = 0; p < pairs; p++) {
      for (int64_t c = 0; c < kColumns; c++) {
        for (int64_t h = 0; h < 2; h++) {
          const int64_t n = n0 + c, k = 2 * p + h;
          *out++ = n < f->n && k < f->k ? static_cast<int16_t>(w[n * f->k + k] - zero[n]) : 0;
        }
      }
    }
  }
}

int32_t pack(quantized_gemm_pack_frame* f) {
  if (f->dtype == kQInt8) pack_weights<int8_t>(f);
  else pack_weights<uint8_t>(f);
  return 0;
}

// One row of A as int16 without zero point; `row` has room for an even k.
template <class T>
void widen(const T* in, int16_t* row, int64_t n, int32_t zero) {
  for (int64_t i = 0; i < n; i++) row[i] = static_cast<int16_t>(in[i] - zero);
}

// Where tap `t` of output position `o` reads along one axis; -1 outside.
PTLITE_INLINE int64_t input_position(const quantized_gemm_frame* f, int axis, int64_t o, int64_t t) {
  int64_t i;
  if (f->transposed) {
    const int64_t scaled = o + f->padding[axis] - t * f->dilation[axis];
    if (scaled < 0 || scaled % f->stride[axis] != 0) return -1;
    i = scaled / f->stride[axis];
  } else {
    i = o * f->stride[axis] - f->padding[axis] + t * f->dilation[axis];
  }
  return i >= 0 && i < f->in_size[axis] ? i : -1;
}

template <class T>
void window_row(const quantized_gemm_frame* f, int64_t m, int16_t* row) {
  const int64_t w = m % f->out_size[2], h = m / f->out_size[2] % f->out_size[1];
  const int64_t d = m / (f->out_size[2] * f->out_size[1]) % f->out_size[0];
  const int64_t image = m / (f->out_size[2] * f->out_size[1] * f->out_size[0]);
  const auto* in = reinterpret_cast<const T*>(f->a);
  for (int64_t kd = 0; kd < f->kernel[0]; kd++) {
    const int64_t id = input_position(f, 0, d, kd);
    for (int64_t kh = 0; kh < f->kernel[1]; kh++) {
      const int64_t ih = input_position(f, 1, h, kh);
      for (int64_t kw = 0; kw < f->kernel[2]; kw++, row += f->channels) {
        const int64_t iw = input_position(f, 2, w, kw);
        if (id < 0 || ih < 0 || iw < 0) {
          memset(row, 0, static_cast<size_t>(f->channels) * 2);
        } else {
          const int64_t pixel = ((image * f->in_size[0] + id) * f->in_size[1] + ih) * f->in_size[2] + iw;
          widen(in + pixel * f->pixel_stride, row, f->channels, f->a_zero);
        }
      }
    }
  }
}

// Rows m0.. of A as [pairs][kRows][2]; rows beyond `rows` are zero.
template <class T>
void pack_rows(const quantized_gemm_frame* f, int64_t m0, int64_t rows, int16_t* line, int16_t* out) {
  const int64_t pairs = (f->k + 1) / 2;
  for (int64_t r = 0; r < kRows; r++) {
    if (r < rows) {
      line[2 * pairs - 1] = 0;
      if (f->taps > 0) window_row<T>(f, m0 + r, line);
      else widen(reinterpret_cast<const T*>(f->a) + (m0 + r) * f->a_stride, line, f->k, f->a_zero);
      for (int64_t p = 0; p < pairs; p++) memcpy(out + (p * kRows + r) * 2, line + 2 * p, 4);
    } else {
      for (int64_t p = 0; p < pairs; p++) memset(out + (p * kRows + r) * 2, 0, 4);
    }
  }
}

// sums[kRows][kColumns] = block * panel
void multiply(const int16_t* a, const int16_t* w, int64_t pairs, int32_t* sums) {
  Reg acc[kRows][2];
  for (int r = 0; r < kRows; r++) acc[r][0] = acc[r][1] = none();
  for (int64_t p = 0; p < pairs; p++) {
    const Reg w0 = load(w), w1 = load(w + 2 * kLanes);
    w += 2 * kColumns;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; r++) {
      int32_t pair;
      memcpy(&pair, a + 2 * r, 4);
      const Reg x = broadcast(pair);
      acc[r][0] = multiply_add(acc[r][0], x, w0);
      acc[r][1] = multiply_add(acc[r][1], x, w1);
    }
    a += 2 * kRows;
  }
  for (int r = 0; r < kRows; r++) {
    store(sums + r * kColumns, acc[r][0]);
    store(sums + r * kColumns + kLanes, acc[r][1]);
  }
}

template <class T>
PTLITE_INLINE void requantize(const int32_t* sums, const float* scales, const int32_t* bias, T* out, int64_t n, int32_t zero,
                              int32_t min, int32_t max) {
  const float low = static_cast<float>(min - zero), high = static_cast<float>(max - zero);
  for (int64_t i = 0; i < n; i++) {
    float q = __builtin_rintf(static_cast<float>(sums[i] + bias[i]) * scales[i]);
    q = q < low ? low : q;
    q = q > high ? high : q;
    out[i] = static_cast<T>(static_cast<int32_t>(q) + zero);
  }
}

void finish(const quantized_gemm_frame* f, const int32_t* sums, int64_t m0, int64_t rows, int64_t n0) {
  const int64_t n = f->n - n0 < kColumns ? f->n - n0 : kColumns;
  const auto* scales = reinterpret_cast<const float*>(f->scales) + n0;
  for (int64_t r = 0; r < rows; r++, sums += kColumns) {
    const int64_t at = (m0 + r) * f->out_stride + n0;
    if (f->out_dtype == kFloat32) {
      auto* out = reinterpret_cast<float*>(f->out) + at;
      const auto* bias = reinterpret_cast<const float*>(f->bias) + n0;
      for (int64_t i = 0; i < n; i++) {
        const float x = static_cast<float>(sums[i]) * scales[i] + bias[i];
        out[i] = f->relu && x < 0 ? 0 : x;
      }
    } else {
      const auto* bias = reinterpret_cast<const int32_t*>(f->bias) + n0;
      if (f->out_dtype == kQInt8) {
        requantize(sums, scales, bias, reinterpret_cast<int8_t*>(f->out) + at, n, f->out_zero, f->min, f->max);
      } else {
        requantize(sums, scales, bias, reinterpret_cast<uint8_t*>(f->out) + at, n, f->out_zero, f->min, f->max);
      }
    }
  }
}

int32_t gemm(quantized_gemm_frame* f) {
  const int64_t pairs = (f->k + 1) / 2, block = pairs * kRows * 2, panel = pairs * kColumns * 2;
  const size_t line_bytes = (static_cast<size_t>(pairs) * 4 + 63) / 64 * 64;
  auto* scratch = static_cast<char*>(ptlite_scratch(line_bytes + static_cast<size_t>(block) * kBlocks * 2));
  if (scratch == nullptr) return 1;
  auto* line = reinterpret_cast<int16_t*>(scratch);
  auto* a = reinterpret_cast<int16_t*>(scratch + line_bytes);
  alignas(64) int32_t sums[kRows * kColumns];
  for (int64_t m0 = 0; m0 < f->m; m0 += kBlocks * kRows) {
    const int64_t rows = f->m - m0 < kBlocks * kRows ? f->m - m0 : kBlocks * kRows;
    for (int64_t r = 0; r < rows; r += kRows) {
      const int64_t here = rows - r < kRows ? rows - r : kRows;
      if (f->a_dtype == kQInt8) pack_rows<int8_t>(f, m0 + r, here, line, a + r / kRows * block);
      else pack_rows<uint8_t>(f, m0 + r, here, line, a + r / kRows * block);
    }
    const auto* w = reinterpret_cast<const int16_t*>(f->w);
    for (int64_t n0 = 0; n0 < f->n; n0 += kColumns, w += panel) {
      for (int64_t r = 0; r < rows; r += kRows) {
        multiply(a + r / kRows * block, w, pairs, sums);
        finish(f, sums, m0 + r, rows - r < kRows ? rows - r : kRows, n0);
      }
    }
  }
  return 0;
}

constexpr int64_t kChannelBlock = 64;

template <class T>
void depthwise_pixel(const quantized_depthwise_frame* f, const T* image, const int64_t* first, T* out) {
  const auto* w = reinterpret_cast<const int16_t*>(f->w);
  const auto* scales = reinterpret_cast<const float*>(f->scales);
  const auto* bias = reinterpret_cast<const int32_t*>(f->bias);
  const int32_t zero = f->a_zero;
  alignas(64) int32_t sums[kChannelBlock];
  for (int64_t c0 = 0; c0 < f->channels; c0 += kChannelBlock) {
    const int64_t n = f->channels - c0 < kChannelBlock ? f->channels - c0 : kChannelBlock;
    memset(sums, 0, sizeof(sums));
    int64_t tap = 0;
    for (int64_t kd = 0; kd < f->kernel[0]; kd++) {
      const int64_t id = first[0] + kd * f->dilation[0];
      for (int64_t kh = 0; kh < f->kernel[1]; kh++) {
        const int64_t ih = first[1] + kh * f->dilation[1];
        for (int64_t kw = 0; kw < f->kernel[2]; kw++, tap++) {
          const int64_t iw = first[2] + kw * f->dilation[2];
          if (id < 0 || id >= f->in_size[0] || ih < 0 || ih >= f->in_size[1] || iw < 0 || iw >= f->in_size[2]) continue;
          const T* in = image + ((id * f->in_size[1] + ih) * f->in_size[2] + iw) * f->channels + c0;
          const int16_t* taps = w + tap * f->channels + c0;
          for (int64_t c = 0; c < n; c++) sums[c] += (in[c] - zero) * taps[c];
        }
      }
    }
    requantize(sums, scales + c0, bias + c0, out + c0, n, f->out_zero, f->min, f->max);
  }
}

template <class T>
void depthwise_all(const quantized_depthwise_frame* f) {
  const auto* in = reinterpret_cast<const T*>(f->a);
  auto* out = reinterpret_cast<T*>(f->out);
  const int64_t image = f->in_size[0] * f->in_size[1] * f->in_size[2] * f->channels;
  for (int64_t b = 0; b < f->batch; b++) {
    for (int64_t d = 0; d < f->out_size[0]; d++) {
      for (int64_t h = 0; h < f->out_size[1]; h++) {
        for (int64_t w = 0; w < f->out_size[2]; w++, out += f->channels) {
          const int64_t first[3] = {d * f->stride[0] - f->padding[0], h * f->stride[1] - f->padding[1], w * f->stride[2] - f->padding[2]};
          depthwise_pixel(f, in + b * image, first, out);
        }
      }
    }
  }
}

int32_t depthwise(quantized_depthwise_frame* f) {
  if (f->a_dtype == kQInt8) depthwise_all<int8_t>(f);
  else depthwise_all<uint8_t>(f);
  return 0;
}

}  // namespace

PTLITE_KERNEL(quantized_gemm_tile, tile)
PTLITE_KERNEL(quantized_gemm_pack, pack)
PTLITE_KERNEL(quantized_gemm, gemm)
PTLITE_KERNEL(quantized_depthwise, depthwise)
