#include "frames/convert_limited.h"
#include "dispatch/kernel.h"
#include "support/element.h"
#include "support/float8.h"
#include "support/limited_dtypes.h"
#include "support/truncated.h"

namespace {

/// Calls f with a null pointer of the type of a dtype with little arithmetic; false for the others.
template <class F>
bool visit_limited(int32_t dtype, F&& f) {
  switch (dtype) {
    case ptlite::FLOAT8_E5M2: return f(static_cast<float8_e5m2*>(nullptr)), true;
    case ptlite::FLOAT8_E4M3FN: return f(static_cast<float8_e4m3fn*>(nullptr)), true;
    case ptlite::FLOAT8_E5M2FNUZ: return f(static_cast<float8_e5m2fnuz*>(nullptr)), true;
    case ptlite::FLOAT8_E4M3FNUZ: return f(static_cast<float8_e4m3fnuz*>(nullptr)), true;
    case ptlite::UINT16: return f(static_cast<uint16_t*>(nullptr)), true;
    case ptlite::UINT32: return f(static_cast<uint32_t*>(nullptr)), true;
    case ptlite::UINT64: return f(static_cast<uint64_t*>(nullptr)), true;
    default: return false;
  }
}

bool is_float(int32_t dtype) {
  return ptlite::is_float8(dtype) || dtype == PTLITE_FLOAT64 || dtype == PTLITE_FLOAT32 || dtype == PTLITE_FLOAT16 || dtype == PTLITE_BFLOAT16;
}

/// The element behind a number: of floats the integer towards 0, whose low bits narrower types keep.
template <class T, class C>
T element_of(C value) {
  if constexpr (std::is_same_v<T, uint64_t> && std::is_same_v<C, double>) {
    if (value >= 0x1p63) return value < 0x1p64 ? static_cast<uint64_t>(value) : 0;
    return static_cast<uint64_t>(ptlite::truncated<int64_t>(value));
  } else if constexpr (std::is_integral_v<T> && std::is_same_v<C, double>) {
    return static_cast<T>(ptlite::truncated<int64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    return T::from(static_cast<float>(value));
  }
}

template <class C>
void load(C* to, int32_t dtype, const void* from, int64_t stride, int64_t n) {
  const bool limited = visit_limited(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (int64_t i = 0; i < n; i++) to[i] = static_cast<C>(static_cast<const T*>(from)[i * stride]);
  });
  if (limited) return;
  // whole numbers stay exact: negative ones as their low bits
  if constexpr (std::is_same_v<C, uint64_t>)
    elem::load<int64_t>(reinterpret_cast<int64_t*>(to), dtype, from, stride, n);
  else
    elem::load<C>(to, dtype, from, stride, n);
}

/// Signed numbers become floats as such, unsigned ones of 64 bits too.
template <class C>
void store(void* to, int32_t dtype, int64_t stride, const C* from, int64_t n) {
  const bool limited = visit_limited(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (int64_t i = 0; i < n; i++) static_cast<T*>(to)[i * stride] = element_of<T>(from[i]);
  });
  if (limited) return;
  int64_t whole[256];
  double real[256];
  for (int64_t i = 0; i < n; i += 256) {
    const int64_t m = n - i < 256 ? n - i : 256;
    void* out = elem::at(to, dtype, i * stride);
    if (is_float(dtype) || dtype == PTLITE_BOOL) {
      for (int64_t j = 0; j < m; j++) real[j] = static_cast<double>(from[i + j]);
      elem::store<double>(out, dtype, real, stride, m);
    } else if constexpr (std::is_same_v<C, double>) {
      for (int64_t j = 0; j < m; j++)
        whole[j] = dtype == PTLITE_INT32 ? ptlite::truncated<int32_t>(from[i + j]) : ptlite::truncated<int64_t>(from[i + j]);
      elem::store<int64_t>(out, dtype, whole, stride, m);
    } else {
      elem::store<int64_t>(out, dtype, reinterpret_cast<const int64_t*>(from) + i, stride, m);
    }
  }
}

int64_t bytes_of(int32_t dtype) { return dtype < ptlite::FLOAT8_E5M2 ? elem::size_of(dtype) : ptlite::limited_size(dtype); }

bool holds(int32_t dtype) {
  return visit_limited(dtype, [](auto*) {}) || elem::visit(dtype, [](auto*) {});
}

/// Through C, which holds every number of in's dtype.
template <class C>
void convert_through(const convert_limited_frame* f) {
  constexpr int64_t chunk = 256;
  C buffer[chunk];
  const bool dense = f->ndim == 0;
  const int64_t n0 = dense ? f->n : f->sizes[0], out0 = dense ? 1 : f->out_strides[0], in0 = dense ? 1 : f->in_strides[0];
  const int64_t out_size = bytes_of(f->out_dtype), in_size = bytes_of(f->in_dtype);
  const int32_t outer = dense ? 0 : f->ndim - 1;
  Odometer walk(outer, f->sizes + 1, f->out_strides + 1, f->in_strides + 1);
  for (int64_t rows = walk.count(); rows > 0; rows--) {
    char* out = reinterpret_cast<char*>(f->out) + walk.offset[0] * out_size;
    const char* in = reinterpret_cast<const char*>(f->in) + walk.offset[1] * in_size;
    for (int64_t i = 0; i < n0; i += chunk) {
      const int64_t m = n0 - i < chunk ? n0 - i : chunk;
      load<C>(buffer, f->in_dtype, in + i * in0 * in_size, in0, m);
      store<C>(out + i * out0 * out_size, f->out_dtype, out0, buffer, m);
    }
    walk.next();
  }
}

int32_t convert_limited(convert_limited_frame* f) {
  if (!holds(f->out_dtype) || !holds(f->in_dtype)) return PTLITE_NO_DTYPE;
  if (f->n == 0) return PTLITE_OK;
  if (is_float(f->in_dtype)) convert_through<double>(f);
  else if (f->in_dtype == ptlite::UINT64) convert_through<uint64_t>(f);
  else convert_through<int64_t>(f);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(convert_limited, convert_limited)
