#include <cstring>
#include <type_traits>

#include "frames/elementwise.h"
#include "frames/index.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/pair.h"
#include "support/walk.h"

namespace {

struct Copy {
  template <class S>
  static S apply(S, S x, double) {
    return x;
  }
};
/// Halves compute in float, integers wrap, bools saturate.
template <class S>
using Compute = std::conditional_t<std::is_same_v<S, elem::boolean>, int64_t,
                                   std::conditional_t<std::is_integral_v<S>, uint64_t,
                                                      std::conditional_t<std::is_same_v<S, double>, double, float>>>;
template <class S, class T>
inline S narrow(T value) {
  if constexpr (std::is_integral_v<S>) return S(value);
  else return elem::to_stored<S, T>(value);
}
struct Add {
  template <class S>
  static S apply(S a, S b, double) {
    using C = Compute<S>;
    return narrow<S, C>(elem::cast<C>(a) + elem::cast<C>(b));
  }
};
struct AddScaled {
  template <class S>
  static S apply(S a, S b, double alpha) {
    using C = Compute<S>;
    C scale = std::is_floating_point_v<C> ? C(alpha) : C(int64_t(alpha));
    if (std::is_same_v<S, elem::boolean>) scale = C(alpha != 0);
    return narrow<S, C>(elem::cast<C>(a) + elem::cast<C>(b) * scale);
  }
};
struct Multiply {
  template <class S>
  static S apply(S a, S b, double) {
    using C = Compute<S>;
    return narrow<S, C>(elem::cast<C>(a) * elem::cast<C>(b));
  }
};
template <class S>
using Ordered = std::conditional_t<std::is_integral_v<S> || std::is_same_v<S, elem::boolean>, int64_t, double>;
struct Min {
  template <class S>
  static S apply(S a, S b, double) {
    const auto x = elem::cast<Ordered<S>>(a), y = elem::cast<Ordered<S>>(b);
    return y < x || y != y ? b : a;
  }
};
struct Max {
  template <class S>
  static S apply(S a, S b, double) {
    const auto x = elem::cast<Ordered<S>>(a), y = elem::cast<Ordered<S>>(b);
    return y > x || y != y ? b : a;
  }
};

/// self[to + i * self_step] = apply(that, src[i * src_step]) for i < n. With `at`, to + i * self_step is at[i].
using PutRow = void (*)(void* self, int64_t to, int64_t self_step, const int64_t* at, const void* src, int64_t src_step, int64_t n,
                        double alpha);

template <class S, class Op>
void put_row(void* self, int64_t to, int64_t self_step, const int64_t* at, const void* src, int64_t src_step, int64_t n, double alpha) {
  for (int64_t i = 0; i < n; i++) {
    S& slot = static_cast<S*>(self)[at == nullptr ? to + i * self_step : at[i]];
    slot = Op::template apply<S>(slot, static_cast<const S*>(src)[i * src_step], alpha);
  }
}

/// The walk over indices is the same for every dtype and function.
int32_t put(const index_put_frame* f, PutRow row, int64_t size) {
  constexpr int64_t chunk = 128;
  const int64_t width = f->ndim > 0 ? f->sizes[0] : 1;
  const int64_t self_step = f->ndim > 0 ? f->self_strides[0] : 0, src_step = f->ndim > 0 ? f->src_strides[0] : 0;
  IndexWalk<index_put_frame> walk(f, f->self_strides, f->src_strides);
  ptlite::Pace pace;
  const int64_t rows = walk.rows();
  const bool uniform = f->ndim == 0 || walk.row_is_uniform();
  void* self = (void*)f->self;
  if (width == 0 || rows == 0) return PTLITE_OK;
  // before anything is written
  if (!walk.all_inside()) return PTLITE_INDEX_RANGE;
  for (int64_t r = 0; r < rows; r++, walk.next_row()) {
    const char* from = (const char*)f->src + walk.b * size;
    if (uniform) {
      int64_t to = walk.a;
      for (int32_t k = 0; k < f->indices; k++)
        if (!walk.add(k, walk.at[k], to)) return PTLITE_INDEX_RANGE;
      ptlite::in_pieces(width, [&](int64_t first, int64_t last) {
        row(self, to + first * self_step, self_step, nullptr, from + first * src_step * size, src_step, last - first, f->alpha);
      });
      continue;
    }
    for (int64_t first = 0; first < width; first += chunk) {
      const int64_t n = width - first < chunk ? width - first : chunk;
      int64_t at[chunk];
      pace.after(n);
      if (!walk.places(first, n, walk.a + first * self_step, self_step, at)) return PTLITE_INDEX_RANGE;
      row(self, 0, 0, at, from + first * src_step * size, src_step, n, f->alpha);
    }
  }
  return PTLITE_OK;
}

PutRow copy_row(int64_t size) {
  switch (size) {
    case 1: return put_row<uint8_t, Copy>;
    case 2: return put_row<uint16_t, Copy>;
    case 4: return put_row<uint32_t, Copy>;
    case 16: return put_row<Pair, Copy>;
    default: return put_row<uint64_t, Copy>;
  }
}

template <class S>
PutRow row_of(int32_t op) {
  switch (op) {
    case PutOp_add: return put_row<S, Add>;
    case PutOp_add_scaled: return put_row<S, AddScaled>;
    case PutOp_multiply: return put_row<S, Multiply>;
    case PutOp_min: return put_row<S, Min>;
    case PutOp_max: return put_row<S, Max>;
    default: return nullptr;
  }
}

int32_t index_put_run(index_put_frame* f) {
  const int64_t size = elem::size_of(f->element);
  if (f->op == PutOp_copy) return put(f, copy_row(size), size);
  PutRow row = nullptr;
  elem::visit(f->element, [&](auto* type) { row = row_of<std::remove_pointer_t<decltype(type)>>(f->op); });
  return row == nullptr ? PTLITE_NO_DTYPE : put(f, row, size);
}

}  // namespace

PTLITE_KERNEL(index_put, index_put_run)
