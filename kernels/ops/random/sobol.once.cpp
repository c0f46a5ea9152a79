#include "frames/sobol.h"
#include "dispatch/kernel.h"
#include "pool/budget.h"

namespace {

/** Bits of a direction number. */
constexpr int64_t bits = 30;

template <typename T>
void points(sobol_points_frame* f, T* out) {
  auto* point = reinterpret_cast<int64_t*>(f->point);
  const auto* directions = reinterpret_cast<const int64_t*>(f->directions);
  ptlite::Pace pace;
  for (int64_t i = 0; i < f->count; ++i) {
    pace.after(f->dimension);
    const int zero = __builtin_ctzll(~static_cast<uint64_t>(f->generated + i));
    for (int64_t d = 0; d < f->dimension; ++d) {
      // the last of 2^30 points has no next one
      if (zero < bits) point[d] ^= directions[d * bits + zero];
      if (out != nullptr) *out++ = static_cast<T>(point[d]) * static_cast<T>(1.0 / (1 << bits));
    }
  }
}

int32_t sobol_points(sobol_points_frame* f) {
  if (f->dtype == PTLITE_FLOAT64) {
    points(f, reinterpret_cast<double*>(f->out));
  } else {
    points(f, reinterpret_cast<float*>(f->out));
  }
  return PTLITE_OK;
}

int32_t sobol_scramble(sobol_scramble_frame* f) {
  auto* directions = reinterpret_cast<int64_t*>(f->directions);
  const auto* matrix = reinterpret_cast<const int64_t*>(f->matrices);
  for (int64_t d = 0; d < f->dimension; ++d, directions += bits, matrix += bits * bits) {
    uint64_t rows[bits];
    for (int64_t r = 0; r < bits; ++r) {
      rows[r] = 0;
      for (int64_t c = 0; c < bits; ++c) {
        const uint64_t bit = c == r ? 1 : static_cast<uint64_t>(matrix[r * bits + c]) & 1;
        rows[r] |= bit << (bits - 1 - c);
      }
    }
    for (int64_t k = 0; k < bits; ++k) {
      const uint64_t direction = static_cast<uint64_t>(directions[k]);
      uint64_t product = 0;
      for (const uint64_t row : rows) product = product << 1 | static_cast<uint64_t>(__builtin_parityll(row & direction));
      directions[k] = static_cast<int64_t>(product);
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(sobol_points, sobol_points)
PTLITE_KERNEL(sobol_scramble, sobol_scramble)
