// Padding by index mapping: a row of the result is a row of the input with its ends mapped element by element.
#include <cstring>

#include "frames/resample.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/pair.h"

namespace {

/// The input index behind output index i of a dim; -1 stands for the fill value.
int64_t source(int32_t mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode_reflect: return i < 0 ? -i : 2 * (size - 1) - i;
    case PadMode_replicate: return i < 0 ? 0 : size - 1;
    case PadMode_circular: return i < 0 ? i + size : i - size;
    default: return -1;
  }
}

template <class S>
void pad_rows(const pad_frame* f) {
  const S fill = *(const S*)f->value;
  const int64_t width = f->out_sizes[0], before = f->before[0], size = f->in_sizes[0], step = f->in_strides[0];
  const int64_t first = before < 0 ? 0 : before < width ? before : width;
  const int64_t last = before + size < width ? (before + size > first ? before + size : first) : width;
  int64_t at[12] = {};
  int64_t rows = 1;
  for (int32_t d = 1; d < f->ndim; d++) rows *= f->out_sizes[d];
  S* out = (S*)f->out;
  for (int64_t r = 0; r < rows; r++, out += width) {
    int64_t offset = 0;
    bool inside = true;
    for (int32_t d = 1; d < f->ndim; d++) {
      const int64_t i = source(f->mode, at[d] - f->before[d], f->in_sizes[d]);
      inside &= i >= 0;
      offset += i * f->in_strides[d];
    }
    if (!inside) {
      for (int64_t x = 0; x < width; x++) out[x] = fill;
    } else {
      const S* in = (const S*)f->in + offset;
      auto mapped = [&](int64_t x) {
        const int64_t i = source(f->mode, x - before, size);
        return i < 0 ? fill : in[i * step];
      };
      for (int64_t x = 0; x < first; x++) out[x] = mapped(x);
      if (step == 1) {
        if (last > first) memcpy(out + first, in + first - before, size_t(last - first) * sizeof(S));
      } else {
        for (int64_t x = first; x < last; x++) out[x] = in[(x - before) * step];
      }
      for (int64_t x = last; x < width; x++) out[x] = mapped(x);
    }
    for (int32_t d = 1; d < f->ndim; d++) {
      if (++at[d] < f->out_sizes[d]) break;
      at[d] = 0;
    }
  }
}

int32_t pad_run(pad_frame* f) {
  switch (f->item_size) {
    case 1: pad_rows<uint8_t>(f); break;
    case 2: pad_rows<uint16_t>(f); break;
    case 4: pad_rows<uint32_t>(f); break;
    case 8: pad_rows<uint64_t>(f); break;
    case 16: pad_rows<Pair>(f); break;
    default: return PTLITE_NO_DTYPE;
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(pad, pad_run)
