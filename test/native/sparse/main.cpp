// Block-sparse products of random shapes in all forms, at the level in use: against sums in double precision, with every operand ending at a
// page that cannot be touched. Built with sanitizers. Prints how many cases ran; exits 1 at the first wrong one.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "frames/jit.h"
#include "frames/sparse.h"
#include "dispatch/levels.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "ptlite_abi.h"

namespace ptlite {
extern Kernel implementations_of_sparse_gemm_create[];
extern Kernel implementations_of_sparse_gemm[];
extern Kernel implementations_of_sparse_dense[];
extern Kernel implementations_of_sparse_release[];
}  // namespace ptlite

namespace {

std::mt19937 random_bits(1);
int below(int n) { return static_cast<int>(random_bits() % static_cast<unsigned>(n)); }
float real() { return static_cast<float>(below(2001) - 1000) / 1000; }

// The kernel of the best level that has one.
template <class Frame>
void call(ptlite::Kernel* implementations, Frame& frame) {
  int level = ptlite_current_level();
  while (implementations[level] == nullptr) level--;
  if (implementations[level](&frame) != PTLITE_OK) {
    fprintf(stderr, "a kernel failed\n");
    exit(1);
  }
}

// Floats whose last one is followed by a page without access.
class Guarded {
 public:
  explicit Guarded(size_t count) : count_(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (count * sizeof(float) + page - 1) / page * page;
    mapped_ = bytes + page;
    memory_ = static_cast<char*>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + bytes, page, PROT_NONE) != 0) exit(2);
    data_ = reinterpret_cast<float*>(memory_ + bytes) - count;
    for (size_t i = 0; i < count; i++) data_[i] = real();
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(memory_, mapped_); }

  float& operator[](size_t i) { return data_[i]; }
  size_t count() const { return count_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }

 private:
  size_t count_, mapped_;
  char* memory_;
  float* data_;
};

void fail(const char* what, int form, int64_t m, int64_t n, int64_t k) {
  fprintf(stderr, "%s: form %d, m %ld, n %ld, k %ld\n", what, form, static_cast<long>(m), static_cast<long>(n), static_cast<long>(k));
  exit(1);
}

void one_case(int form) {
  const int64_t m = 1 + below(70), n = 1 + below(70), k = 1 + below(70), batch = 1 + below(2);
  const bool channels = form == SparseForm_channels, has_bias = below(2) == 0, residual = below(2) == 0;
  const int zeros = below(101);
  Guarded w(static_cast<size_t>(n * k)), x(static_cast<size_t>(batch * m * k)), out(static_cast<size_t>(batch * m * n)), bias(static_cast<size_t>(n)),
      other(static_cast<size_t>(batch * m * n)), factor(static_cast<size_t>(batch * n));
  for (int64_t column = 0; column * 16 < n; column++) {
    for (int64_t i = 0; i < k; i++) {
      if (below(100) >= zeros) continue;
      for (int64_t row = column * 16; row < n && row < column * 16 + 16; row++) w[static_cast<size_t>(row * k + i)] = 0;
    }
  }
  // as bfloat16, or as they are
  const bool halves = below(2) == 0;
  Guarded upper((w.count() + 1) / 2);
  for (size_t i = 0; halves && i < w.count(); i++) {
    uint32_t bits;
    memcpy(&bits, &w[i], sizeof bits);
    const auto half = static_cast<uint16_t>(bits >> 16);
    memcpy(reinterpret_cast<char*>(&upper[0]) + 2 * i, &half, sizeof half);
    bits &= 0xffff0000;
    memcpy(&w[i], &bits, sizeof bits);
  }
  sparse_gemm_create_frame create;
  memset(&create, 0, sizeof create);
  create.weight = halves ? upper.address() : w.address();
  create.dtype = halves ? PTLITE_BFLOAT16 : PTLITE_FLOAT32;
  create.n = n;
  create.k = k;
  create.n_stride = k;
  create.n_group = 16 * k;
  create.k_stride = 1;
  create.m = m;
  create.form = form;
  create.has_bias = has_bias;
  create.post_ops = residual ? 3 : 0;
  create.ops[0] = JitAlgorithm_add;
  create.access[0] = JitAccess_full;
  create.ops[1] = JitAlgorithm_mul;
  create.access[1] = JitAccess_row;
  create.ops[2] = JitAlgorithm_relu;
  call(ptlite::implementations_of_sparse_gemm_create, create);

  sparse_gemm_frame f;
  memset(&f, 0, sizeof f);
  f.handle = create.handle;
  f.n = n;
  f.k = k;
  f.form = form;
  f.post_ops = create.post_ops;
  if (residual) {
    f.access[0] = SparseOperand_full;
    f.access[1] = SparseOperand_row;
  }
  f.x = x.address();
  f.out = out.address();
  f.bias = has_bias ? bias.address() : 0;
  f.m = m;
  f.x_stride = channels ? m : k;
  f.out_stride = channels ? m : n;
  f.batch = batch;
  f.x_batch = m * k;
  f.out_batch = m * n;
  f.x_group = f.out_group = f.operand_groups[0] = 16;
  f.operands[0] = other.address();
  f.operand_strides[0] = f.out_stride;
  f.operand_batches[0] = f.out_batch;
  f.operands[1] = factor.address();
  f.operand_batches[1] = n;
  call(ptlite::implementations_of_sparse_gemm, f);
  for (int64_t matrix = 0; matrix < batch; matrix++) {
    for (int64_t row = 0; row < m; row++) {
      for (int64_t column = 0; column < n; column++) {
        double want = has_bias ? bias[static_cast<size_t>(column)] : 0;
        for (int64_t i = 0; i < k; i++) {
          want += double{x[static_cast<size_t>(matrix * m * k + (channels ? i * m + row : row * k + i))]} * w[static_cast<size_t>(column * k + i)];
        }
        const auto at = static_cast<size_t>(matrix * m * n + (channels ? column * m + row : row * n + column));
        if (residual) want = fmax((want + other[at]) * factor[static_cast<size_t>(matrix * n + column)], 0);
        if (!(fabs(out[at] - want) < 1e-4)) fail("wrong result", form, m, n, k);
      }
    }
  }

  Guarded back(w.count());
  sparse_dense_frame dense;
  memset(&dense, 0, sizeof dense);
  dense.handle = create.handle;
  dense.out = back.address();
  call(ptlite::implementations_of_sparse_dense, dense);
  for (size_t i = 0; i < w.count(); i++) {
    if (back[i] != w[i]) fail("another weight comes back", form, m, n, k);
  }
  sparse_release_frame release;
  memset(&release, 0, sizeof release);
  release.handle = create.handle;
  call(ptlite::implementations_of_sparse_release, release);
}

}  // namespace

int main() {
  int cases = 0;
  for (int threads = 1; threads <= 2; threads++) {
    ptlite::set_thread_limit(threads);
    for (int form = 0; form <= SparseForm_channels; form++) {
      for (int i = 0; i < 60; i++, cases++) one_case(form);
    }
  }
  printf("%d cases\n", cases);
  return 0;
}
