#include <string.h>

#include "frames/triangle.h"
#include "dispatch/kernel.h"

namespace {

int64_t clamp(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

int32_t zero_triangle(zero_triangle_frame* f) {
  const int64_t row_bytes = f->columns * f->bytes;
  if (row_bytes == 0) return PTLITE_OK;
  char* row = reinterpret_cast<char*>(f->out);
  for (int64_t b = 0; b < f->batch; ++b) {
    for (int64_t r = 0; r < f->rows; ++r, row += row_bytes) {
      // columns kept on the left of the cut (lower) or dropped there (upper)
      const int64_t cut = clamp(r + f->diagonal + (f->lower ? 1 : 0), 0, f->columns) * f->bytes;
      if (f->lower) {
        memset(row + cut, 0, static_cast<size_t>(row_bytes - cut));
      } else {
        memset(row, 0, static_cast<size_t>(cut));
      }
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(zero_triangle, zero_triangle)
