// isa: AVX2_VNNI, AVX512_VNNI
// Depthwise convolution of 8-bit integers over channels-last input, exact in int32. A register of channels is computed at a time:
// the bytes of four taps are interleaved, so that each 32-bit lane holds what one channel multiplies, and summed by vpdpbusd or as
// two pairs of int16. Interleaving leaves the lanes in the order in which `Narrow` puts them together again.
#include <string.h>

#include <atomic>

#include "frames/quantized.h"
#include "isa/kernel.h"
#include "ops/quantized_narrow.h"
#include "pool/pool.h"

namespace {

using namespace ptlite::int8;

constexpr int32_t kQInt8 = 12;
constexpr int64_t kChannels = PTLITE_VEC_BYTES;
// Interleaving keeps to parts of 16 bytes, so that registers and weights are made of groups of 16 channels.
constexpr int64_t kGroup = 16;
constexpr int64_t kGroupBytes = 128;

// The first channels of a register.
#if defined(CPU_CAPABILITY_AVX512)
class Lanes {
 public:
  explicit Lanes(int64_t count) : mask_(count >= kChannels ? ~0ull : (1ull << count) - 1) {}
  PTLITE_INLINE Reg load(const uint8_t* p) const { return _mm512_maskz_loadu_epi8(mask_, p); }
  PTLITE_INLINE void store(uint8_t* p, Reg r) const { _mm512_mask_storeu_epi8(p, mask_, r); }

 private:
  __mmask64 mask_;
};
#else
class Lanes {
 public:
  explicit Lanes(int64_t count) : count_(count < kChannels ? count : kChannels) {}
  PTLITE_INLINE Reg load(const uint8_t* p) const { return (Reg)ptlite::Vec<uint8_t>::load(p, count_).v; }
  PTLITE_INLINE void store(uint8_t* p, Reg r) const { ptlite::Vec<uint8_t>((ptlite::Vec<uint8_t>::Raw)r).store(p, count_); }

 private:
  int64_t count_;
};
#endif

// Registers of weights for four taps: bytes, or int16 of the even taps and then of the odd ones.
constexpr int64_t quad_regs(Form form) { return form == Form::kBytes ? 4 : 8; }

template <Form form>
PTLITE_INLINE Reg dot(Reg sum, Reg activations, const Reg* weights) {
#if defined(PTLITE_INT8_VNNI)
  if constexpr (form == Form::kBytes) return dot_bytes(sum, activations, weights[0]);
#endif
  sum = add(sum, multiply_pairs(both(activations, broadcast(0x00ff00ff)), weights[0]));
  return add(sum, multiply_pairs(high_bytes_unsigned(activations), weights[4]));
}

// What a register of channels needs besides the input.
template <Form form>
class Block {
 public:
  Block(const quantized_depthwise_frame* f, int64_t first, int64_t quads, Reg* weights) : weights_(weights) {
    const int64_t n = f->channels - first < kChannels ? f->channels - first : kChannels;
    gather_weights(reinterpret_cast<const char*>(f->w) + first / kGroup * quads * kGroupBytes, (n + kGroup - 1) / kGroup, quads);
    gather(reinterpret_cast<const float*>(f->scales) + first, n, scales_);
    gather(reinterpret_cast<const int32_t*>(f->bias) + first, n, offsets_);
    const Reg zero = broadcast((f->a_zero + (f->a_dtype == kQInt8 ? 128 : 0)) * 0x01010101);
    for (int j = 0; j < 4; j++) {
      Reg sum = none();
      for (int64_t q = 0; q < quads; q++) sum = dot<form>(sum, zero, weights + q * quad_regs(form) + j);
      offsets_[j] = subtract(offsets_[j], sum);
    }
  }

  // Outputs of `count` pixels, `out_step` bytes apart, of which the inputs are `in_step` bytes apart; `taps` are those of the first.
  // Quads 0 stands for any number, and is for signed input too.
  template <int Quads>
  __attribute__((noinline)) void pixels(const uint8_t* const* taps, [[maybe_unused]] int64_t quads, int64_t count, int64_t in_step, uint8_t* out,
                                        int64_t out_step, const Lanes& to_lanes, const Narrow& to_narrow, [[maybe_unused]] bool is_signed) const {
    // copies, which no store can change
    const Lanes lanes = to_lanes;
    const Narrow narrow = to_narrow;
    [[maybe_unused]] const Reg sign = words(is_signed ? 0x8080 : 0);
    for (int64_t i = 0, at = 0; i < count; i++, at += in_step, out += out_step) {
      const auto input = [&](int64_t tap) {
        const Reg x = lanes.load(taps[tap] + at);
        return Quads > 0 ? x : flip(x, sign);
      };
      Reg a = offsets_[0], b = offsets_[1], c = offsets_[2], d = offsets_[3];
      const auto quad = [&](int64_t q) {
        const Reg x = input(4 * q), y = input(4 * q + 1), z = input(4 * q + 2), u = input(4 * q + 3);
        const Reg xy = low_of_bytes(x, y), zu = low_of_bytes(z, u), xy_high = high_of_bytes(x, y), zu_high = high_of_bytes(z, u);
        const Reg* w = weights_ + q * quad_regs(form);
        a = dot<form>(a, low_of_words(xy, zu), w);
        b = dot<form>(b, high_of_words(xy, zu), w + 1);
        c = dot<form>(c, low_of_words(xy_high, zu_high), w + 2);
        d = dot<form>(d, high_of_words(xy_high, zu_high), w + 3);
      };
      if constexpr (Quads > 0) {
#pragma GCC unroll 4
        for (int q = 0; q < Quads; q++) quad(q);
      } else {
#pragma GCC unroll 1
        for (int64_t q = 0; q < quads; q++) quad(q);
      }
      const auto scale = [&](Reg sum, int j) { return narrow.scale(sum, scales_[j]); };
      lanes.store(out, narrow.bytes(scale(a, 0), scale(b, 1), scale(c, 2), scale(d, 3)));
    }
  }

 private:
  // 16 channels lie together; of four registers, each takes four of them.
  template <class T, class R>
  static void gather(const T* from, int64_t n, R* to) {
    alignas(64) T ordered[4][PTLITE_VEC_BYTES / sizeof(T)] = {};
    for (int64_t c = 0; c < n; c++) ordered[c / 4 % 4][c / kGroup * 4 + c % 4] = from[c];
    memcpy(to, ordered, sizeof(ordered));
  }

  void gather_weights(const char* from, int64_t groups, int64_t quads) {
    auto* to = reinterpret_cast<char*>(weights_);
    memset(to, 0, static_cast<size_t>(quads * quad_regs(form)) * sizeof(Reg));
    for (int64_t g = 0; g < groups; g++) {
      for (int64_t q = 0; q < quads; q++, from += kGroupBytes) {
        for (int64_t j = 0; j < 4; j++) {
          char* at = to + (q * quad_regs(form) + j) * static_cast<int64_t>(sizeof(Reg)) + g * kGroup;
          if constexpr (form == Form::kBytes) {
            uint16_t even[8], odd[8];
            memcpy(even, from + 16 * j, 16);
            memcpy(odd, from + 64 + 16 * j, 16);
            for (int i = 0; i < 8; i++) even[i] = static_cast<uint16_t>((even[i] & 255) | odd[i] << 8);
            memcpy(at, even, 16);
          } else {
            memcpy(at, from + 16 * j, 16);
            memcpy(at + 4 * sizeof(Reg), from + 64 + 16 * j, 16);
          }
        }
      }
    }
  }

  Reg* weights_;
  Reg offsets_[4];
  Floats scales_[4];
};

// What all ranges of one call share.
struct Call {
  const quantized_depthwise_frame* f;
  int64_t taps, quads, rows;
  // Columns whose windows lie inside the input.
  int64_t inner_begin, inner_end;

  explicit Call(const quantized_depthwise_frame* frame) : f(frame) {
    taps = f->kernel[0] * f->kernel[1] * f->kernel[2];
    quads = (taps + 3) / 4;
    rows = f->batch * f->out_size[0] * f->out_size[1];
    const int64_t stride = f->stride[2], padding = f->padding[2], last = f->in_size[2] - 1 - (f->kernel[2] - 1) * f->dilation[2] + padding;
    inner_begin = (padding + stride - 1) / stride;
    inner_end = last < 0 ? 0 : last / stride + 1;
    if (inner_end > f->out_size[2]) inner_end = f->out_size[2];
    if (inner_begin > inner_end) inner_begin = inner_end;
  }

};

// A row of the output.
struct Row {
  int64_t image, d, h;

  Row(const quantized_depthwise_frame* f, int64_t row)
      : image(row / f->out_size[1] / f->out_size[0]), d(row / f->out_size[1] % f->out_size[0]), h(row % f->out_size[1]) {}

  void advance(const quantized_depthwise_frame* f) {
    if (++h < f->out_size[1]) return;
    h = 0;
    if (++d < f->out_size[0]) return;
    d = 0;
    ++image;
  }

  // Where the rows of the input are that it is made of, one per depth and height of the kernel; `outside` for those that are not there.
  void inputs(const quantized_depthwise_frame* f, const uint8_t* outside, const uint8_t** out) const {
    const auto* in = reinterpret_cast<const uint8_t*>(f->a);
    for (int64_t kd = 0; kd < f->kernel[0]; kd++) {
      const int64_t id = d * f->stride[0] - f->padding[0] + kd * f->dilation[0];
      for (int64_t kh = 0; kh < f->kernel[1]; kh++) {
        const int64_t ih = h * f->stride[1] - f->padding[1] + kh * f->dilation[1];
        const bool inside = id >= 0 && id < f->in_size[0] && ih >= 0 && ih < f->in_size[1];
        *out++ = inside ? in + ((image * f->in_size[0] + id) * f->in_size[1] + ih) * f->in_size[2] * f->channels : outside;
      }
    }
  }
};

template <Form form, int Quads>
bool range(const Call& call, int64_t begin, int64_t end) {
  const quantized_depthwise_frame* f = call.f;
  const bool is_signed = f->a_dtype == kQInt8;
  const int64_t channels = f->channels, kernel_rows = f->kernel[0] * f->kernel[1], columns = f->kernel[2], width = f->in_size[2];
  const int64_t quads = call.quads;
  const auto weight_bytes = static_cast<size_t>(quads * quad_regs(form)) * sizeof(Reg);
  const size_t pointer_bytes = static_cast<size_t>(4 * quads + kernel_rows) * sizeof(uint8_t*);
  auto* memory = static_cast<uint8_t*>(ptlite::range_scratch(weight_bytes + pointer_bytes + static_cast<size_t>(width * channels)));
  if (memory == nullptr) return false;
  auto** taps = reinterpret_cast<const uint8_t**>(memory + weight_bytes);
  const uint8_t** inputs = taps + 4 * quads;
  uint8_t* outside = memory + weight_bytes + pointer_bytes;
  memset(outside, f->a_zero, static_cast<size_t>(width * channels));
  const Narrow narrow({f->out_zero, f->min, f->max}, is_signed);
  for (int64_t block_end; begin < end; begin = block_end) {
    const int64_t first = begin / call.rows * kChannels;
    block_end = (begin / call.rows + 1) * call.rows < end ? (begin / call.rows + 1) * call.rows : end;
    const Block<form> block(f, first, quads, reinterpret_cast<Reg*>(memory));
    const Lanes lanes(channels - first);
    Row row(f, begin % call.rows);
    auto* out = reinterpret_cast<uint8_t*>(f->out) + begin % call.rows * f->out_size[2] * channels + first;
    // `count` columns from w, of which either all windows are inside the input or there is one
    const auto run = [&](int64_t w, int64_t count, bool inside) {
      const int64_t start = w * f->stride[2] - f->padding[2];
      int64_t t = 0;
      for (int64_t r = 0; r < kernel_rows; r++) {
        for (int64_t kw = 0, iw = start; kw < columns; kw++, t++, iw += f->dilation[2]) {
          taps[t] = (inside || (iw >= 0 && iw < width) ? inputs[r] + iw * channels : outside) + first;
        }
      }
      // the taps that make up the last four may be anything: their weights are 0
      for (; t < 4 * quads; t++) taps[t] = taps[0];
      block.template pixels<Quads>(taps, quads, count, f->stride[2] * channels, out + w * channels, channels, lanes, narrow, is_signed);
    };
    for (; begin < block_end; begin++, row.advance(f), out += f->out_size[2] * channels) {
      row.inputs(f, outside, inputs);
      for (int64_t w = 0; w < call.inner_begin; w++) run(w, 1, false);
      if (call.inner_begin < call.inner_end) run(call.inner_begin, call.inner_end - call.inner_begin, true);
      for (int64_t w = call.inner_end; w < f->out_size[2]; w++) run(w, 1, false);
    }
  }
  return true;
}

template <Form form>
int32_t all(const quantized_depthwise_frame* f) {
  const Call call(f);
  const int64_t blocks = (f->channels + kChannels - 1) / kChannels;
  const bool usual = call.quads == 3 && f->a_dtype != kQInt8;
  std::atomic<bool> done{true};
  ptlite::parallel_for(blocks * call.rows, ptlite::grain_for(f->out_size[2] * call.taps * kChannels), [&](int64_t begin, int64_t end) {
    if (!(usual ? range<form, 3>(call, begin, end) : range<form, 0>(call, begin, end))) done = false;
  });
  return done ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t depthwise(quantized_depthwise_frame* f) {
#if defined(PTLITE_INT8_VNNI)
  const auto* w = reinterpret_cast<const int16_t*>(f->w);
  const int64_t count = (f->channels + kGroup - 1) / kGroup * ((f->kernel[0] * f->kernel[1] * f->kernel[2] + 3) / 4) * (kGroupBytes / 2);
  bool bytes = true;
  for (int64_t i = 0; i < count; i++) bytes &= w[i] == static_cast<int8_t>(w[i]);
  if (bytes) return all<Form::kBytes>(f);
#endif
  return all<Form::kWords>(f);
}

}  // namespace

PTLITE_KERNEL(quantized_depthwise, depthwise)
