#include "frames/cpu.h"
#include "dispatch/kernel.h"
#include "vec/convert.h"

namespace {

int32_t vector_length(vector_length_frame* f) {
  return ptlite::with_dtype(f->dtype, [&](auto element) {
    using Number = decltype(ptlite::number_of(element));
    f->length = ptlite::Vec<Number>::size;
    f->item_size = sizeof(element);
    return PTLITE_OK;
  });
}

}  // namespace

PTLITE_KERNEL(vector_length, vector_length)
