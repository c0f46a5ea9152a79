#include <cstring>
#include <type_traits>

#include "frames/columns.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/pair.h"

namespace {

/// Calls visit(column element, image element or -1) for every element of every column, column by column.
template <class Frame, class F>
void walk(const Frame* f, F&& visit) {
  int64_t column = 0;
  for (int64_t p = 0; p < f->planes; p++)
    for (int64_t ky = 0; ky < f->kernel_height; ky++)
      for (int64_t kx = 0; kx < f->kernel_width; kx++)
        for (int64_t oy = 0; oy < f->out_height; oy++) {
          const int64_t y = oy * f->stride_height - f->pad_height + ky * f->dilation_height;
          const bool row_inside = y >= 0 && y < f->height;
          for (int64_t ox = 0; ox < f->out_width; ox++, column++) {
            const int64_t x = ox * f->stride_width - f->pad_width + kx * f->dilation_width;
            visit(column, row_inside && x >= 0 && x < f->width ? (p * f->height + y) * f->width + x : -1);
          }
        }
}

template <class S>
void unfold(const windows_to_columns_frame* f) {
  const S* image = (const S*)f->image;
  S* columns = (S*)f->columns;
  walk(f, [&](int64_t column, int64_t at) { columns[column] = at < 0 ? S{} : image[at]; });
}

int32_t windows_to_columns_run(windows_to_columns_frame* f) {
  switch (f->item_size) {
    case 1: unfold<uint8_t>(f); break;
    case 2: unfold<uint16_t>(f); break;
    case 4: unfold<uint32_t>(f); break;
    case 8: unfold<uint64_t>(f); break;
    case 16: unfold<Pair>(f); break;
    default: return PTLITE_NO_DTYPE;
  }
  return PTLITE_OK;
}

int32_t columns_to_windows_run(columns_to_windows_frame* f) {
  memset((void*)f->image, 0, size_t(f->planes * f->height * f->width * elem::size_of(f->dtype)));
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    using C = std::conditional_t<std::is_same_v<S, double>, double, std::conditional_t<std::is_integral_v<S>, int64_t, float>>;
    S* image = (S*)f->image;
    const S* columns = (const S*)f->columns;
    walk(f, [&](int64_t column, int64_t at) {
      if (at >= 0) image[at] = elem::to_stored<S, C>(elem::cast<C>(image[at]) + elem::cast<C>(columns[column]));
    });
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(windows_to_columns, windows_to_columns_run)
PTLITE_KERNEL(columns_to_windows, columns_to_windows_run)
