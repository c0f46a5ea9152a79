#include "vec/convert.h"

namespace ptlite {
inline namespace CPU_CAPABILITY {

template <class C>
int32_t load_as(C* to, int32_t dtype, const void* from, int64_t stride, int64_t n) {
  return with_dtype(dtype, [&](auto tag) {
    using S = decltype(tag);
    convert_run<C, S>(to, 1, static_cast<const S*>(from), stride, n);
    return PTLITE_OK;
  });
}

template <class C>
int32_t store_as(int32_t dtype, void* to, int64_t stride, const C* from, int64_t n) {
  return with_dtype(dtype, [&](auto tag) {
    using D = decltype(tag);
    convert_run<D, C>(static_cast<D*>(to), stride, from, 1, n);
    return PTLITE_OK;
  });
}

namespace {

constexpr int kMaxDims = 12;

// Calls run(offset, length) for each stretch of dimension 0 among n elements from `start` on.
template <class F>
PTLITE_INLINE void for_each_stretch(const Dims& dims, const int64_t* start, int64_t n, F run) {
  int64_t index[kMaxDims];
  int64_t offset = 0;
  for (int d = 0; d < dims.ndim; d++) {
    index[d] = start[d];
    offset += start[d] * dims.strides[d];
  }
  const int64_t row = dims.sizes[0];
  while (n > 0) {
    const int64_t left = row - index[0];
    const int64_t m = left < n ? left : n;
    run(offset, m);
    n -= m;
    if (m < left) return;
    offset -= index[0] * dims.strides[0];
    index[0] = 0;
    for (int d = 1; d < dims.ndim; d++) {
      offset += dims.strides[d];
      if (++index[d] < dims.sizes[d]) break;
      offset -= dims.sizes[d] * dims.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

template <class C>
int32_t gather_as(C* to, int32_t dtype, const void* from, const Dims& dims, const int64_t* start, int64_t n) {
  return with_dtype(dtype, [&](auto tag) {
    using S = decltype(tag);
    const S* base = static_cast<const S*>(from);
    const int64_t stride = dims.strides[0];
    for_each_stretch(dims, start, n, [&](int64_t offset, int64_t m) {
      for (int64_t i = 0; i < m; i++) {
        to[i] = convert_element<C>(base[offset + i * stride]);
        PTLITE_NO_VECTOR;
      }
      to += m;
    });
    return PTLITE_OK;
  });
}

template <class C>
int32_t scatter_as(int32_t dtype, void* to, const Dims& dims, const int64_t* start, const C* from, int64_t n) {
  return with_dtype(dtype, [&](auto tag) {
    using D = decltype(tag);
    D* base = static_cast<D*>(to);
    const int64_t stride = dims.strides[0];
    for_each_stretch(dims, start, n, [&](int64_t offset, int64_t m) {
      for (int64_t i = 0; i < m; i++) {
        base[offset + i * stride] = convert_element<D>(from[i]);
        PTLITE_NO_VECTOR;
      }
      from += m;
    });
    return PTLITE_OK;
  });
}

#define PTLITE_CONVERSIONS(C)                                                                  \
  template int32_t load_as<C>(C*, int32_t, const void*, int64_t, int64_t);                     \
  template int32_t store_as<C>(int32_t, void*, int64_t, const C*, int64_t);                    \
  template int32_t gather_as<C>(C*, int32_t, const void*, const Dims&, const int64_t*, int64_t); \
  template int32_t scatter_as<C>(int32_t, void*, const Dims&, const int64_t*, const C*, int64_t);
PTLITE_CONVERSIONS(float)
PTLITE_CONVERSIONS(double)
PTLITE_CONVERSIONS(int64_t)
#undef PTLITE_CONVERSIONS
template int32_t load_as<int32_t>(int32_t*, int32_t, const void*, int64_t, int64_t);
template int32_t store_as<int32_t>(int32_t, void*, int64_t, const int32_t*, int64_t);

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
