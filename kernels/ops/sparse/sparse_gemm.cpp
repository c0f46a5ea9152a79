// Runs block-sparse GEMM: packs the activations into panels and hands them to the generated code, or does the work itself.
// The panels at hand stay in the second-level cache while the weights pass by.
#include <algorithm>
#include <atomic>

#include "frames/jit.h"
#include "frames/sparse.h"
#include "dispatch/kernel.h"
#include "jit/sparse_call.h"
#include "jit/sparse_kernel.h"
#include "ops/fused/algorithm_functions.h"
#include "ops/sparse/sparse_panels.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

using namespace ptlite;
using ptlite::jit::SparseCall;
using ptlite::jit::SparseKernel;

// Bytes of packed activations: about half of a 1 MiB second-level cache.
constexpr int64_t kPackedBytes = 512 << 10;
// Channels of a row that follow each other: a cache line.
constexpr int64_t kGroup = 16;
int64_t channel_offset(int64_t channel, int64_t group) { return channel / kGroup * group + channel % kGroup; }

constexpr int kLanes = F32::size;

float widened(float weight) { return weight; }
float widened(bfloat16 weight) { return to_float(weight); }

// Post-ops of one vector: `lanes` output channels of a row, or rows of a channel.
F32 finish(const SparseKernel& kernel, const SparseCall& call, F32 x, int64_t row, int64_t channel, int lanes) {
  const bool pixels = kernel.form == SparseForm_channels;
  for (int i = 0; i < static_cast<int>(kernel.steps.size()); i++) {
    const jit::SparseStep& step = kernel.steps[i];
    if (!is_binary_post_op(step.algorithm)) {
      x = post_op(step.algorithm, x, {step.alpha, step.beta, step.scale});
      continue;
    }
    const float* base = call.operands[i];
    const int64_t stride = call.operand_bytes[i] / 4;
    F32 operand;
    if (step.access == JitAccess_scalar) operand = F32(*base);
    else if (step.access == JitAccess_row) operand = pixels ? F32(base[channel]) : F32::load(base + channel, lanes);
    else operand = pixels ? F32::load(base + channel * stride + row, lanes) : F32::load(base + row * stride + channel, lanes);
    x = binary_post_op(step.algorithm, x, operand);
  }
  return x;
}

// Four rows of one vector of columns at a time; `part` is the vector's place in its block.
template <class W>
void column_of_rows(const SparseKernel& kernel, const SparseCall& call, const float* panel, int64_t first_row, int part) {
  const int width = kernel.matrix.width, channel = part * kLanes;
  const auto* values = reinterpret_cast<const W*>(call.values);
  const int lanes = call.lanes - channel;
  const int64_t out_stride = call.out_bytes / 4;
  const F32 bias = call.bias == nullptr ? F32::zero() : F32::load(call.bias + channel, lanes);
  const int64_t turns = jit::sums_in_turns(kernel.form == SparseForm_rows, kernel.rows);
  const int64_t in_turns = call.blocks / turns * turns;
  for (int row = 0; row < kernel.rows && first_row + row < call.m; row += 4) {
    const int rows = static_cast<int>(std::min<int64_t>({4, kernel.rows - row, call.m - first_row - row}));
    float* out = call.out + (first_row + row) * out_stride + channel;
    const auto add_blocks = [&](F32* sums, int64_t from, int64_t to, int64_t step) {
      for (int64_t i = from; i < to; i += step) {
        const F32 weights = load_float(values + i * width + channel);
        const float* activations = panel + call.offsets[i] / 4 + row;
        for (int r = 0; r < rows; r++) sums[r] = fma(weights, F32(activations[r]), sums[r]);
      }
    };
    F32 sums[4] = {bias, bias, bias, bias};
    add_blocks(sums, 0, in_turns, turns);
    add_blocks(sums, in_turns, call.blocks, 1);
    for (int64_t turn = 1; turn < turns; turn++) {
      F32 others[4] = {F32::zero(), F32::zero(), F32::zero(), F32::zero()};
      add_blocks(others, turn, in_turns, turns);
      for (int r = 0; r < 4; r++) sums[r] = sums[r] + others[r];
    }
    for (int r = 0; r < rows; r++) {
      finish(kernel, call, sums[r], first_row + row + r, channel, lanes).store(out + r * out_stride, lanes);
    }
  }
}

// Four channels of one vector of pixels at a time.
template <class W>
void column_of_channels(const SparseKernel& kernel, const SparseCall& call, const float* panel, int64_t first_pixel, int pixel) {
  const int width = kernel.matrix.width;
  const auto* values = reinterpret_cast<const W*>(call.values);
  const int64_t at = first_pixel + pixel;
  if (at >= call.m) return;
  const int64_t left = std::min<int64_t>(call.m - at, kLanes), out_stride = call.out_bytes / 4;
  for (int channel = 0; channel < call.lanes; channel += 4) {
    const int channels = std::min(4, call.lanes - channel);
    float* out = call.out + channel * out_stride + at;
    F32 sums[4];
    for (int c = 0; c < channels; c++) sums[c] = call.bias == nullptr ? F32::zero() : F32(call.bias[channel + c]);
    for (int64_t i = 0; i < call.blocks; i++) {
      const F32 activations = F32::load(panel + call.offsets[i] / 4 + pixel);
      for (int c = 0; c < channels; c++) sums[c] = fma(F32(widened(values[i * width + channel + c])), activations, sums[c]);
    }
    for (int c = 0; c < channels; c++) {
      finish(kernel, call, sums[c], at, channel + c, static_cast<int>(left)).store(out + c * out_stride, left);
    }
  }
}

template <class W>
void column_compiled(const SparseKernel& kernel, const SparseCall& call) {
  const auto* panel = reinterpret_cast<const char*>(call.panels);
  for (int64_t row = 0; row < call.m; row += kernel.rows, panel += call.panel_bytes) {
    const auto* activations = reinterpret_cast<const float*>(panel);
    if (kernel.form == SparseForm_channels) {
      for (int pixel = 0; pixel < kernel.rows; pixel += kLanes) column_of_channels<W>(kernel, call, activations, row, pixel);
    } else {
      for (int part = 0; part * kLanes < call.lanes; part++) column_of_rows<W>(kernel, call, activations, row, part);
    }
  }
}

void run_code(const SparseKernel& kernel, const SparseCall& call) {
  if (jit::is_ready(kernel.code)) kernel.code->entry<jit::SparseFunction>()(&call);
  else if (kernel.matrix.halves) column_compiled<bfloat16>(kernel, call);
  else column_compiled<float>(kernel, call);
}

// f(begin, end) over [0, count), by several threads where it is shared. f is compiled once.
template <class F>
void share(bool shared, int64_t count, int64_t grain, const F& f) {
  const auto task = [](const void* context, int64_t begin, int64_t end) { (*static_cast<const F*>(context))(begin, end); };
  parallel_ranges(count, shared ? grain : count, task, &f);
}

// One run of a kernel: how its pieces are packed and computed.
class Run {
 public:
  Run(const SparseKernel& kernel, const sparse_gemm_frame& f)
      : kernel_(kernel), f_(f), channel_major_(kernel.form == SparseForm_channels), panel_floats_(kernel.matrix.k * kernel.stride),
        panels_((f.m + kernel.rows - 1) / kernel.rows),
        block_(std::clamp<int64_t>(kPackedBytes / (panel_floats_ * 4), 1, panels_)), row_blocks_((panels_ + block_ - 1) / block_) {}

  // False where memory is short.
  bool all() {
    const int64_t units = row_blocks_ * f_.batch;
    const int threads = thread_limit();
    std::atomic<bool> fine{true};
    if (threads > 1 && units >= 2 * threads) {
      // each thread has panels of its own
      share(true, units, grain_for(products() * block_ * kernel_.rows), [&](int64_t begin, int64_t end) {
        auto* packed = static_cast<float*>(range_scratch(packed_bytes()));
        if (packed == nullptr) fine = false;
        else for (int64_t unit = begin; unit < end; unit++) one(unit, packed, false);
      });
      return fine;
    }
    auto* packed = static_cast<float*>(ptlite_scratch(packed_bytes()));
    if (packed == nullptr) return false;
    for (int64_t unit = 0; unit < units; unit++) one(unit, packed, true);
    return true;
  }

 private:
  size_t packed_bytes() const { return static_cast<size_t>(block_ * panel_floats_) * sizeof(float); }
  // Multiply-adds for a row of x.
  int64_t products() const { return kernel_.matrix.blocks() * kernel_.matrix.width; }

  // A block of rows of one matrix. Where it is `shared`, threads share out its channels while packing, and then its columns.
  __attribute__((noinline)) void one(int64_t unit, float* packed, bool shared) const {
    const int64_t matrix = unit / row_blocks_, first = unit % row_blocks_ * block_;
    const int64_t panels = std::min(block_, panels_ - first);
    share(shared, (kernel_.matrix.k + kGroup - 1) / kGroup, grain_for(kGroup * kernel_.stride * panels / 2), [&](int64_t begin, int64_t end) {
      const int64_t k0 = begin * kGroup, k1 = std::min(end * kGroup, kernel_.matrix.k);
      for (int64_t p = 0; p < panels; p++) pack(matrix, first + p, k0, k1, packed + p * panel_floats_);
    });
    SparseCall call = call_of(matrix, first * kernel_.rows, std::min(panels * kernel_.rows, f_.m - first * kernel_.rows));
    call.panels = packed;
    call.panel_bytes = panel_floats_ * 4;
    if (kernel_.whole) {
      share(shared, panels, grain_for(products() * kernel_.rows), [&](int64_t begin, int64_t end) { run_panels(call, begin, end); });
      return;
    }
    const int64_t columns = kernel_.matrix.columns();
    share(shared, columns, grain_for(products() / columns * call.m), [&](int64_t begin, int64_t end) {
      for (int64_t column = begin; column < end; column++) run_column(call, column);
    });
  }

  // Channels [k0, k1) of a panel.
  __attribute__((noinline)) void pack(int64_t matrix, int64_t panel, int64_t k0, int64_t k1, float* to) const {
    const int64_t row = panel * kernel_.rows;
    const int filled = static_cast<int>(std::min<int64_t>(kernel_.rows, f_.m - row));
    const float* x = reinterpret_cast<const float*>(f_.x) + matrix * f_.x_batch;
    to += k0 * kernel_.stride;
    if (channel_major_) {
      pack_channels(x + k0 * f_.x_stride + row, f_.x_stride, filled, k1 - k0, to, kernel_.stride);
      return;
    }
    x += row * f_.x_stride;
    const int64_t whole = f_.x_group == kGroup ? k1 - k0 : kGroup;
    for (int64_t k = k0; k < k1; k += whole, to += whole * kernel_.stride) {
      pack_rows(x + k / kGroup * f_.x_group, f_.x_stride, filled, std::min(whole, k1 - k), to, kernel_.stride);
    }
  }

  // For `rows` rows from `row` on and the first column.
  SparseCall call_of(int64_t matrix, int64_t row, int64_t rows) const {
    SparseCall call{};
    call.values = kernel_.matrix.values();
    call.bias = reinterpret_cast<const float*>(f_.bias);
    call.m = rows;
    call.out_bytes = f_.out_stride * 4;
    call.out = reinterpret_cast<float*>(f_.out) + matrix * f_.out_batch + (channel_major_ ? row : row * f_.out_stride);
    for (size_t i = 0; i < kernel_.steps.size(); i++) {
      const auto* operand = reinterpret_cast<const float*>(f_.operands[i]);
      call.operand_bytes[i] = f_.operand_strides[i] * 4;
      if (operand != nullptr) operand += matrix * f_.operand_batches[i];
      if (operand != nullptr && kernel_.steps[i].access == JitAccess_full) operand += channel_major_ ? row : row * f_.operand_strides[i];
      call.operands[i] = operand;
    }
    return call;
  }

  void run_column(SparseCall call, int64_t column) const {
    const jit::SparseMatrix& matrix = kernel_.matrix;
    const int64_t begin = matrix.start[column], channel = column * matrix.width;
    call.offsets = kernel_.offsets.data() + begin;
    call.blocks = matrix.start[column + 1] - begin;
    call.values += begin * matrix.block_bytes();
    if (call.bias != nullptr) call.bias += channel;
    call.out += channel_major_ ? channel * f_.out_stride : channel_offset(channel, f_.out_group);
    for (size_t i = 0; i < kernel_.steps.size(); i++) {
      const int32_t access = kernel_.steps[i].access;
      if (access == JitAccess_row) call.operands[i] += channel;
      if (access == JitAccess_full) call.operands[i] += channel_major_ ? channel * f_.operand_strides[i] : channel_offset(channel, f_.operand_groups[i]);
    }
    call.lanes = static_cast<int32_t>(std::min<int64_t>(matrix.width, matrix.n - channel));
    if (matrix.width == 16) call.mask[0] = (uint32_t{1} << call.lanes) - 1;
    else for (int i = 0; i < 8; i++) call.mask[i] = i < call.lanes ? ~uint32_t{0} : 0;
    run_code(kernel_, call);
  }

  // All columns, for panels [begin, end) of the call.
  void run_panels(SparseCall call, int64_t begin, int64_t end) const {
    const int64_t row = begin * kernel_.rows;
    call.panels += begin * panel_floats_;
    call.out += row * f_.out_stride;
    for (size_t i = 0; i < kernel_.steps.size(); i++) {
      if (kernel_.steps[i].access == JitAccess_full) call.operands[i] += row * f_.operand_strides[i];
    }
    call.m = std::min(call.m, end * kernel_.rows) - row;
    run_code(kernel_, call);
  }

  const SparseKernel& kernel_;
  const sparse_gemm_frame& f_;
  const bool channel_major_;
  const int64_t panel_floats_;
  const int64_t panels_;
  const int64_t block_;       // panels that are packed at a time
  const int64_t row_blocks_;  // of so many panels
};

int32_t operand_of(const jit::SparseStep& step) {
  if (!is_binary_post_op(step.algorithm)) return SparseOperand_none;
  return step.access == JitAccess_scalar ? SparseOperand_scalar : step.access == JitAccess_row ? SparseOperand_row : SparseOperand_full;
}

// The frame is one for this kernel: what it says of it is what its reach was checked by.
bool fits(const sparse_gemm_frame& f, const SparseKernel& kernel) {
  if (f.n != kernel.matrix.n || f.k != kernel.matrix.k || f.form != kernel.form || f.post_ops != static_cast<int32_t>(kernel.steps.size())) return false;
  if (kernel.has_bias && f.bias == 0) return false;
  if (kernel.form == SparseForm_unrolled && (f.x_group != kGroup || f.out_group != kGroup)) return false;
  for (int32_t i = 0; i < f.post_ops; i++) {
    if (f.access[i] != operand_of(kernel.steps[i])) return false;
  }
  return true;
}

int32_t run(sparse_gemm_frame* f) {
  if (f->m <= 0 || f->batch <= 0) return PTLITE_OK;
  const auto& kernel = *reinterpret_cast<const SparseKernel*>(f->handle);
  if (!fits(*f, kernel)) return PTLITE_INDEX_RANGE;
  return Run(kernel, *f).all() ? PTLITE_OK : PTLITE_NO_MEMORY;
}

}  // namespace

PTLITE_KERNEL(sparse_gemm, run)
