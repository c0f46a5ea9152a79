// isa: AVX2 for AVX512
#include <type_traits>

#include "frames/index.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

template <class T>
struct Bag {
  embedding_bag_frame* f;
  T* row;
  T* acc;

  int64_t index(const void* from, int64_t i) const {
    return f->index_dtype == elem::I32 ? ((const int32_t*)from)[i] : ((const int64_t*)from)[i];
  }

  int32_t run() {
    const int64_t size = elem::size_of(f->dtype);
    ptlite::Pace pace;
    for (int64_t bag = 0; bag < f->bags; bag++) {
      const int64_t first = index((const void*)f->offsets, bag);
      const int64_t last = bag + 1 < f->bags || f->include_last ? index((const void*)f->offsets, bag + 1) : f->count;
      if (first < 0 || last > f->count) return PTLITE_INDEX_RANGE;
      int64_t* best = f->max_indices ? (int64_t*)f->max_indices + bag * f->width : nullptr;
      for (int64_t c = 0; c < f->width; c++) acc[c] = 0;
      if (best)
        for (int64_t c = 0; c < f->width; c++) best[c] = 0;
      int64_t members = 0;
      for (int64_t i = first; i < last; i++) {
        pace.after(f->width);
        const int64_t r = index((const void*)f->indices, i);
        if (f->bag_of) ((int64_t*)f->bag_of)[i] = bag;
        if (r < 0 || r >= f->rows) return PTLITE_INDEX_RANGE;
        if (r == f->padding_idx) continue;
        const char* from = (const char*)f->weight + r * f->row_stride * size;
        const T* x = elem::view<T>(row, f->dtype, from, f->column_stride, f->width);
        fold(x, i, r, members == 0, best);
        members++;
      }
      if (f->mode == BagMode_mean && members > 0)
        for (int64_t c = 0; c < f->width; c++) acc[c] /= T(members);
      elem::store<T>((char*)f->out + bag * f->width * size, f->dtype, acc, 1, f->width);
      if (f->bag_size) ((int64_t*)f->bag_size)[bag] = members;
    }
    return PTLITE_OK;
  }

  void fold(const T* x, int64_t i, int64_t r, bool first, int64_t* best) {
    if (f->mode == BagMode_max) {
      for (int64_t c = 0; c < f->width; c++) {
        if (!first && !(x[c] > acc[c])) continue;
        acc[c] = x[c];
        if (best) best[c] = r;
      }
    } else if (f->sample_weights) {
      T scale;
      elem::load<T>(&scale, f->dtype, (const char*)f->sample_weights + i * elem::size_of(f->dtype), 1, 1);
      for (int64_t c = 0; c < f->width; c++) acc[c] += x[c] * scale;
    } else {
      for (int64_t c = 0; c < f->width; c++) acc[c] += x[c];
    }
  }
};

template <class T>
int32_t bag_in(embedding_bag_frame* f) {
  T* memory = static_cast<T*>(ptlite_scratch(size_t(f->width + 1) * 2 * sizeof(T)));
  if (!memory) return PTLITE_NO_MEMORY;
  return Bag<T>{f, memory, memory + f->width}.run();
}

int32_t embedding_bag_run(embedding_bag_frame* f) { return f->dtype == elem::F64 ? bag_in<double>(f) : bag_in<float>(f); }

}  // namespace

PTLITE_KERNEL(embedding_bag, embedding_bag_run)
