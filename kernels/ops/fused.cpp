// Element-wise chains of compiled graphs: by generated code where the frame has some, or else step by step.
#include "frames/fused.h"

#include <algorithm>

#include "isa/kernel.h"
#include "jit/elementwise_call.h"
#include "ops/step_program.h"
#include "pool/pool.h"

namespace {

using namespace ptlite;

constexpr int kInputs = StepProgram::kMostInputs, kDims = 6;
/// Elements that are worth a call of their own on another thread.
constexpr int64_t kPiece = 4096;

struct Chain {
  const fused_frame& f;
  int64_t length, rows;
  float* out;

  explicit Chain(const fused_frame& frame) : f(frame), length(f.sizes[0]), rows(1), out(reinterpret_cast<float*>(f.out)) {
    for (int d = 1; d < f.ndim; d++) rows *= f.sizes[d];
  }

  const float* input(int k) const { return reinterpret_cast<const float*>(f.in[k]); }

  /// Elements from the start of each input to row `row`.
  void offsets_of(int64_t row, int64_t* offsets) const {
    std::fill(offsets, offsets + kInputs, 0);
    for (int d = 1; d < f.ndim; d++) {
      const int64_t at = row % f.sizes[d];
      row /= f.sizes[d];
      for (int k = 0; k < f.inputs; k++) offsets[k] += at * f.strides[k * kDims + d];
    }
  }

  /// Rows [begin, end), columns [first, first + count), by the generated code. Rows of the second dimension go together.
  void run_generated(int64_t begin, int64_t end, int64_t first, int64_t count) const {
    const int64_t group = f.ndim > 1 ? f.sizes[1] : 1;
    int64_t offsets[kInputs];
    for (int64_t row = begin; row < end;) {
      const int64_t some = std::min(group - row % group, end - row);
      offsets_of(row, offsets);
      jit::ElementwiseCall call;
      call.out = out + row * length + first;
      call.rows = some;
      call.length = count;
      call.out_step = length * 4;
      for (int k = 0; k < f.inputs; k++) {
        call.in[k] = input(k) + offsets[k] + first * f.strides[k * kDims];
        call.in_step[k] = f.ndim > 1 ? f.strides[k * kDims + 1] * 4 : 0;
      }
      jit::run_elementwise(f.code, call);
      row += some;
    }
  }

  void generated() const {
    if (rows > 1 && length < kPiece) {
      parallel_for(rows, grain_for(length * f.steps), [&](int64_t begin, int64_t end) { run_generated(begin, end, 0, length); });
      return;
    }
    const int64_t pieces = (length + kPiece - 1) / kPiece;
    const int64_t grain = std::max<int64_t>(1, grain_for(kPiece * f.steps));
    for (int64_t row = 0; row < rows; row++) {
      parallel_for(pieces, grain, [&](int64_t begin, int64_t end) {
        run_generated(row, row + 1, begin * kPiece, std::min(end * kPiece, length) - begin * kPiece);
      });
    }
  }

  void compiled(const StepProgram& program) const {
    const int64_t blocks = (length + StepProgram::kBlock - 1) / StepProgram::kBlock;
    parallel_for(rows * blocks, grain_for(std::min(length, StepProgram::kBlock) * f.steps), [&](int64_t begin, int64_t end) {
      StepBuffers buffers;
      int64_t offsets[kInputs];
      StepInput inputs[kInputs];
      for (int64_t unit = begin; unit < end; unit++) {
        const int64_t row = unit / blocks, first = unit % blocks * StepProgram::kBlock;
        offsets_of(row, offsets);
        for (int k = 0; k < f.inputs; k++) {
          const int64_t step = f.strides[k * kDims];
          inputs[k] = {input(k) + offsets[k] + first * step, step};
        }
        run_steps(program, inputs, std::min(StepProgram::kBlock, length - first), out + row * length + first, buffers);
      }
    });
  }
};

int32_t fused(fused_frame* frame) {
  const fused_frame& f = *frame;
  const StepProgram program{f.inputs, f.steps, f.op, f.a, f.b, f.p0, f.p1};
  if (!program.valid() || f.ndim < 1 || f.ndim > kDims) return PTLITE_NO_KERNEL;
  const Chain chain(f);
  // stores that go past the caches want whole aligned vectors
  const bool fits = f.streaming == 0 || (f.out % 64 == 0 && (chain.rows == 1 || chain.length % 16 == 0));
  if (f.code != 0 && fits) chain.generated();
  else chain.compiled(program);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(fused, fused)
