// Order along a dim. Unless it must be stable it is std::sort's: PyTorch uses the same, so that equal elements come
// out in the same order.
#include <algorithm>

#include "frames/sort.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"
#include "support/order.h"

namespace {

template <class S>
void take(const sort_frame* f, const order::Item* items, const char* in, int64_t values_offset) {
  const S* from = (const S*)in;
  S* to = (S*)f->values_out + values_offset;
  for (int64_t i = 0; i < f->count; i++) to[i * f->values_step] = from[items[i].index * f->in_step];
}

int32_t sort_run(sort_frame* f) {
  const int64_t n = f->count;
  Odometer lines(f->ndim, f->sizes, f->in_strides, f->values_strides, f->indices_strides);
  const int64_t total = n > 0 ? lines.count() : 0;
  if (total == 0) return PTLITE_OK;
  auto* items = static_cast<order::Item*>(ptlite_scratch(size_t(n) * 2 * sizeof(order::Item)));
  if (!items) return PTLITE_NO_MEMORY;
  const int bytes = order::key_bytes(f->dtype);
  ptlite::Pace pace;
  for (int64_t l = 0; l < total; l++, lines.next()) {
    pace.after(n);
    const char* in = elem::at((const void*)f->in, f->dtype, lines.offset[0]);
    order::load_items(items, f->dtype, in, f->in_step, n);
    // the complement reverses the order and leaves equal elements in place
    if (f->descending)
      for (int64_t i = 0; i < n; i++) items[i].key = ~items[i].key;
    const order::Item* sorted = items;
    if (f->stable) sorted = order::sort(items, items + n, n, bytes);
    else order::paced(n, [](const order::Item& a, const order::Item& b) { return a.key < b.key; }, [&](auto paced) { std::sort(items, items + n, paced); });
    int64_t* indices = (int64_t*)f->indices_out + lines.offset[2];
    for (int64_t i = 0; i < n; i++) indices[i * f->indices_step] = sorted[i].index;
    if (!f->values_out) continue;
    switch (elem::size_of(f->dtype)) {
      case 1: take<uint8_t>(f, sorted, in, lines.offset[1]); break;
      case 2: take<uint16_t>(f, sorted, in, lines.offset[1]); break;
      case 4: take<uint32_t>(f, sorted, in, lines.offset[1]); break;
      default: take<uint64_t>(f, sorted, in, lines.offset[1]); break;
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(sort, sort_run)
