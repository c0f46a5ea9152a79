/* A library as there are many: it knows nothing of tensors. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The mean of each `window` neighbours in a row: out has columns - window + 1 of them. Gives 1 where the window does not fit. */
int moving_mean(const float* x, int64_t rows, int64_t columns, int window, float* out) {
  if (window < 1 || window > columns) return 1;
  const int64_t given = columns - window + 1;
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t i = 0; i < given; i++) {
      float sum = 0;
      for (int k = 0; k < window; k++) sum += x[r * columns + i + k];
      out[r * given + i] = sum / (float)window;
    }
  }
  return 0;
}

/* Divides each row by its length, and multiplies it by weights where there are some. */
void normalize(float* x, const float* weight, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; r++) {
    float* row = x + r * columns;
    double squares = 0;
    for (int64_t i = 0; i < columns; i++) squares += (double)row[i] * row[i];
    const float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (int64_t i = 0; i < columns; i++) row[i] *= weight ? scale * weight[i] : scale;
  }
}

/* The greatest magnitude. */
double peak(const float* x, size_t n) {
  double greatest = 0;
  for (size_t i = 0; i < n; i++) greatest = fmax(greatest, fabs(x[i]));
  return greatest;
}
