// Fills, packs and unpacks by mask, and lists where a tensor is not zero. Masks are bool tensors.
#include <cstring>
#include <type_traits>

#include "frames/index.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"
#include "support/pair.h"

namespace {

/// Calls f with a null pointer to an unsigned integer of this width, of 8 bytes where it is none of the others, or to a pair of 16.
template <class F>
void by_width(int32_t size, F&& f) {
  switch (size) {
    case 1: f(static_cast<uint8_t*>(nullptr)); break;
    case 2: f(static_cast<uint16_t*>(nullptr)); break;
    case 4: f(static_cast<uint32_t*>(nullptr)); break;
    case 16: f(static_cast<Pair*>(nullptr)); break;
    default: f(static_cast<uint64_t*>(nullptr)); break;
  }
}

int32_t masked_fill_run(masked_fill_frame* f) {
  const int64_t width = f->ndim > 0 ? f->sizes[0] : 1;
  const int64_t self_step = f->ndim > 0 ? f->self_strides[0] : 0, mask_step = f->ndim > 0 ? f->mask_strides[0] : 0;
  Odometer rows(f->ndim > 0 ? f->ndim - 1 : 0, f->sizes + 1, f->self_strides + 1, f->mask_strides + 1);
  const int64_t n = width > 0 ? rows.count() : 0;
  by_width(f->item_size, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    const S value = *(const S*)f->value;
    for (int64_t r = 0; r < n; r++, rows.next()) {
      S* self = (S*)f->self + rows.offset[0];
      const uint8_t* mask = (const uint8_t*)f->mask + rows.offset[1];
      ptlite::in_pieces(width, [&](int64_t first, int64_t last) {
        if (self_step == 1 && mask_step == 1) {
          for (int64_t i = first; i < last; i++) self[i] = mask[i] ? value : self[i];
        } else {
          for (int64_t i = first; i < last; i++)
            if (mask[i * mask_step]) self[i * self_step] = value;
        }
      });
    }
  });
  return PTLITE_OK;
}

int32_t masked_pack_run(masked_pack_frame* f) {
  const uint8_t* mask = (const uint8_t*)f->mask;
  int64_t found = 0;
  if (!f->out) {
    for (int64_t i = 0; i < f->count; i++) found += mask[i] != 0;
  } else {
    by_width(f->item_size, [&](auto* type) {
      using S = std::remove_pointer_t<decltype(type)>;
      const S* in = (const S*)f->in;
      S* out = (S*)f->out;
      for (int64_t i = 0; i < f->count; i++)
        if (mask[i]) out[found++] = in[i];
    });
  }
  f->found = found;
  return PTLITE_OK;
}

int32_t masked_unpack_run(masked_unpack_frame* f) {
  const uint8_t* mask = (const uint8_t*)f->mask;
  int32_t status = PTLITE_OK;
  by_width(f->item_size, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    S* self = (S*)f->self;
    const S* src = (const S*)f->src;
    int64_t next = 0;
    for (int64_t i = 0; i < f->count; i++) {
      if (!mask[i]) continue;
      if (next >= f->src_count) {
        status = PTLITE_INDEX_RANGE;
        return;
      }
      self[i] = src[next++];
    }
  });
  return status;
}

int32_t nonzero_run(nonzero_frame* f) {
  int64_t* out = (int64_t*)f->out;
  int64_t found = 0;
  int64_t at[16] = {};
  const int32_t ndim = f->ndim;
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    const S* in = (const S*)f->in;
    for (int64_t i = 0; i < f->count; i++) {
      if (elem::cast<double>(in[i]) != 0) {
        if (out)
          for (int32_t d = 0; d < ndim; d++) out[d * f->rows + found] = at[d];
        found++;
      }
      if (!out) continue;
      for (int32_t d = ndim - 1; d >= 0; d--) {
        if (++at[d] < f->sizes[d]) break;
        at[d] = 0;
      }
    }
  });
  f->found = found;
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(masked_fill, masked_fill_run)
PTLITE_KERNEL(masked_pack, masked_pack_run)
PTLITE_KERNEL(masked_unpack, masked_unpack_run)
PTLITE_KERNEL(nonzero, nonzero_run)
