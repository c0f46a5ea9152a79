// Rows of 8-bit activations for the quantized products: rows of a matrix, or windows of a convolution over channels-last
// input. Those that are signed are shifted by 128, so that all are unsigned, or the other way round where the level has products of signed ones.
#pragma once

#include <string.h>

#include "frames/quantized.h"
#include "ops/quantized/quantized_tile.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {
namespace int8 {

class Rows {
 public:
  Rows(const quantized_gemm_frame* f, bool is_signed)
      : f_(f), flip_(is_signed != kSignedActivations ? 128 : 0), zero_(static_cast<uint8_t>(f->a_zero + flip_)) {}

  // Bytes of scratch that `pack` needs for one row.
  static size_t line_bytes(int64_t k) { return static_cast<size_t>((k + kChunk - 1) / kChunk * kChunk); }
  static size_t block_bytes(int64_t k) { return line_bytes(k) * kRows * (form_of(255) == Form::kBytes ? 1 : 2); }

  // Rows first.. to `line`, each filled up to `length` bytes with zeros.
  void lines(int64_t first, int64_t rows, uint8_t* line, int64_t length) const {
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t i = f_->k; i < length; i++) line[r * length + i] = 0;
    }
    if (f_->taps == 0) {
      for (int64_t r = 0; r < rows; r++, line += length) {
        read(reinterpret_cast<const uint8_t*>(f_->a) + (first + r) * f_->a_stride, line, f_->k);
      }
      return;
    }
    Output output = output_at(first);
    if (!f_->transposed && f_->dilation[2] == 1 && f_->pixel_stride == f_->channels && flip_ == 0) {
      for (int64_t count; rows > 0; rows -= count, line += count * length) {
        const int64_t left = f_->out_size[2] - output.w;
        count = rows < left ? rows : left;
        windows_of_row(output, count, line, length);
        output.w += count - 1;
        advance(&output);
      }
      return;
    }
    for (int64_t r = 0; r < rows; r++, line += length) {
      window(output, line);
      advance(&output);
    }
  }

  static int32_t sum_of(const uint8_t* line, int64_t n) {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += kSignedActivations ? static_cast<int8_t>(line[i]) : line[i];
    return sum;
  }

  // Rows first.. to `block`, zeros where there are fewer than kRows; `line` is kRows lines of scratch. Sums of the rows
  // are left in `sums` where it is not null. Gives the form the block is in.
  Form pack(int64_t first, int64_t rows, uint8_t* line, uint8_t* block, int32_t* sums) const {
    const int64_t length = static_cast<int64_t>(line_bytes(f_->k));
    lines(first, rows, line, length);
    uint8_t bits = 0;
    for (int64_t r = 0; r < rows; r++) {
      bits |= bits_of(line + r * length, length);
      if (sums != nullptr) sums[r] = sum_of(line + r * length, f_->k);
    }
    const Form form = form_of(bits);
    for (int64_t r = 0; r < kRows; r++) {
      for (int64_t c = 0; c < length; c += kChunk) {
        uint8_t* out = block + (c * kRows + r * kChunk) * (chunk_bytes(form) / kChunk);
        if (r >= rows) memset(out, 0, static_cast<size_t>(chunk_bytes(form)));
        else if (form == Form::kBytes) memcpy(out, line + r * length + c, kChunk);
        else if (form == Form::kHalves) halve(line + r * length + c, out);
        else widen(line + r * length + c, out);
      }
    }
    return form;
  }

 private:
  void read(const uint8_t* in, uint8_t* out, int64_t n) const {
    if (flip_ == 0) {
      memcpy(out, in, static_cast<size_t>(n));
    } else {
      for (int64_t i = 0; i < n; i++) out[i] = in[i] ^ 128;
    }
  }

  static uint8_t bits_of(const uint8_t* line, int64_t length) {
    uint8_t bits = 0;
    for (int64_t i = 0; i < length; i++) bits |= line[i];
    return bits;
  }

  // 64 bytes: upper 7 bits, then the last one.
  static void halve([[maybe_unused]] const uint8_t* in, [[maybe_unused]] uint8_t* out) {
#if defined(PTLITE_INT8_HALVES)
    for (int64_t i = 0; i < kChunk; i += static_cast<int64_t>(sizeof(Reg))) {
      const Reg x = load(in + i);
      store(out + i, upper_bits(x));
      store(out + kChunk + i, last_bit(x));
    }
#endif
  }

  // 64 bytes to int16: of every four the even ones, then the odd ones.
  static void widen(const uint8_t* in, uint8_t* out) {
    for (int64_t i = 0; i < kChunk; i += static_cast<int64_t>(sizeof(Reg))) {
      const Reg x = load(in + i);
      store(out + i, both(x, broadcast(0x00ff00ff)));
      store(out + kChunk + i, high_bytes_unsigned(x));
    }
  }

  // Where tap `t` of output position `o` reads along one axis; -1 outside.
  int64_t input_position(int axis, int64_t o, int64_t t) const {
    int64_t i;
    if (f_->transposed) {
      const int64_t scaled = o + f_->padding[axis] - t * f_->dilation[axis];
      if (scaled < 0 || scaled % f_->stride[axis] != 0) return -1;
      i = scaled / f_->stride[axis];
    } else {
      i = o * f_->stride[axis] - f_->padding[axis] + t * f_->dilation[axis];
    }
    return i >= 0 && i < f_->in_size[axis] ? i : -1;
  }

  // An element of a convolution's output: its image, depth, row and column.
  struct Output {
    int64_t image = 0, d = 0, h = 0, w = 0;
  };

  Output output_at(int64_t m) const {
    Output o;
    o.w = m % f_->out_size[2];
    m /= f_->out_size[2];
    o.h = m % f_->out_size[1];
    m /= f_->out_size[1];
    o.d = m % f_->out_size[0];
    o.image = m / f_->out_size[0];
    return o;
  }

  void advance(Output* o) const {
    if (++o->w < f_->out_size[2]) return;
    o->w = 0;
    if (++o->h < f_->out_size[1]) return;
    o->h = 0;
    if (++o->d < f_->out_size[0]) return;
    o->d = 0;
    ++o->image;
  }

  void window(const Output& o, uint8_t* line) const {
    const auto* in = reinterpret_cast<const uint8_t*>(f_->a);
    for (int64_t kd = 0; kd < f_->kernel[0]; kd++) {
      const int64_t id = input_position(0, o.d, kd);
      for (int64_t kh = 0; kh < f_->kernel[1]; kh++) {
        const int64_t ih = input_position(1, o.h, kh);
        for (int64_t kw = 0; kw < f_->kernel[2]; kw++, line += f_->channels) {
          const int64_t iw = input_position(2, o.w, kw);
          if (id < 0 || ih < 0 || iw < 0) {
            memset(line, zero_, static_cast<size_t>(f_->channels));
          } else {
            const int64_t pixel = ((o.image * f_->in_size[0] + id) * f_->in_size[1] + ih) * f_->in_size[2] + iw;
            read(in + pixel * f_->pixel_stride, line, f_->channels);
          }
        }
      }
    }
  }

  // The windows of `count` neighbours in a row of the output, where a row of a window lies together in the input.
  void windows_of_row(const Output& o, int64_t count, uint8_t* line, int64_t length) const {
    const int64_t channels = f_->channels, columns = f_->kernel[2], bytes = columns * channels, step = f_->stride[2] * channels;
    const int64_t start = o.w * f_->stride[2] - f_->padding[2];
    for (int64_t kd = 0; kd < f_->kernel[0]; kd++) {
      const int64_t id = input_position(0, o.d, kd);
      for (int64_t kh = 0; kh < f_->kernel[1]; kh++, line += bytes) {
        const int64_t ih = input_position(1, o.h, kh);
        const int64_t row = ((o.image * f_->in_size[0] + id) * f_->in_size[1] + ih) * f_->in_size[2];
        const auto* in = reinterpret_cast<const uint8_t*>(f_->a) + (row + start) * channels;
        const bool inside = id >= 0 && ih >= 0;
        // windows before `begin` and from `end` leave the row
        int64_t begin = 0, end = count;
        while (begin < end && (!inside || start + begin * f_->stride[2] < 0)) begin++;
        while (end > begin && start + (end - 1) * f_->stride[2] + columns > f_->in_size[2]) end--;
        for (int64_t i = 0; i < count; i++) {
          if (i == begin && begin < end) {
            copy_rows(in + i * step, step, line + i * length, length, end - begin, bytes);
            i = end - 1;
            continue;
          }
          uint8_t* out = line + i * length;
          memset(out, zero_, static_cast<size_t>(bytes));
          const int64_t w = start + i * f_->stride[2], before = w < 0 ? -w : 0;
          const int64_t after = w + columns > f_->in_size[2] ? f_->in_size[2] - w : columns;
          if (inside && before < after) {
            memcpy(out + before * channels, in + i * step + before * channels, static_cast<size_t>((after - before) * channels));
          }
        }
      }
    }
  }

  // `count` runs of `bytes`, which are often fewer than a call of memcpy is worth.
  static void copy_rows(const uint8_t* in, int64_t in_step, uint8_t* out, int64_t out_step, int64_t count, int64_t bytes) {
    if (bytes >= 8 && bytes <= 16) {
      for (int64_t i = 0; i < count; i++, in += in_step, out += out_step) {
        uint64_t first, last;
        memcpy(&first, in, 8);
        memcpy(&last, in + bytes - 8, 8);
        memcpy(out, &first, 8);
        memcpy(out + bytes - 8, &last, 8);
      }
    } else {
      for (int64_t i = 0; i < count; i++, in += in_step, out += out_step) memcpy(out, in, static_cast<size_t>(bytes));
    }
  }

  const quantized_gemm_frame* f_;
  const int32_t flip_;
  const uint8_t zero_;
};

}  // namespace int8
}  // namespace CPU_CAPABILITY
}  // namespace ptlite
