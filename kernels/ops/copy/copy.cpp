// isa: SVE
#include "frames/copy.h"
#include "dispatch/kernel.h"
#include "vec/convert.h"

namespace {

using namespace ptlite;

constexpr int kMaxDims = 12;

// Calls row(out offset, in offset), in elements, for each row of dimension 0 of dims first..ndim-1 (outer ones).
template <class F>
void for_each_outer(int first, int ndim, const int64_t* sizes, const int64_t* a, const int64_t* b, F row) {
  int64_t index[kMaxDims] = {};
  int64_t at_a = 0, at_b = 0;
  for (;;) {
    row(at_a, at_b);
    int d = first;
    for (; d < ndim; d++) {
      at_a += a[d];
      at_b += b[d];
      if (++index[d] < sizes[d]) break;
      at_a -= a[d] * sizes[d];
      at_b -= b[d] * sizes[d];
      index[d] = 0;
    }
    if (d >= ndim) return;
  }
}

// out[j][i] = in[i][j] in tiles that fit the first-level cache
template <class T>
void transpose(T* __restrict__ out, int64_t out_stride, const T* __restrict__ in, int64_t in_stride, int64_t rows, int64_t columns) {
  constexpr int64_t tile = 16;
  for (int64_t j0 = 0; j0 < columns; j0 += tile) {
    const int64_t j1 = j0 + tile < columns ? j0 + tile : columns;
    for (int64_t i0 = 0; i0 < rows; i0 += tile) {
      const int64_t i1 = i0 + tile < rows ? i0 + tile : rows;
      if (i1 - i0 == tile && j1 - j0 == tile) {
        T block[tile][tile];
        for (int64_t i = 0; i < tile; i++)
          for (int64_t j = 0; j < tile; j++) block[j][i] = in[(i0 + i) * in_stride + j0 + j];
        for (int64_t j = 0; j < tile; j++) memcpy(out + (j0 + j) * out_stride + i0, block[j], sizeof(block[j]));
      } else {
        for (int64_t j = j0; j < j1; j++)
          for (int64_t i = i0; i < i1; i++) out[j * out_stride + i] = in[i * in_stride + j];
      }
    }
  }
}

// Elements of one size, whatever they mean.
template <class T>
void copy_same(const copy_frame* f) {
  T* out = reinterpret_cast<T*>(f->out);
  const T* in = reinterpret_cast<const T*>(f->in);
  const int64_t n0 = f->sizes[0];
  const int64_t out0 = f->out_strides[0], in0 = f->in_strides[0];
  if (out0 == 1 && in0 == 1) {
    for_each_outer(1, f->ndim, f->sizes, f->out_strides, f->in_strides, [&](int64_t to, int64_t from) {
      if (n0 <= 16) {
        for (int64_t i = 0; i < n0; i++) out[to + i] = in[from + i];
      } else {
        memcpy(out + to, in + from, static_cast<size_t>(n0) * sizeof(T));
      }
    });
    return;
  }
  if (f->ndim >= 2 && ((out0 == 1 && f->in_strides[1] == 1) || (in0 == 1 && f->out_strides[1] == 1))) {
    const int64_t n1 = f->sizes[1];
    for_each_outer(2, f->ndim, f->sizes, f->out_strides, f->in_strides, [&](int64_t to, int64_t from) {
      if (out0 == 1)
        transpose(out + to, f->out_strides[1], in + from, in0, n0, n1);
      else
        transpose(out + to, out0, in + from, f->in_strides[1], n1, n0);
    });
    return;
  }
  // a transposition whose other dimension lies further out: take that dimension along
  if (out0 == 1) {
    for (int d = 2; d < f->ndim; d++) {
      if (f->in_strides[d] != 1 || f->sizes[d] < 4 || n0 < 4) continue;
      int64_t sizes[kMaxDims];
      memcpy(sizes, f->sizes, sizeof(sizes));
      sizes[d] = 1;
      for_each_outer(1, f->ndim, sizes, f->out_strides, f->in_strides, [&](int64_t to, int64_t from) {
        transpose(out + to, f->out_strides[d], in + from, in0, n0, f->sizes[d]);
      });
      return;
    }
  }
  for_each_outer(1, f->ndim, f->sizes, f->out_strides, f->in_strides,
                 [&](int64_t to, int64_t from) { convert_run(out + to, out0, in + from, in0, n0); });
}

bool same_bits(int32_t to, int32_t from) {
  const auto byte = [](int32_t d) { return d == PTLITE_UINT8 || d == PTLITE_INT8 || d == PTLITE_QINT8 || d == PTLITE_QUINT8; };
  if (to == from) return true;
  return byte(to) && (byte(from) || from == PTLITE_BOOL);
}

// Calls run(out address, in address, n) for each run of elements whose strides are those of dimension 0.
template <class F>
int32_t for_each_run(const copy_frame* f, F run) {
  if (f->ndim == 0) return run(f->out, f->in, f->n);
  const uint64_t out_size = static_cast<uint64_t>(element_size(f->out_dtype));
  const uint64_t in_size = static_cast<uint64_t>(element_size(f->in_dtype));
  int32_t status = PTLITE_OK;
  for_each_outer(1, f->ndim, f->sizes, f->out_strides, f->in_strides, [&](int64_t to, int64_t from) {
    status |= run(f->out + static_cast<uint64_t>(to) * out_size, f->in + static_cast<uint64_t>(from) * in_size, f->sizes[0]);
  });
  return status;
}

// Through C, the type that holds every value of in's dtype.
template <class C>
int32_t convert_through(const copy_frame* f, int64_t out_stride, int64_t in_stride) {
  constexpr int64_t chunk = 512;
  C buffer[chunk];
  const int64_t out_step = out_stride * element_size(f->out_dtype), in_step = in_stride * element_size(f->in_dtype);
  return for_each_run(f, [&](uint64_t out, uint64_t in, int64_t n) {
    int32_t status = PTLITE_OK;
    for (int64_t i = 0; i < n; i += chunk) {
      const int64_t m = n - i < chunk ? n - i : chunk;
      status |= load_as<C>(buffer, f->in_dtype, reinterpret_cast<const char*>(in) + i * in_step, in_stride, m);
      status |= store_as<C>(f->out_dtype, reinterpret_cast<char*>(out) + i * out_step, out_stride, buffer, m);
    }
    return status;
  });
}

int32_t convert(const copy_frame* f) {
  const int64_t out_stride = f->ndim == 0 ? 1 : f->out_strides[0];
  const int64_t in_stride = f->ndim == 0 ? 1 : f->in_strides[0];
  if (f->out_dtype == PTLITE_FLOAT32 && out_stride == 1) {
    return for_each_run(f, [&](uint64_t out, uint64_t in, int64_t n) {
      return load_as<float>(reinterpret_cast<float*>(out), f->in_dtype, reinterpret_cast<const void*>(in), in_stride, n);
    });
  }
  switch (f->in_dtype) {
    case PTLITE_FLOAT64:
      return convert_through<double>(f, out_stride, in_stride);
    case PTLITE_FLOAT16:
    case PTLITE_BFLOAT16:
    case PTLITE_FLOAT32:
      return convert_through<float>(f, out_stride, in_stride);
    default:
      return convert_through<int64_t>(f, out_stride, in_stride);
  }
}

int32_t copy(copy_frame* f) {
  if (f->n == 0) return PTLITE_OK;
  if (same_bits(f->out_dtype, f->in_dtype)) {
    const int64_t size = element_size(f->in_dtype);
    if (f->ndim == 0) {
      memcpy(reinterpret_cast<void*>(f->out), reinterpret_cast<const void*>(f->in), static_cast<size_t>(f->n * size));
      return PTLITE_OK;
    }
    switch (size) {
      case 1:
        copy_same<uint8_t>(f);
        return PTLITE_OK;
      case 2:
        copy_same<uint16_t>(f);
        return PTLITE_OK;
      case 4:
        copy_same<uint32_t>(f);
        return PTLITE_OK;
      case 8:
        copy_same<uint64_t>(f);
        return PTLITE_OK;
      default:
        return PTLITE_NO_DTYPE;
    }
  }
  return convert(f);
}

template <class T>
void fill_with(const fill_frame* f, T value) {
  T* out = reinterpret_cast<T*>(f->out);
  if (f->ndim == 0) {
    for (int64_t i = 0; i < f->n; i++) out[i] = value;
    return;
  }
  const int64_t n0 = f->sizes[0], stride = f->out_strides[0];
  for_each_outer(1, f->ndim, f->sizes, f->out_strides, f->out_strides, [&](int64_t to, int64_t) {
    for (int64_t i = 0; i < n0; i++) out[to + i * stride] = value;
  });
}

int32_t fill(fill_frame* f) {
  if (f->n == 0) return PTLITE_OK;
  const uint64_t bits = static_cast<uint32_t>(f->low) | (uint64_t{static_cast<uint32_t>(f->high)} << 32);
  switch (f->item_size) {
    case 1:
      fill_with(f, static_cast<uint8_t>(bits));
      return PTLITE_OK;
    case 2:
      fill_with(f, static_cast<uint16_t>(bits));
      return PTLITE_OK;
    case 4:
      fill_with(f, static_cast<uint32_t>(bits));
      return PTLITE_OK;
    case 8:
      fill_with(f, bits);
      return PTLITE_OK;
    default:
      return PTLITE_NO_DTYPE;
  }
}

}  // namespace

PTLITE_KERNEL(copy, copy)
PTLITE_KERNEL(fill, fill)
