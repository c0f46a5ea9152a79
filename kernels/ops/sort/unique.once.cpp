// Distinct rows. Sorting goes from the last column to the first with a stable sort, which orders rows lexicographically.
#include <cstring>

#include "frames/sort.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/order.h"

namespace {

bool same_rows(const uint64_t* keys, int64_t columns, int64_t a, int64_t b, bool nan, uint64_t nan_key) {
  for (int64_t c = 0; c < columns; c++) {
    const uint64_t x = keys[a * columns + c];
    if (x != keys[b * columns + c] || (nan && x == nan_key)) return false;
  }
  return true;
}

int32_t unique_run(unique_frame* f) {
  const int64_t rows = f->rows, columns = f->columns;
  f->found = 0;
  if (rows == 0) return PTLITE_OK;
  const size_t key_bytes = size_t(rows * columns) * sizeof(uint64_t);
  char* memory = static_cast<char*>(ptlite_scratch(key_bytes + size_t(rows) * 2 * sizeof(order::Item)));
  if (!memory) return PTLITE_NO_MEMORY;
  auto* keys = reinterpret_cast<uint64_t*>(memory);
  auto* items = reinterpret_cast<order::Item*>(memory + key_bytes);
  auto* spare = items + rows;
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    const S* in = (const S*)f->in;
    for (int64_t i = 0; i < rows * columns; i++) keys[i] = order::key_of(in[i]);
  });
  for (int64_t r = 0; r < rows; r++) items[r].index = r;
  if (!f->consecutive) {
    for (int64_t c = columns - 1; c >= 0; c--) {
      for (int64_t r = 0; r < rows; r++) items[r].key = keys[items[r].index * columns + c];
      order::Item* sorted = order::sort(items, spare, rows, order::key_bytes(f->dtype));
      if (sorted != items) {
        spare = items;
        items = sorted;
      }
    }
  }
  const bool nan = order::has_nan(f->dtype);
  const uint64_t nan_key = order::nan_key(f->dtype);
  auto* representatives = (int64_t*)f->representatives;
  auto* inverse = (int64_t*)f->inverse;
  auto* counts = (int64_t*)f->counts;
  int64_t found = 0;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t r = items[i].index;
    if (i == 0 || !same_rows(keys, columns, items[i - 1].index, r, nan, nan_key)) {
      representatives[found] = r;
      if (counts) counts[found] = 0;
      found++;
    }
    if (counts) counts[found - 1]++;
    if (inverse) inverse[r] = found - 1;
  }
  f->found = found;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(unique, unique_run)
