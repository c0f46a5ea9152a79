// isa: AVX512_BF16, AMX, BF16
// Convolution of bfloat16 as a product: weights [out channels, k] by the windows of the input [k, windows], which are
// gathered panel by panel.
#include "frames/bfloat16.h"
#include "dispatch/kernel.h"
#include "ops/gemm/bfloat16_product.h"

namespace {

using namespace ptlite::bf16;
using ptlite::bfloat16;

class Windows {
 public:
  Windows(const bfloat16_conv_frame* f, const bfloat16* image) : f_(f), image_(image) {}

  // Element `p` (channel, then tap) of `count` windows from `first` on.
  void row(int64_t p, int64_t first, int64_t count, bfloat16* out) const {
    const int64_t kw = p % f_->kernel[2], kh = p / f_->kernel[2] % f_->kernel[1], kd = p / (f_->kernel[2] * f_->kernel[1]) % f_->kernel[0];
    const bfloat16* plane = image_ + p / (f_->kernel[0] * f_->kernel[1] * f_->kernel[2]) * (f_->in[0] * f_->in[1] * f_->in[2]);
    int64_t w = first % f_->out[2], h = first / f_->out[2] % f_->out[1], d = first / (f_->out[2] * f_->out[1]);
    while (count > 0) {
      const int64_t run = std::min(count, f_->out[2] - w);
      const int64_t id = d * f_->stride[0] - f_->padding[0] + kd * f_->dilation[0];
      const int64_t ih = h * f_->stride[1] - f_->padding[1] + kh * f_->dilation[1];
      if (id < 0 || id >= f_->in[0] || ih < 0 || ih >= f_->in[1]) memset(out, 0, static_cast<size_t>(run) * 2);
      else line(plane + (id * f_->in[1] + ih) * f_->in[2], w * f_->stride[2] - f_->padding[2] + kw * f_->dilation[2], run, out);
      out += run;
      count -= run;
      w = 0;
      if (++h == f_->out[1]) {
        h = 0;
        d++;
      }
    }
  }

 private:
  // `run` elements from position `at` on, a stride apart, zero outside the line.
  void line(const bfloat16* in, int64_t at, int64_t run, bfloat16* out) const {
    const int64_t step = f_->stride[2], size = f_->in[2];
    const int64_t before = at >= 0 ? 0 : std::min(run, (-at + step - 1) / step);
    const int64_t inside = at >= size ? 0 : std::min(run, (size - at + step - 1) / step);
    for (int64_t i = 0; i < before; i++) out[i] = bfloat16{0};
    if (step == 1) {
      if (inside > before) memcpy(out + before, in + at + before, static_cast<size_t>(inside - before) * 2);
    } else {
      for (int64_t i = before; i < inside; i++) out[i] = in[at + i * step];
    }
    for (int64_t i = std::max(before, inside); i < run; i++) out[i] = bfloat16{0};
  }

  const bfloat16_conv_frame* f_;
  const bfloat16* image_;
};

int32_t conv(bfloat16_conv_frame* f) {
  const int64_t m = f->out_channels / f->groups, channels = f->in_channels / f->groups;
  const int64_t k = channels * f->kernel[0] * f->kernel[1] * f->kernel[2], n = f->out[0] * f->out[1] * f->out[2];
  const int64_t depth = round_up(k, kStep), plane = f->in[0] * f->in[1] * f->in[2];
  const auto* input = reinterpret_cast<const bfloat16*>(f->input);
  const auto* weight = reinterpret_cast<const bfloat16*>(f->weight);
  const auto* bias = reinterpret_cast<const bfloat16*>(f->bias);
  auto* output = reinterpret_cast<bfloat16*>(f->output);
  for (int64_t i = 0; i < f->batch * f->groups; i++) {
    const int64_t group = i % f->groups;
    const Windows windows(f, input + i * channels * plane);
    const auto pack = [&](int64_t n0, int64_t cols, int64_t width, bfloat16* panel) {
      pack_panel_by_rows(k, depth, width, [&](int64_t p, bfloat16* out) { windows.row(p, n0, cols, out); }, panel);
    };
    const Addend e{{bias == nullptr ? nullptr : bias + group * m, 1, 0}, 1, 1};
    if (!product(m, n, k, Strided{weight + group * m * k, k, 1}, pack, e, output + i * m * n, n)) return PTLITE_NO_MEMORY;
  }
  return PTLITE_OK;
}

int32_t by_pairs(bfloat16_conv_frame* f) { return run_by_pairs(f, conv); }

}  // namespace

PTLITE_KERNEL(bfloat16_conv, by_pairs)
