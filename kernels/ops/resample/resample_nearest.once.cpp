#include <algorithm>
#include <cmath>
#include <cstring>

#include "frames/resample.h"
#include "dispatch/kernel.h"
#include "support/pair.h"
#include "support/truncated.h"

namespace {

void fill(int64_t* index, bool exact, bool snap, int64_t in, int64_t out, float scale) {
  if (snap && (out == in || out == 2 * in)) {
    for (int64_t o = 0; o < out; o++) index[o] = out == in ? o : o / 2;
    return;
  }
  for (int64_t o = 0; o < out; o++) {
    index[o] = ptlite::truncated_between((float(o) + (exact ? 0.5f : 0.0f)) * scale, 0, in - 1);
  }
}

template <class S>
void move(const resample_nearest_frame* f, const int64_t* z, const int64_t* y, const int64_t* x) {
  const S* in = (const S*)f->in;
  S* out = (S*)f->out;
  const int64_t inner = f->inner, row_length = f->in_sizes[2] * inner, plane = f->in_sizes[0] * f->in_sizes[1] * row_length;
  const int64_t out_row = f->out_sizes[2] * inner;
  for (int64_t p = 0; p < f->planes; p++)
    for (int64_t a = 0; a < f->out_sizes[0]; a++)
      for (int64_t b = 0; b < f->out_sizes[1]; b++, out += out_row) {
        // neighbouring rows of an enlarged image are often the same one
        if (b > 0 && y[b] == y[b - 1]) {
          memcpy(out, out - out_row, size_t(out_row) * sizeof(S));
          continue;
        }
        const S* row = in + p * plane + (z[a] * f->in_sizes[1] + y[b]) * row_length;
        if (inner == 1) {
          for (int64_t c = 0; c < f->out_sizes[2]; c++) out[c] = row[x[c]];
        } else {
          for (int64_t c = 0; c < f->out_sizes[2]; c++) memcpy(out + c * inner, row + x[c] * inner, size_t(inner) * sizeof(S));
        }
      }
}

int32_t resample_nearest_run(resample_nearest_frame* f) {
  const int64_t total = f->out_sizes[0] + f->out_sizes[1] + f->out_sizes[2];
  auto* index = static_cast<int64_t*>(ptlite_scratch(size_t(total) * sizeof(int64_t)));
  if (!index) return PTLITE_NO_MEMORY;
  int64_t* tables[3] = {index, index + f->out_sizes[0], index + f->out_sizes[0] + f->out_sizes[1]};
  for (int d = 0; d < 3; d++) fill(tables[d], f->exact, f->snap, f->in_sizes[d], f->out_sizes[d], float(f->scales[d]));
  switch (f->item_size) {
    case 1: move<uint8_t>(f, tables[0], tables[1], tables[2]); break;
    case 2: move<uint16_t>(f, tables[0], tables[1], tables[2]); break;
    case 4: move<uint32_t>(f, tables[0], tables[1], tables[2]); break;
    case 8: move<uint64_t>(f, tables[0], tables[1], tables[2]); break;
    case 16: move<Pair>(f, tables[0], tables[1], tables[2]); break;
    default: return PTLITE_NO_DTYPE;
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(resample_nearest, resample_nearest_run)
