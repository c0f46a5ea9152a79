#include <algorithm>
#include <cmath>

#include "frames/detection.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

// Compiled once: a fused multiply-add would move overlaps that are near the threshold to its other side.
template <class T>
int64_t suppress(nms_frame* f, int64_t* order, char* gone, T* areas) {
  const T* boxes = (const T*)f->boxes;
  const T* scores = (const T*)f->scores;
  int64_t* keep = (int64_t*)f->keep;
  for (int64_t i = 0; i < f->count; i++) {
    order[i] = i;
    gone[i] = 0;
    areas[i] = (boxes[4 * i + 2] - boxes[4 * i]) * (boxes[4 * i + 3] - boxes[4 * i + 1]);
  }
  // equal scores stay in order, NaNs come first
  std::sort(order, order + f->count, [scores](int64_t a, int64_t b) {
    const T x = scores[a], y = scores[b];
    if (x > y || (std::isnan(x) && !std::isnan(y))) return true;
    if (x < y || (std::isnan(y) && !std::isnan(x))) return false;
    return a < b;
  });
  int64_t kept = 0;
  ptlite::Pace pace;
  for (int64_t at = 0; at < f->count; at++) {
    const int64_t i = order[at];
    if (gone[i]) continue;
    keep[kept++] = i;
    pace.after(f->count - at);
    const T* a = boxes + 4 * i;
    for (int64_t next = at + 1; next < f->count; next++) {
      const int64_t j = order[next];
      if (gone[j]) continue;
      const T* b = boxes + 4 * j;
      const T w = std::max<T>(0, std::min(a[2], b[2]) - std::max(a[0], b[0]));
      const T h = std::max<T>(0, std::min(a[3], b[3]) - std::max(a[1], b[1]));
      const T overlap = w * h;
      const T ratio = overlap / (areas[i] + areas[j] - overlap);
      if (double(ratio) > f->threshold) gone[j] = 1;
    }
  }
  return kept;
}

template <class T>
int32_t nms_in(nms_frame* f) {
  const size_t n = size_t(f->count);
  char* memory = static_cast<char*>(ptlite_scratch(n * (sizeof(int64_t) + sizeof(T) + 1) + 64));
  if (!memory) return PTLITE_NO_MEMORY;
  int64_t* order = reinterpret_cast<int64_t*>(memory);
  T* areas = reinterpret_cast<T*>(order + n);
  f->kept = suppress(f, order, reinterpret_cast<char*>(areas + n), areas);
  return PTLITE_OK;
}

int32_t nms_run(nms_frame* f) { return f->dtype == elem::F64 ? nms_in<double>(f) : nms_in<float>(f); }

}  // namespace

PTLITE_KERNEL(nms, nms_run)
