// Element-wise chains of compiled graphs: by generated code where the frame has some, or else step by step.
#include "frames/fused.h"

#include <algorithm>

#include "dispatch/kernel.h"
#include "jit/elementwise_call.h"
#include "ops/fused/step_program.h"
#include "pool/pool.h"
#include "vec/half.h"

namespace {

using namespace ptlite;

constexpr int kInputs = StepProgram::kMostInputs, kDims = PTLITE_FUSED_DIMS;
/// Elements that are worth a call of their own on another thread.
constexpr int64_t kPiece = 4096;

int64_t bytes_of(int32_t dtype) { return dtype == PTLITE_FLOAT32 ? 4 : dtype == PTLITE_BOOL ? 1 : 2; }

bool is_known(int32_t dtype) {
  return dtype == PTLITE_FLOAT32 || dtype == PTLITE_BFLOAT16 || dtype == PTLITE_FLOAT16 || dtype == PTLITE_BOOL;
}

/// Calls f with an element of the dtype; bools are bytes.
template <class F>
void with_element(int32_t dtype, F f) {
  switch (dtype) {
    case PTLITE_BFLOAT16: return f(bfloat16{});
    case PTLITE_FLOAT16: return f(float16{});
    case PTLITE_BOOL: return f(uint8_t{});
    default: f(float{});
  }
}

Vec<float> load_lanes(const uint8_t* p, int64_t count) {
  int32_t lanes[Vec<float>::size];
  for (int64_t i = 0; i < Vec<float>::size; i++) lanes[i] = i < count && p[i] != 0 ? -1 : 0;
  return bit_cast<float>(Vec<int32_t>::load(lanes));
}
template <class T>
Vec<float> load_lanes(const T* p, int64_t count) {
  return load_float(p, count);
}

void store_lanes(uint8_t* p, Vec<float> x, int64_t count) {
  int32_t lanes[Vec<float>::size];
  bit_cast<int32_t>(x).store(lanes);
  for (int64_t i = 0; i < count; i++) p[i] = lanes[i] != 0;
}
template <class T>
void store_lanes(T* p, Vec<float> x, int64_t count) {
  store_float(p, x, count);
}

/// `count` elements, `step` apart, as steps compute with them.
void widen(const char* from, int32_t dtype, int64_t step, int64_t count, float* to) {
  constexpr int64_t lanes = Vec<float>::size;
  with_element(dtype, [&](auto element) {
    using T = decltype(element);
    const T* in = reinterpret_cast<const T*>(from);
    if (step == 1) {
      for (int64_t i = 0; i < count; i += lanes) load_lanes(in + i, std::min(lanes, count - i)).store(to + i);
      return;
    }
    T some[lanes] = {};
    for (int64_t i = 0; i < count; i += lanes) {
      for (int64_t j = 0; j < std::min(lanes, count - i); j++) some[j] = in[(i + j) * step];
      load_lanes(some, lanes).store(to + i);
    }
  });
}

void narrow(const float* from, int32_t dtype, int64_t count, char* to) {
  constexpr int64_t lanes = Vec<float>::size;
  with_element(dtype, [&](auto element) {
    auto* out = reinterpret_cast<decltype(element)*>(to);
    for (int64_t i = 0; i < count; i += lanes) store_lanes(out + i, Vec<float>::load(from + i), std::min(lanes, count - i));
  });
}

struct Chain {
  const fused_frame& f;
  int64_t length, rows;

  explicit Chain(const fused_frame& frame) : f(frame), length(f.sizes[0]), rows(1) {
    for (int d = 1; d < f.ndim; d++) rows *= f.sizes[d];
  }

  const char* input(int k, int64_t element) const { return reinterpret_cast<const char*>(f.in[k]) + element * bytes_of(f.dtypes[k]); }
  char* output(int64_t element) const { return reinterpret_cast<char*>(f.out) + element * bytes_of(f.out_dtype); }
  char* output(int i, int64_t element) const { return reinterpret_cast<char*>(f.more_out[i]) + element * bytes_of(f.more_dtypes[i]); }

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
      call.out = output(row * length + first);
      call.rows = some;
      call.length = count;
      call.out_step = length * bytes_of(f.out_dtype);
      for (int k = 0; k < f.inputs; k++) {
        call.in[k] = input(k, offsets[k] + first * f.strides[k * kDims]);
        call.in_step[k] = f.ndim > 1 ? f.strides[k * kDims + 1] * bytes_of(f.dtypes[k]) : 0;
      }
      for (int i = 0; i < f.more; i++) {
        call.more[i] = output(i, row * length + first);
        call.more_step[i] = length * bytes_of(f.more_dtypes[i]);
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
      alignas(64) float widened[kInputs][StepProgram::kBlock];
      alignas(64) float result[StepProgram::kBlock];
      for (int64_t unit = begin; unit < end; unit++) {
        const int64_t row = unit / blocks, first = unit % blocks * StepProgram::kBlock, count = std::min(StepProgram::kBlock, length - first);
        offsets_of(row, offsets);
        for (int k = 0; k < f.inputs; k++) {
          const int64_t step = f.strides[k * kDims];
          const char* at = input(k, offsets[k] + first * step);
          if (f.dtypes[k] == PTLITE_FLOAT32) {
            inputs[k] = {reinterpret_cast<const float*>(at), step};
          } else {
            widen(at, f.dtypes[k], step, step == 0 ? 1 : count, widened[k]);
            inputs[k] = {widened[k], step == 0 ? 0 : 1};
          }
        }
        char* out = output(row * length + first);
        const bool direct = f.out_dtype == PTLITE_FLOAT32;
        run_steps(program, inputs, count, direct ? reinterpret_cast<float*>(out) : result, buffers);
        if (!direct) narrow(result, f.out_dtype, count, out);
        for (int i = 0; i < f.more; i++) {
          const float* kept = f.kept[i] != f.steps - 1 ? buffers.values[f.inputs + f.kept[i]] : direct ? reinterpret_cast<float*>(out) : result;
          narrow(kept, f.more_dtypes[i], count, output(i, row * length + first));
        }
      }
    });
  }
};

bool is_valid(const fused_frame& f, const StepProgram& program) {
  bool valid = program.valid() && f.ndim >= 1 && f.ndim <= kDims && f.more >= 0 && f.more <= jit::kMostMore && is_known(f.out_dtype);
  for (int k = 0; valid && k < f.inputs; k++) valid = is_known(f.dtypes[k]);
  for (int i = 0; valid && i < f.more; i++) valid = is_known(f.more_dtypes[i]) && f.kept[i] >= 0 && f.kept[i] < f.steps;
  return valid;
}

int32_t fused(fused_frame* frame) {
  const fused_frame& f = *frame;
  const StepProgram program{f.inputs, f.steps, f.op, f.a, f.b, f.p0, f.p1};
  if (!is_valid(f, program)) return PTLITE_NO_KERNEL;
  const Chain chain(f);
  // stores that go past the caches want whole aligned vectors
  bool aligned = f.out % 64 == 0 && (chain.rows == 1 || chain.length % 16 == 0);
  for (int i = 0; i < f.more; i++) aligned = aligned && f.more_out[i] % 64 == 0;
  if (jit::is_ready(f.code) && (f.streaming == 0 || aligned)) chain.generated();
  else chain.compiled(program);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(fused, fused)
