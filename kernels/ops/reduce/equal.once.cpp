#include <string.h>

#include "frames/equal.h"
#include "dispatch/kernel.h"

namespace {

template <typename T>
bool same_numbers(uint64_t a, uint64_t b, int64_t count) {
  const T* x = reinterpret_cast<const T*>(a);
  const T* y = reinterpret_cast<const T*>(b);
  for (int64_t i = 0; i < count; ++i)
    if (!(x[i] == y[i])) return false;
  return true;
}

// 16-bit floats by their bits: above `infinity` (sign dropped) lies NaN.
bool same_halves(uint64_t a, uint64_t b, int64_t count, uint16_t infinity) {
  const uint16_t* x = reinterpret_cast<const uint16_t*>(a);
  const uint16_t* y = reinterpret_cast<const uint16_t*>(b);
  for (int64_t i = 0; i < count; ++i) {
    const bool zeros = ((x[i] | y[i]) & 0x7fff) == 0;
    if (!zeros && (x[i] != y[i] || (x[i] & 0x7fff) > infinity)) return false;
  }
  return true;
}

bool same_bytes(const equal_frame* f, size_t item) {
  return memcmp(reinterpret_cast<const void*>(f->a), reinterpret_cast<const void*>(f->b), static_cast<size_t>(f->count) * item) == 0;
}

int32_t equal(equal_frame* f) {
  switch (f->dtype) {
    case PTLITE_FLOAT32: f->same = same_numbers<float>(f->a, f->b, f->count); return PTLITE_OK;
    case PTLITE_FLOAT64: f->same = same_numbers<double>(f->a, f->b, f->count); return PTLITE_OK;
    case PTLITE_FLOAT16: f->same = same_halves(f->a, f->b, f->count, 0x7c00); return PTLITE_OK;
    case PTLITE_BFLOAT16: f->same = same_halves(f->a, f->b, f->count, 0x7f80); return PTLITE_OK;
    case PTLITE_INT64: f->same = same_bytes(f, 8); return PTLITE_OK;
    case PTLITE_INT32:
    case PTLITE_QINT32: f->same = same_bytes(f, 4); return PTLITE_OK;
    case PTLITE_INT16: f->same = same_bytes(f, 2); return PTLITE_OK;
    default: f->same = same_bytes(f, 1); return PTLITE_OK;
  }
}

}  // namespace

PTLITE_KERNEL(equal, equal)
