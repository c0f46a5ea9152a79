// isa: SVE
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
void for_each_stretch(const Dims& dims, const int64_t* start, int64_t n, F run) {
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

// One stretch of a dtype's elements; chosen once per call, so that the walk is not compiled for each dtype.
template <class C>
using LoadStretch = void (*)(C* to, const void* from, int64_t offset, int64_t stride, int64_t n);
template <class C>
using StoreStretch = void (*)(void* to, int64_t offset, int64_t stride, const C* from, int64_t n);

template <class C, class S>
void load_stretch(C* to, const void* from, int64_t offset, int64_t stride, int64_t n) {
  const S* base = static_cast<const S*>(from) + offset;
  for (int64_t i = 0; i < n; i++) {
    to[i] = convert_element<C>(base[i * stride]);
    PTLITE_NO_VECTOR;
  }
}

template <class C, class D>
void store_stretch(void* to, int64_t offset, int64_t stride, const C* from, int64_t n) {
  D* base = static_cast<D*>(to) + offset;
  for (int64_t i = 0; i < n; i++) {
    base[i * stride] = convert_element<D>(from[i]);
    PTLITE_NO_VECTOR;
  }
}

}  // namespace

template <class C>
int32_t gather_as(C* to, int32_t dtype, const void* from, const Dims& dims, const int64_t* start, int64_t n) {
  LoadStretch<C> load = nullptr;
  const int32_t status = with_dtype(dtype, [&](auto tag) {
    load = load_stretch<C, decltype(tag)>;
    return PTLITE_OK;
  });
  if (status != PTLITE_OK) return status;
  const int64_t stride = dims.strides[0];
  for_each_stretch(dims, start, n, [&](int64_t offset, int64_t m) {
    load(to, from, offset, stride, m);
    to += m;
  });
  return PTLITE_OK;
}

template <class C>
int32_t scatter_as(int32_t dtype, void* to, const Dims& dims, const int64_t* start, const C* from, int64_t n) {
  StoreStretch<C> store = nullptr;
  const int32_t status = with_dtype(dtype, [&](auto tag) {
    store = store_stretch<C, decltype(tag)>;
    return PTLITE_OK;
  });
  if (status != PTLITE_OK) return status;
  const int64_t stride = dims.strides[0];
  for_each_stretch(dims, start, n, [&](int64_t offset, int64_t m) {
    store(to, offset, stride, from, m);
    from += m;
  });
  return PTLITE_OK;
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
