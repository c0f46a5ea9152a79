#include <cstring>
#include <type_traits>

#include "frames/elementwise.h"
#include "frames/index.h"
#include "isa/kernel.h"
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

template <class S, class Op>
int32_t put(index_put_frame* f) {
  const int64_t width = f->ndim > 0 ? f->sizes[0] : 1;
  const int64_t self_step = f->ndim > 0 ? f->self_strides[0] : 0, src_step = f->ndim > 0 ? f->src_strides[0] : 0;
  IndexWalk<index_put_frame> walk(f, f->self_strides, f->src_strides);
  const int64_t rows = walk.rows();
  const bool uniform = f->ndim == 0 || walk.row_is_uniform();
  S* self = (S*)f->self;
  const S* src = (const S*)f->src;
  if (width == 0) return PTLITE_OK;
  for (int64_t r = 0; r < rows; r++, walk.next_row()) {
    const S* from = src + walk.b;
    if (uniform) {
      int64_t to = walk.a;
      for (int32_t k = 0; k < f->indices; k++)
        if (!walk.add(k, walk.at[k], to)) return PTLITE_INDEX_RANGE;
      for (int64_t i = 0; i < width; i++) {
        S& slot = self[to + i * self_step];
        slot = Op::apply(slot, from[i * src_step], f->alpha);
      }
      continue;
    }
    for (int64_t i = 0; i < width; i++) {
      int64_t to = walk.a + i * self_step;
      for (int32_t k = 0; k < f->indices; k++)
        if (!walk.add(k, walk.at[k] + i * f->index_strides[12 * k], to)) return PTLITE_INDEX_RANGE;
      self[to] = Op::apply(self[to], from[i * src_step], f->alpha);
    }
  }
  return PTLITE_OK;
}

int32_t index_put_run(index_put_frame* f) {
  if (f->op == PutOp_copy) {
    switch (elem::size_of(f->dtype)) {
      case 1: return put<uint8_t, Copy>(f);
      case 2: return put<uint16_t, Copy>(f);
      case 4: return put<uint32_t, Copy>(f);
      default: return put<uint64_t, Copy>(f);
    }
  }
  int32_t status = PTLITE_NO_DTYPE;
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    switch (f->op) {
      case PutOp_add: status = put<S, Add>(f); break;
      case PutOp_add_scaled: status = put<S, AddScaled>(f); break;
      case PutOp_multiply: status = put<S, Multiply>(f); break;
      case PutOp_min: status = put<S, Min>(f); break;
      case PutOp_max: status = put<S, Max>(f); break;
      default: break;
    }
  });
  return status;
}

}  // namespace

PTLITE_KERNEL(index_put, index_put_run)
