#include <cstring>

#include "frames/index.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/pair.h"
#include "support/walk.h"

namespace {

constexpr int64_t kChunk = 128;

template <class S>
int32_t get(index_get_frame* f) {
  const int64_t width = f->ndim > 0 ? f->sizes[0] : 1;
  const int64_t out_step = f->ndim > 0 ? f->out_strides[0] : 0, in_step = f->ndim > 0 ? f->in_strides[0] : 0;
  IndexWalk<index_get_frame> walk(f, f->out_strides, f->in_strides);
  ptlite::Pace pace;
  const int64_t rows = walk.rows();
  const bool uniform = f->ndim == 0 || walk.row_is_uniform();
  const S* in = (const S*)f->in;
  S* out = (S*)f->out;
  if (width == 0) return PTLITE_OK;
  for (int64_t r = 0; r < rows; r++, walk.next_row()) {
    S* to = out + walk.a;
    if (uniform) {
      int64_t from = walk.b;
      for (int32_t k = 0; k < f->indices; k++)
        if (!walk.add(k, walk.at[k], from)) return PTLITE_INDEX_RANGE;
      if (out_step == 1 && in_step == 1) memcpy(to, in + from, size_t(width) * sizeof(S));
      else
        ptlite::in_pieces(width, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; i++) to[i * out_step] = in[from + i * in_step];
        });
      continue;
    }
    for (int64_t first = 0; first < width; first += kChunk) {
      const int64_t n = width - first < kChunk ? width - first : kChunk;
      int64_t from[kChunk];
      pace.after(n);
      if (!walk.places(first, n, walk.b + first * in_step, in_step, from)) return PTLITE_INDEX_RANGE;
      for (int64_t i = 0; i < n; i++) to[(first + i) * out_step] = in[from[i]];
    }
  }
  return PTLITE_OK;
}

int32_t index_get_run(index_get_frame* f) {
  switch (f->item_size) {
    case 1: return get<uint8_t>(f);
    case 2: return get<uint16_t>(f);
    case 4: return get<uint32_t>(f);
    case 8: return get<uint64_t>(f);
    case 16: return get<Pair>(f);
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(index_get, index_get_run)
