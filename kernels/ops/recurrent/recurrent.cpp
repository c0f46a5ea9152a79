#include "frames/rnn.h"
#include "dispatch/kernel.h"
#include "vec/math.h"

namespace {

using namespace ptlite;

// The units of one row, a vector at a time. Gate g of unit j is at x[g * hidden + j].
template <class T>
struct Row {
  const T* gx;
  const T* gh;
  T* c;
  T* h;
  T* out;
  int64_t hidden;
};

template <class T>
PTLITE_INLINE Vec<T> lstm(const Row<T>& r, int64_t j, int64_t n) {
  const auto gate = [&](int64_t g) { return Vec<T>::load(r.gx + g * r.hidden + j, n) + Vec<T>::load(r.gh + g * r.hidden + j, n); };
  const Vec<T> c = sigmoid(gate(1)) * Vec<T>::load(r.c + j, n) + sigmoid(gate(0)) * tanh(gate(2));
  c.store(r.c + j, n);
  return sigmoid(gate(3)) * tanh(c);
}

template <class T>
PTLITE_INLINE Vec<T> gru(const Row<T>& r, int64_t j, int64_t n) {
  const auto x = [&](int64_t g) { return Vec<T>::load(r.gx + g * r.hidden + j, n); };
  const auto s = [&](int64_t g) { return Vec<T>::load(r.gh + g * r.hidden + j, n); };
  const Vec<T> reset = sigmoid(x(0) + s(0));
  const Vec<T> update = sigmoid(x(1) + s(1));
  const Vec<T> fresh = tanh(x(2) + reset * s(2));
  return (Vec<T>::load(r.h + j, n) - fresh) * update + fresh;
}

template <class T>
PTLITE_INLINE Vec<T> simple_sum(const Row<T>& r, int64_t j, int64_t n) {
  return Vec<T>::load(r.gx + j, n) + Vec<T>::load(r.gh + j, n);
}

template <class T, class Cell>
void run(const recurrent_cell_frame* f, int64_t gates, Cell cell) {
  const int64_t hidden = f->hidden;
  for (int64_t b = 0; b < f->batch; ++b) {
    const Row<T> row = {reinterpret_cast<const T*>(f->gx) + b * gates * hidden,
                        reinterpret_cast<const T*>(f->gh) + b * gates * hidden,
                        reinterpret_cast<T*>(f->c) + b * hidden,
                        reinterpret_cast<T*>(f->h) + b * hidden,
                        reinterpret_cast<T*>(f->out) + b * f->out_row,
                        hidden};
    for (int64_t j = 0; j < hidden; j += Vec<T>::size) {
      const int64_t n = hidden - j < Vec<T>::size ? hidden - j : Vec<T>::size;
      const Vec<T> h = cell(row, j, n);
      h.store(row.h + j, n);
      if (f->out != 0) h.store(row.out + j, n);
    }
  }
}

template <class T>
int32_t run_kind(const recurrent_cell_frame* f) {
  switch (f->kind) {
    case CellKind_lstm: run<T>(f, 4, [](const Row<T>& r, int64_t j, int64_t n) { return lstm(r, j, n); }); return PTLITE_OK;
    case CellKind_gru: run<T>(f, 3, [](const Row<T>& r, int64_t j, int64_t n) { return gru(r, j, n); }); return PTLITE_OK;
    case CellKind_tanh: run<T>(f, 1, [](const Row<T>& r, int64_t j, int64_t n) { return tanh(simple_sum(r, j, n)); }); return PTLITE_OK;
    default: run<T>(f, 1, [](const Row<T>& r, int64_t j, int64_t n) { return maximum(simple_sum(r, j, n), Vec<T>::zero()); });
  }
  return PTLITE_OK;
}

int32_t recurrent_cell(recurrent_cell_frame* f) {
  if (f->dtype == PTLITE_FLOAT32) return run_kind<float>(f);
  return f->dtype == PTLITE_FLOAT64 ? run_kind<double>(f) : PTLITE_NO_DTYPE;
}

}  // namespace

PTLITE_KERNEL(recurrent_cell, recurrent_cell)
