// Folds over any set of dims. Blocks of a few hundred elements are folded in the compute type with several
// independent accumulators, and block results in a wider type, so that errors stay near those of a pairwise sum.
#include <cmath>
#include <limits>
#include <type_traits>

#include "frames/reduce.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"
#include "support/lanes.h"

namespace {

using lanes::V;

constexpr int64_t kBlock = 512;
constexpr int64_t kLanes = 256;
constexpr int64_t kRows = 32;

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// What sums and products of int64, alone (X is int64_t) or as vectors of them, are computed in: they wrap around.
template <class X>
struct Unsigned {
  typedef uint64_t type __attribute__((vector_size(sizeof(X))));
};
template <>
struct Unsigned<int64_t> {
  using type = uint64_t;
};

/// Works alike on scalars and vectors of T: `x != x` etc. give masks for the vectors.
template <class T>
struct Add {
  template <class X>
  static X combine(X a, X b) {
    if constexpr (std::is_same_v<T, int64_t>) return (X)((typename Unsigned<X>::type)a + (typename Unsigned<X>::type)b);
    else return a + b;
  }
  static constexpr T identity() { return T(0); }
};
template <class T>
struct Multiply {
  template <class X>
  static X combine(X a, X b) {
    if constexpr (std::is_same_v<T, int64_t>) return (X)((typename Unsigned<X>::type)a * (typename Unsigned<X>::type)b);
    else return a * b;
  }
  static constexpr T identity() { return T(1); }
};
template <class T>
constexpr T lowest() {
  if constexpr (std::is_same_v<T, int64_t>) return std::numeric_limits<int64_t>::min();
  else return -std::numeric_limits<T>::infinity();
}
template <class T>
constexpr T highest() {
  if constexpr (std::is_same_v<T, int64_t>) return std::numeric_limits<int64_t>::max();
  else return std::numeric_limits<T>::infinity();
}
/// A NaN operand wins and stays.
template <class T>
struct Larger {
  template <class X>
  static X combine(X a, X b) {
    if constexpr (std::is_same_v<T, int64_t>) return b > a ? b : a;
    else if constexpr (std::is_arithmetic_v<X>) return (b > a || b != b) ? b : a;
    else return ((b > a) | (b != b)) ? b : a;
  }
  static constexpr T identity() { return lowest<T>(); }
};
template <class T>
struct Smaller {
  template <class X>
  static X combine(X a, X b) {
    if constexpr (std::is_same_v<T, int64_t>) return b < a ? b : a;
    else if constexpr (std::is_arithmetic_v<X>) return (b < a || b != b) ? b : a;
    else return ((b < a) | (b != b)) ? b : a;
  }
  static constexpr T identity() { return highest<T>(); }
};

struct Same {
  template <class X>
  static X map(X x) {
    return x;
  }
};
struct Squared {
  template <class X>
  static X map(X x) {
    return x * x;
  }
};

struct ZeroForNan {
  template <class X>
  static X map(X x) {
    return x == x ? x : X{};
  }
};
template <class T>
struct OneForNonZero {
  template <class X>
  static X map(X x) {
    return x != X{} ? X{} + T(1) : X{};
  }
};
struct Magnitude {
  template <class X>
  static X map(X x) {
    return x < X{} ? -x : x;
  }
};

/// What less frequent folds do to a block before: a pass of its own, so that they need no loops of their own.
template <class T>
using Prepare = void (*)(T* to, const T* from, int64_t n, double p);

template <class T, class Map>
void prepared(T* to, const T* from, int64_t n, double) {
  constexpr int kStep = lanes::kCount<T>;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) lanes::store(to + i, Map::map(lanes::load(from + i)));
  for (; i < n; i++) to[i] = Map::map(from[i]);
}
template <class T>
void powers(T* to, const T* from, int64_t n, double p) {
  for (int64_t i = 0; i < n; i++) to[i] = T(std::pow(from[i] < 0 ? -from[i] : from[i], T(p)));
}

/// A block of the input as T, prepared; `buffer` has room for it.
template <class T>
const T* block(const reduce_frame* f, Prepare<T> prepare, T* buffer, const void* from, int64_t stride, int64_t n) {
  const T* x = elem::view<T>(buffer, f->in_dtype, from, stride, n);
  if (prepare == nullptr) return x;
  prepare(buffer, x, n, f->p);
  return buffer;
}

template <class T, class Map, template <class> class Fold>
T fold_run(const T* x, int64_t n) {
  constexpr int kStep = lanes::kCount<T>;
  T total = Fold<T>::identity();
  int64_t i = 0;
  if (n >= 4 * kStep) {
    V<T> a = lanes::splat<T>(Fold<T>::identity()), b = a, c = a, d = a;
    for (; i + 4 * kStep <= n; i += 4 * kStep) {
      a = Fold<T>::combine(a, Map::map(lanes::load(x + i)));
      b = Fold<T>::combine(b, Map::map(lanes::load(x + i + kStep)));
      c = Fold<T>::combine(c, Map::map(lanes::load(x + i + 2 * kStep)));
      d = Fold<T>::combine(d, Map::map(lanes::load(x + i + 3 * kStep)));
    }
    const V<T> all = Fold<T>::combine(Fold<T>::combine(a, b), Fold<T>::combine(c, d));
    T part[kStep];
    lanes::store(part, all);
    for (int width = kStep / 2; width > 0; width /= 2)
      for (int k = 0; k < width; k++) part[k] = Fold<T>::combine(part[k], part[k + width]);
    total = part[0];
  }
  for (; i < n; i++) total = Fold<T>::combine(total, Map::map(x[i]));
  return total;
}

template <class T>
Wide<T> finish(const reduce_frame* f, Wide<T> value) {
  if (f->op == ReduceOp_any || f->op == ReduceOp_all) return value > 0 ? 1 : 0;
  if constexpr (std::is_floating_point_v<T>) {
    switch (f->op) {
      case ReduceOp_mean: return value / f->divisor;
      case ReduceOp_norm2: return std::sqrt(value);
      case ReduceOp_normp: return std::pow(value, 1.0 / f->p);
      default: break;
    }
  }
  return value;
}

/// The reduced innermost dim is the fast one, or nothing is contiguous: one result at a time.
template <class T, class Map, template <class> class Fold>
void reduce_inner(const reduce_frame* f, Prepare<T> prepare) {
  using W = Wide<T>;
  const int64_t inner = f->red_ndim > 0 ? f->red_sizes[0] : 1;
  const int64_t step = f->red_ndim > 0 ? f->red_in[0] : 1;
  Odometer kept(f->kept_ndim, f->kept_sizes, f->kept_in, f->kept_out);
  Odometer red(f->red_ndim > 0 ? f->red_ndim - 1 : 0, f->red_sizes + 1, f->red_in + 1);
  const int64_t outputs = kept.count(), rows = inner > 0 ? red.count() : 0;
  alignas(64) T buffer[kBlock];
  ptlite::Pace pace;
  for (int64_t o = 0; o < outputs; o++, kept.next()) {
    pace.after(1);
    W total = Fold<W>::identity();
    const char* base = elem::at((const void*)f->in, f->in_dtype, kept.offset[0]);
    if (rows > 1 && inner * rows <= kBlock) {
      // short runs are gathered first, so that a block is folded at once
      for (int64_t r = 0; r < rows; r++, red.next())
        elem::load<T>(buffer + r * inner, f->in_dtype, elem::at(base, f->in_dtype, red.offset[0]), step, inner);
      red.reset();
      if (prepare != nullptr) prepare(buffer, buffer, rows * inner, f->p);
      total = Fold<W>::combine(total, W(fold_run<T, Map, Fold>(buffer, rows * inner)));
    } else {
      for (int64_t r = 0; r < rows; r++) {
        pace.after(1);
        const char* row = elem::at(base, f->in_dtype, red.offset[0]);
        for (int64_t i = 0; i < inner; i += kBlock) {
          const int64_t n = inner - i < kBlock ? inner - i : kBlock;
          const T* x = block<T>(f, prepare, buffer, elem::at(row, f->in_dtype, i * step), step, n);
          total = Fold<W>::combine(total, W(fold_run<T, Map, Fold>(x, n)));
          pace.after(n);
        }
        red.next();
      }
      red.reset();
    }
    const W result = finish<T>(f, total);
    elem::store<W>(elem::at((void*)f->out, f->out_dtype, kept.offset[1]), f->out_dtype, &result, 1, 1);
  }
}

/// The kept innermost dim is contiguous: many results side by side, row after row.
template <class T, class Map, template <class> class Fold>
void reduce_columns(const reduce_frame* f, Prepare<T> prepare) {
  using W = Wide<T>;
  constexpr int kStep = lanes::kCount<T>;
  const int64_t width = f->kept_sizes[0];
  Odometer kept(f->kept_ndim - 1, f->kept_sizes + 1, f->kept_in + 1, f->kept_out + 1);
  Odometer red(f->red_ndim, f->red_sizes, f->red_in);
  const int64_t outer = kept.count(), rows = red.count();
  alignas(64) T buffer[kLanes];
  alignas(64) T part[kLanes];
  alignas(64) W total[kLanes];
  ptlite::Pace pace;
  for (int64_t o = 0; o < outer; o++, kept.next()) {
    for (int64_t first = 0; first < width; first += kLanes) {
      const int64_t n = width - first < kLanes ? width - first : kLanes;
      const char* base = elem::at((const void*)f->in, f->in_dtype, kept.offset[0] + first);
      for (int64_t i = 0; i < n; i++) total[i] = Fold<W>::identity();
      for (int64_t r = 0; r < rows;) {
        pace.after(kRows * n);
        for (int64_t i = 0; i < n; i++) part[i] = Fold<T>::identity();
        const int64_t end = rows - r < kRows ? rows : r + kRows;
        for (; r < end; r++, red.next()) {
          const T* x = block<T>(f, prepare, buffer, elem::at(base, f->in_dtype, red.offset[0]), 1, n);
          int64_t i = 0;
          for (; i + kStep <= n; i += kStep)
            lanes::store(part + i, Fold<T>::combine(lanes::load(part + i), Map::map(lanes::load(x + i))));
          for (; i < n; i++) part[i] = Fold<T>::combine(part[i], Map::map(x[i]));
        }
        for (int64_t i = 0; i < n; i++) total[i] = Fold<W>::combine(total[i], W(part[i]));
      }
      red.reset();
      for (int64_t i = 0; i < n; i++) total[i] = finish<T>(f, total[i]);
      elem::store<W>(elem::at((void*)f->out, f->out_dtype, kept.offset[1] + first * f->kept_out[0]), f->out_dtype, total,
                     f->kept_out[0], n);
    }
  }
}

template <class T, class Map, template <class> class Fold>
void reduce_with(const reduce_frame* f, Prepare<T> prepare = nullptr) {
  const bool inner_contiguous = f->red_ndim > 0 && f->red_in[0] == 1 && f->red_sizes[0] >= 8;
  const bool columns = f->kept_ndim > 0 && f->kept_in[0] == 1 && f->kept_sizes[0] >= 4;
  if (columns && !inner_contiguous) reduce_columns<T, Map, Fold>(f, prepare);
  else reduce_inner<T, Map, Fold>(f, prepare);
}

template <class T>
int32_t reduce_in(const reduce_frame* f) {
  switch (f->op) {
    PTLITE_HELD_CASE(ReduceOp_sum, PTLITE_NO_DTYPE) { reduce_with<T, Same, Add>(f); return PTLITE_OK; }
    PTLITE_HELD_CASE(ReduceOp_prod, PTLITE_NO_DTYPE) { reduce_with<T, Same, Multiply>(f); return PTLITE_OK; }
    PTLITE_HELD_CASE(ReduceOp_max, PTLITE_NO_DTYPE) { reduce_with<T, Same, Larger>(f); return PTLITE_OK; }
    PTLITE_HELD_CASE(ReduceOp_min, PTLITE_NO_DTYPE) { reduce_with<T, Same, Smaller>(f); return PTLITE_OK; }
    PTLITE_HELD_CASE(ReduceOp_any, PTLITE_NO_DTYPE) { reduce_with<T, Same, Larger>(f, prepared<T, OneForNonZero<T>>); return PTLITE_OK; }
    PTLITE_HELD_CASE(ReduceOp_all, PTLITE_NO_DTYPE) { reduce_with<T, Same, Smaller>(f, prepared<T, OneForNonZero<T>>); return PTLITE_OK; }
    PTLITE_HELD_CASE(ReduceOp_count_nonzero, PTLITE_NO_DTYPE) { reduce_with<T, Same, Add>(f, prepared<T, OneForNonZero<T>>); return PTLITE_OK; }
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (f->op) {
      PTLITE_HELD_CASE(ReduceOp_mean, PTLITE_NO_DTYPE) { reduce_with<T, Same, Add>(f); return PTLITE_OK; }
      PTLITE_HELD_CASE(ReduceOp_nansum, PTLITE_NO_DTYPE) { reduce_with<T, Same, Add>(f, prepared<T, ZeroForNan>); return PTLITE_OK; }
      PTLITE_HELD_CASE(ReduceOp_norm1, PTLITE_NO_DTYPE) { reduce_with<T, Same, Add>(f, prepared<T, Magnitude>); return PTLITE_OK; }
      PTLITE_HELD_CASE(ReduceOp_norm2, PTLITE_NO_DTYPE) { reduce_with<T, Squared, Add>(f); return PTLITE_OK; }
      PTLITE_HELD_CASE(ReduceOp_normp, PTLITE_NO_DTYPE) { reduce_with<T, Same, Add>(f, powers<T>); return PTLITE_OK; }
      PTLITE_HELD_CASE(ReduceOp_norm_max, PTLITE_NO_DTYPE) { reduce_with<T, Same, Larger>(f, prepared<T, Magnitude>); return PTLITE_OK; }
      PTLITE_HELD_CASE(ReduceOp_norm_min, PTLITE_NO_DTYPE) { reduce_with<T, Same, Smaller>(f, prepared<T, Magnitude>); return PTLITE_OK; }
      default: break;
    }
  }
  return PTLITE_NO_DTYPE;
}

int32_t reduce_run(reduce_frame* f) {
  switch (f->compute) {
    PTLITE_HELD_CASE(ComputeType_f32, PTLITE_NO_DTYPE) return reduce_in<float>(f);
    PTLITE_HELD_CASE(ComputeType_f64, PTLITE_NO_DTYPE) return reduce_in<double>(f);
    PTLITE_HELD_CASE(ComputeType_i64, PTLITE_NO_DTYPE) return reduce_in<int64_t>(f);
    default: return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(reduce, reduce_run)
