// Binary searches: insertion points and membership.
#include <cstring>
#include <type_traits>

#include "frames/sort.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/order.h"

namespace {

template <class S, class Out>
void search(const search_sorted_frame* f) {
  using C = std::conditional_t<std::is_integral_v<S>, S, std::conditional_t<std::is_same_v<S, elem::boolean>, uint8_t, double>>;
  const S* values = (const S*)f->values;
  Out* out = (Out*)f->out;
  for (int64_t row = 0; row < f->rows; row++) {
    const S* edges = (const S*)f->boundaries + row * f->boundaries_step;
    const int64_t* sorter = f->sorter ? (const int64_t*)f->sorter + row * f->boundaries_step : nullptr;
    for (int64_t i = 0; i < f->values_per_row; i++) {
      const C x = elem::cast<C>(*values++);
      int64_t low = 0, high = f->row_length;
      while (low < high) {
        const int64_t middle = low + ((high - low) >> 1);
        const C edge = elem::cast<C>(edges[sorter ? sorter[middle] : middle]);
        if (f->right ? edge > x : edge >= x) high = middle;
        else low = middle + 1;
      }
      *out++ = Out(low);
    }
  }
}

int32_t search_sorted_run(search_sorted_frame* f) {
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    if (f->out_dtype == elem::I32) search<S, int32_t>(f);
    else search<S, int64_t>(f);
  });
  return PTLITE_OK;
}

int32_t is_in_run(is_in_frame* f) {
  const int64_t n = f->test_count;
  auto* items = static_cast<order::Item*>(ptlite_scratch(size_t(n ? n : 1) * 2 * sizeof(order::Item)));
  if (!items) return PTLITE_NO_MEMORY;
  order::load_items(items, f->dtype, (const void*)f->tests, 1, n);
  const order::Item* sorted = order::sort(items, items + n, n, order::key_bytes(f->dtype));
  const bool nan = order::has_nan(f->dtype);
  const uint64_t nan_key = order::nan_key(f->dtype);
  uint8_t* out = (uint8_t*)f->out;
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    const S* in = (const S*)f->elements;
    for (int64_t i = 0; i < f->count; i++) {
      const uint64_t key = order::key_of(in[i]);
      int64_t low = 0, high = n;
      while (low < high) {
        const int64_t middle = (low + high) >> 1;
        if (sorted[middle].key < key) low = middle + 1;
        else high = middle;
      }
      const bool found = low < n && sorted[low].key == key && !(nan && key == nan_key);
      out[i] = uint8_t(found != (f->invert != 0));
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(search_sorted, search_sorted_run)
PTLITE_KERNEL(is_in, is_in_run)
