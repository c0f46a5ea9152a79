// Element-wise arithmetic on 8-bit integers, with broadcasting.
#include <algorithm>
#include <string.h>

#include "frames/quantized.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "vec/vec.h"

namespace {

constexpr int32_t kQInt8 = 12;
// Elements of an operand that is repeated which are laid side by side: a row of few channels is too short for the vectors.
constexpr int64_t kRepeated = 2048;

// The frame comes as a copy: a store of bytes might change any other for all the compiler knows.
template <class T>
void add(const T* a, const T* b, T* out, int64_t n, const quantized_binary_frame f) {
  const int32_t half = f.shift > 0 ? 1 << (f.shift - 1) : 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t q = ((((a[i] - f.a_zero) * f.a_multiplier + (b[i] - f.b_zero) * f.b_multiplier) + half) >> f.shift) + f.out_zero;
    q = q < f.min ? f.min : q;
    out[i] = static_cast<T>(q > f.max ? f.max : q);
  }
}

template <class T>
void mul(const T* a, const T* b, T* out, int64_t n, const quantized_binary_frame f) {
  const float low = static_cast<float>(f.min - f.out_zero), high = static_cast<float>(f.max - f.out_zero);
  for (int64_t i = 0; i < n; i++) {
    float q = __builtin_rintf(static_cast<float>((a[i] - f.a_zero) * (b[i] - f.b_zero)) * f.scale);
    q = q < low ? low : q;
    q = q > high ? high : q;
    out[i] = static_cast<T>(static_cast<int32_t>(q) + f.out_zero);
  }
}

template <class T>
void run(const T* a, const T* b, T* out, int64_t n, const quantized_binary_frame& f) {
  if (f.op == QuantizedBinaryOp_add) add(a, b, out, n, f);
  else mul(a, b, out, n, f);
}

// An operand by rows: dense ones are read where they lie, others through copies side by side.
template <class T>
class Operand {
 public:
  Operand(int64_t address, const int64_t* strides, int64_t length)
      : at_(reinterpret_cast<const T*>(address)), strides_(strides), length_(length) {}

  // Whether the rows of a batch can be read as one long row.
  bool joins() const { return is_dense() || repeats(); }

  // Elements [first, first + count) of the rows from `row` on, which go on into the next ones where rows are joined.
  const T* read(int64_t batch, int64_t row, int64_t first, int64_t count) {
    const T* at = at_ + batch * strides_[2] + row * strides_[1];
    if (strides_[0] == 0) {
      memset(copies_, static_cast<uint8_t>(*at), static_cast<size_t>(std::min(count, kRepeated)));
      return copies_;
    }
    if (!repeats() || count <= length_) return at + first;
    for (int64_t i = 0; i < count; i += length_) memcpy(copies_ + i, at, static_cast<size_t>(std::min(length_, count - i)));
    return copies_;
  }

 private:
  bool is_dense() const { return strides_[0] == 1 && strides_[1] == length_; }
  bool repeats() const { return strides_[0] == 1 && strides_[1] == 0; }

  const T* at_;
  const int64_t* strides_;
  int64_t length_;
  T copies_[kRepeated];
};

template <class T>
void rows(const quantized_binary_frame& f, int64_t begin, int64_t end) {
  const int64_t length = f.sizes[0], count = f.sizes[1];
  Operand<T> a(f.a, f.a_strides, length), b(f.b, f.b_strides, length);
  const int64_t together = a.joins() && b.joins() ? std::max<int64_t>(1, kRepeated / length) : 1;
  auto* out = reinterpret_cast<T*>(f.out);
  for (int64_t unit = begin; unit < end;) {
    const int64_t batch = unit / count, row = unit % count;
    const int64_t some = std::min({together, count - row, end - unit}), n = some * length;
    // of one row, pieces that buffers hold
    for (int64_t first = 0; first < n; first += kRepeated) {
      const int64_t piece = std::min(kRepeated, n - first);
      run(a.read(batch, row, first, piece), b.read(batch, row, first, piece), out + unit * length + first, piece, f);
    }
    unit += some;
  }
}

template <class T>
void binary(const quantized_binary_frame& f) {
  const int64_t count = f.sizes[1] * f.sizes[2];
  if (count == 0 || f.sizes[0] == 0) return;
  if (count > 1 || f.a_strides[0] != 1 || f.b_strides[0] != 1) {
    ptlite::parallel_for(count, ptlite::grain_for(2 * f.sizes[0]), [&](int64_t begin, int64_t end) { rows<T>(f, begin, end); });
    return;
  }
  ptlite::parallel_for(f.sizes[0], ptlite::grain_for(2), [&](int64_t i, int64_t end) {
    run(reinterpret_cast<const T*>(f.a) + i, reinterpret_cast<const T*>(f.b) + i, reinterpret_cast<T*>(f.out) + i, end - i, f);
  });
}

int32_t quantized_binary(quantized_binary_frame* f) {
  if (f->dtype == kQInt8) binary<int8_t>(*f);
  else binary<uint8_t>(*f);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(quantized_binary, quantized_binary)
