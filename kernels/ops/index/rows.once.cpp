// Row scaling: division by counts, and norms limited to a maximum.
#include <cmath>
#include <type_traits>

#include "frames/index.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"
#include "support/element.h"

namespace {

int32_t divide_counts_run(divide_counts_frame* f) {
  const int64_t* counts = (const int64_t*)f->counts;
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    S* self = (S*)f->self;
    for (int64_t i = 0; i < f->count; i++) {
      const int64_t n = counts[i];
      if (n == 0) continue;
      if constexpr (std::is_integral_v<S>) {
        const int64_t x = self[i];
        self[i] = S(x / n - (x % n != 0 && (x < 0) != (n < 0)));
      } else {
        using C = std::conditional_t<std::is_same_v<S, double>, double, float>;
        self[i] = elem::to_stored<S, C>(elem::cast<C>(self[i]) / C(n));
      }
    }
  });
  return PTLITE_OK;
}

template <class S>
double norm_of(const S* row, int64_t width, int64_t stride, double p) {
  double total = 0;
  ptlite::in_pieces(width, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
      const double x = std::fabs(elem::cast<double>(row[i * stride]));
      if (p == 0) total += x != 0;
      else if (p == 1) total += x;
      else if (p == 2) total += x * x;
      else if (std::isinf(p)) total = x > total || x != x ? x : total;
      else total += std::pow(x, p);
    }
  });
  if (p == 2) return std::sqrt(total);
  return p == 0 || p == 1 || std::isinf(p) ? total : std::pow(total, 1 / p);
}

int32_t renorm_rows_run(renorm_rows_frame* f) {
  const int64_t* list = (const int64_t*)f->list;
  elem::visit(f->dtype, [&](auto* type) {
    using S = std::remove_pointer_t<decltype(type)>;
    for (int64_t r = 0; r < f->rows; r++) {
      S* row = (S*)f->self + (list ? list[r] : r) * f->row_stride;
      const double norm = norm_of(row, f->width, f->column_stride, f->p);
      if (!(norm > f->max_norm)) continue;
      const double scale = f->max_norm / (norm + 1e-7);
      ptlite::in_pieces(f->width, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; i++) {
          S& x = row[i * f->column_stride];
          x = elem::to_stored<S, double>(elem::cast<double>(x) * scale);
        }
      });
    }
  });
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(divide_counts, divide_counts_run)
PTLITE_KERNEL(renorm_rows, renorm_rows_run)
