// isa: AVX2_VNNI, AVX512_VNNI, I8MM
// Depthwise convolution of 8-bit integers over channels-last input, exact in int32. A register of channels is computed at a time:
// the bytes of four taps are interleaved, so that each 32-bit lane holds what one channel multiplies, and summed by vpdpbusd or as
// two pairs of int16. Interleaving leaves the lanes in the order in which `Narrow` puts them together again.
#include <string.h>

#include <atomic>

#include "frames/quantized.h"
#include "dispatch/kernel.h"
#include "ops/quantized/first_bytes.h"
#include "ops/quantized/quantized_narrow.h"
#include "pool/pool.h"

namespace {

using namespace ptlite::int8;

constexpr int32_t kQInt8 = 12;
constexpr int64_t kChannels = PTLITE_VEC_BYTES;
// Interleaving keeps to parts of 16 bytes, so that registers and weights are made of groups of 16 channels.
constexpr int64_t kGroup = 16;
constexpr int64_t kGroupBytes = 128;

using Lanes = ptlite::int8::FirstBytes;

// 3x3 kernels have code of their own, for the weights that the level's instructions are for.
constexpr int kUsualQuads = 3;
#if defined(PTLITE_INT8_DOT)
constexpr Form kUsualForm = Form::kBytes;
#else
constexpr Form kUsualForm = Form::kWords;
#endif

// Registers of weights for four taps: bytes, or int16 of the even taps and then of the odd ones.
constexpr int64_t quad_regs(Form form) { return form == Form::kBytes ? 4 : 8; }

template <Form form>
PTLITE_INLINE Reg dot(Reg sum, Reg activations, const Reg* weights) {
#if defined(PTLITE_INT8_DOT)
  if constexpr (form == Form::kBytes) return dot_bytes(sum, activations, weights[0]);
#endif
  sum = add(sum, multiply_pairs(both(activations, broadcast(0x00ff00ff)), weights[0]));
  return add(sum, multiply_pairs(high_bytes_unsigned(activations), weights[4]));
}

// What a register of channels needs besides the input.
template <Form form>
class Block {
 public:
  __attribute__((noinline)) Block(const quantized_depthwise_frame* f, int64_t first, int64_t quads, Reg* weights) : weights_(weights) {
    const int64_t n = f->channels - first < kChannels ? f->channels - first : kChannels;
    gather_weights(reinterpret_cast<const char*>(f->w) + first / kGroup * quads * kGroupBytes, (n + kGroup - 1) / kGroup, quads);
    gather(reinterpret_cast<const float*>(f->scales) + first, n, scales_);
    gather(reinterpret_cast<const int32_t*>(f->bias) + first, n, offsets_);
    const Reg zero = broadcast(static_cast<int32_t>(static_cast<uint32_t>(f->a_zero + (f->a_dtype == kQInt8 ? 128 : 0)) * 0x01010101u));
    for (int j = 0; j < 4; j++) {
      Reg sum = none();
      for (int64_t q = 0; q < quads; q++) sum = dot<form>(sum, zero, weights + q * quad_regs(form) + j);
      offsets_[j] = subtract(offsets_[j], sum);
    }
  }

  // Outputs of `count` pixels, `out_step` bytes apart, of which the inputs are `in_step` bytes apart; `taps` are those of the first.
  // Quads 0 stands for any number, and is for large scales too.
  template <int Quads>
  __attribute__((noinline)) void pixels(const uint8_t* const* taps, [[maybe_unused]] int64_t quads, int64_t count, int64_t in_step,
                                        uint8_t* out, int64_t out_step, const Lanes& to_lanes, const Narrow& to_narrow) const {
    // copies, which no store can change
    const Lanes lanes = to_lanes;
    const Narrow narrow = to_narrow;
    for (int64_t i = 0, at = 0; i < count; i++, at += in_step, out += out_step) {
      const auto input = [&](int64_t tap) { return load(taps[tap] + at); };
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
      const auto scale = [&](Reg sum, int j) { return narrow.scale<(Quads > 0)>(sum, scales_[j]); };
      lanes.store(out, narrow.narrow(scale(a, 0), scale(b, 1), scale(c, 2), scale(d, 3)));
    }
  }

 private:
  // 16 channels lie together; of four registers, each takes four of them.
  template <class T, class R>
  static void gather(const T* from, int64_t n, R* to) {
    alignas(64) T ordered[4][PTLITE_VEC_BYTES / sizeof(T)] = {};
    for (int64_t c = 0; c < n; c += 4) {
      T* at = ordered[c / 4 % 4] + c / kGroup * 4;
      if (n - c >= 4) memcpy(at, from + c, 4 * sizeof(T));
      else memcpy(at, from + c, static_cast<size_t>(n - c) * sizeof(T));
    }
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
  int64_t taps, quads;
  // Rows of the output, and columns of the input with their padding.
  int64_t rows, columns;
  bool is_usual;

  explicit Call(const quantized_depthwise_frame* frame) : f(frame) {
    taps = f->kernel[0] * f->kernel[1] * f->kernel[2];
    quads = (taps + 3) / 4;
    rows = f->batch * f->out_size[0] * f->out_size[1];
    columns = (f->out_size[2] - 1) * f->stride[2] + (f->kernel[2] - 1) * f->dilation[2] + 1;
    is_usual = quads == kUsualQuads && small_scales(reinterpret_cast<const float*>(f->scales), f->channels);
  }
};

// Rows of the input with their padding, one register of channels wide: copies that neighbouring rows of the output share.
class Lines {
 public:
  // Padding and dilation may be of any size, memory is not.
  static bool fit(const Call& call) { return call.columns <= (int64_t{1} << 28) / (kChannels * (count(call) + 1)); }

  // `memory` is what `bytes` says; a pixel of fewer channels than a register takes less of it.
  static int64_t bytes(const Call& call) { return (count(call) + 1) * call.columns * kChannels + kChannels; }

  Lines(const Call& call, int64_t first, uint8_t* memory, int64_t* held)
      : call_(call),
        first_(first),
        lanes_(call.f->channels - first),
        unit_(call.f->channels - first < kChannels ? (call.f->channels - first + kGroup - 1) / kGroup * kGroup : kChannels),
        memory_(memory),
        held_(held) {
    const int32_t zero = call.f->a_zero + (call.f->a_dtype == kQInt8 ? 128 : 0);
    memset(memory, zero, static_cast<size_t>((count(call) + 1) * call.columns * unit_));
    for (int64_t i = 0; i < count(call); i++) held[i] = -1;
  }

  static int64_t count(const Call& call) { return call.f->kernel[0] * call.f->kernel[1]; }

  // Bytes of a pixel.
  int64_t unit() const { return unit_; }

  // The line for depth `kd` and height `kh` of the kernel where they read row `h` at depth `d` of an image.
  const uint8_t* at(int64_t kd, int64_t kh, int64_t image, int64_t d, int64_t h) {
    const quantized_depthwise_frame* f = call_.f;
    if (d < 0 || d >= f->in_size[0] || h < 0 || h >= f->in_size[1]) return line(count(call_));
    // a row keeps its line while the kernel moves over it
    const int64_t slot = kd * f->kernel[1] + (f->dilation[1] == 1 ? h % f->kernel[1] : kh);
    const int64_t row = (image * f->in_size[0] + d) * f->in_size[1] + h;
    if (held_[slot] != row) {
      copy(row, line(slot));
      held_[slot] = row;
    }
    return line(slot);
  }

 private:
  uint8_t* line(int64_t i) const { return memory_ + i * call_.columns * unit_; }

  __attribute__((noinline)) void copy(int64_t row, uint8_t* out) const {
    const quantized_depthwise_frame* f = call_.f;
    const Lanes lanes = lanes_;
    const Reg sign = ::ptlite::int8::bytes(f->a_dtype == kQInt8 ? 128 : 0);
    const int64_t left = call_.columns - f->padding[2], count = f->in_size[2] < left ? f->in_size[2] : left, unit = unit_;
    const int64_t step = f->channels;
    const auto* in = reinterpret_cast<const uint8_t*>(f->a) + row * f->in_size[2] * step + first_;
    out += f->padding[2] * unit;
    for (int64_t i = 0; i < count; i++) lanes.store(out + i * unit, flip(lanes.load(in + i * step), sign));
  }

  const Call& call_;
  int64_t first_;
  Lanes lanes_;
  int64_t unit_;
  uint8_t* memory_;
  int64_t* held_;
};

// Memory of a range: weights, where taps are, which rows are held, and these.
template <Form form>
struct Scratch {
  const uint8_t** taps;
  int64_t* held;
  Reg* weights;
  uint8_t* lines;

  explicit Scratch(const Call& call) {
    const int64_t weight_bytes = call.quads * quad_regs(form) * static_cast<int64_t>(sizeof(Reg));
    const int64_t tap_bytes = 4 * call.quads * int64_t{sizeof(uint8_t*)}, held_bytes = Lines::count(call) * int64_t{sizeof(int64_t)};
    const int64_t head_bytes = (weight_bytes + tap_bytes + held_bytes + 63) / 64 * 64;
    auto* memory = static_cast<uint8_t*>(ptlite::range_scratch(static_cast<size_t>(head_bytes + Lines::bytes(call))));
    weights = reinterpret_cast<Reg*>(memory);
    if (memory == nullptr) return;
    taps = reinterpret_cast<const uint8_t**>(memory + weight_bytes);
    held = reinterpret_cast<int64_t*>(memory + weight_bytes + tap_bytes);
    lines = memory + head_bytes;
  }
};

// Rows of the output from `begin` to `end`, in the register of channels that begins with `first`.
template <Form form>
void part(const Call& call, const Scratch<form>& scratch, const Narrow& narrow, int64_t first, int64_t begin, int64_t end) {
  const quantized_depthwise_frame* f = call.f;
  const int64_t channels = f->channels, quads = call.quads, out_row = f->out_size[2] * channels;
  const Block<form> block(f, first, quads, scratch.weights);
  const Lanes lanes(channels - first);
  Lines lines(call, first, scratch.lines, scratch.held);
  const uint8_t** taps = scratch.taps;
  int64_t h = begin % f->out_size[1], d = begin / f->out_size[1] % f->out_size[0], image = begin / f->out_size[1] / f->out_size[0];
  for (int64_t row = begin; row < end; row++) {
    int64_t t = 0;
    for (int64_t kd = 0; kd < f->kernel[0]; kd++) {
      for (int64_t kh = 0; kh < f->kernel[1]; kh++) {
        const uint8_t* line = lines.at(kd, kh, image, d * f->stride[0] - f->padding[0] + kd * f->dilation[0],
                                       h * f->stride[1] - f->padding[1] + kh * f->dilation[1]);
        for (int64_t kw = 0; kw < f->kernel[2]; kw++) taps[t++] = line + kw * f->dilation[2] * lines.unit();
      }
    }
    // the taps that make up the last four may be anything: their weights are 0
    for (; t < 4 * quads; t++) taps[t] = taps[0];
    uint8_t* out = reinterpret_cast<uint8_t*>(f->out) + row * out_row + first;
    const int64_t count = f->out_size[2], step = f->stride[2] * lines.unit();
    if (form == kUsualForm && call.is_usual) block.template pixels<kUsualQuads>(taps, quads, count, step, out, channels, lanes, narrow);
    else block.template pixels<0>(taps, quads, count, step, out, channels, lanes, narrow);
    if (++h < f->out_size[1]) continue;
    h = 0;
    if (++d < f->out_size[0]) continue;
    d = 0;
    ++image;
  }
}

template <Form form>
int32_t all(const quantized_depthwise_frame* f) {
  // of no outputs there is no line to walk
  if (f->batch == 0 || f->out_size[0] * f->out_size[1] * f->out_size[2] == 0) return PTLITE_OK;
  const Call call(f);
  if (!Lines::fit(call)) return PTLITE_NO_MEMORY;
  const int64_t blocks = (f->channels + kChannels - 1) / kChannels, rows = call.rows;
  const int64_t work = f->out_size[2] * call.taps * kChannels;
  const Narrow narrow({f->out_zero, f->min, f->max}, f->a_dtype == kQInt8);
  std::atomic<bool> done{true};
  const auto share = [&](int64_t count, int64_t steps, const auto& run) {
    ptlite::parallel_for(count, ptlite::grain_for(steps), [&](int64_t begin, int64_t end) {
      const Scratch<form> scratch(call);
      if (scratch.weights == nullptr) done = false;
      else run(scratch, begin, end);
    });
  };
  // threads that share rows find what they read where products before have put it, which share rows of pixels
  if (rows >= 4 * ptlite::thread_limit()) {
    share(rows, work * blocks, [&](const Scratch<form>& scratch, int64_t begin, int64_t end) {
      for (int64_t block = 0; block < blocks; block++) part<form>(call, scratch, narrow, block * kChannels, begin, end);
    });
  } else {
    share(blocks * rows, work, [&](const Scratch<form>& scratch, int64_t begin, int64_t end) {
      for (int64_t block_end; begin < end; begin = block_end) {
        const int64_t first = begin / rows * rows;
        block_end = first + rows < end ? first + rows : end;
        part<form>(call, scratch, narrow, begin / rows * kChannels, begin - first, block_end - first);
      }
    });
  }
  return done ? PTLITE_OK : PTLITE_NO_MEMORY;
}

int32_t depthwise(quantized_depthwise_frame* f) {
#if defined(PTLITE_INT8_DOT)
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
