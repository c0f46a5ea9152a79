// Generated kernels with the code around them built with sanitizers, on buffers that end where a page begins that cannot be touched:
// what generated code reads or writes beyond them ends the process. Random graphs, every tail, unaligned, in place; post-ops of products
// and block-sparse products against plain loops.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "frames/fused.h"
#include "frames/jit.h"
#include "frames/sparse.h"
#include "dispatch/kernel.h"
#include "jit/algorithms.h"
#include "jit/cache.h"
#include "ops/fused/post_ops.h"

namespace ptlite {
#define PTLITE_IMPLEMENTATION(name) extern Kernel implementations_of_##name[];
PTLITE_IMPLEMENTATION(fused)
PTLITE_IMPLEMENTATION(jit_elementwise_create)
PTLITE_IMPLEMENTATION(jit_release)
PTLITE_IMPLEMENTATION(sparse_gemm_create)
PTLITE_IMPLEMENTATION(sparse_gemm)
PTLITE_IMPLEMENTATION(sparse_dense)
PTLITE_IMPLEMENTATION(sparse_release)
}  // namespace ptlite

namespace {

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  printf("not ok: %s\n", what);
  failures++;
}

// `count` floats, the last of which lies before a page without access; the first one behind another.
class Guarded {
 public:
  explicit Guarded(int64_t count, bool at_end = true) {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = static_cast<size_t>(count) * 4;
    inner_ = (bytes + page_ - 1) / page_ * page_ + (bytes == 0 ? page_ : 0);
    base_ = static_cast<char*>(mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + page_, inner_, PROT_READ | PROT_WRITE) != 0) abort();
    data = reinterpret_cast<float*>(base_ + page_ + (at_end ? inner_ - bytes : 0));
  }
  ~Guarded() { munmap(base_, inner_ + 2 * page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  void randomize(int64_t count) {
    for (int64_t i = 0; i < count; i++) data[i] = static_cast<float>(rand() % 4001 - 2000) / 500;
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data); }

  float* data;

 private:
  size_t page_, inner_;
  char* base_;
};

template <class Frame>
int32_t call(ptlite::Kernel kernel, Frame& frame) {
  return kernel(&frame);
}
#define CALL(name, frame) call(ptlite::implementations_of_##name[level_of_##name], frame)
constexpr int level_of_fused = PTLITE_LEVEL, level_of_sparse_gemm = PTLITE_LEVEL;
constexpr int level_of_jit_elementwise_create = 0, level_of_jit_release = 0, level_of_sparse_gemm_create = 0, level_of_sparse_dense = 0,
              level_of_sparse_release = 0;

constexpr int kFirstBinary = JitAlgorithm_add;

bool from_floats(int32_t op) { return op < JitAlgorithm_quantize_u8 || op > JitAlgorithm_int8_lut; }

// Random steps; a handle of their code, 0 where there is none.
int64_t random_steps(fused_frame& f) {
  for (int i = 0; i < f.steps; i++) {
    const int known = f.inputs + i;
    do f.op[i] = rand() % (JitAlgorithm_bits_and_not + 1);
    while (!from_floats(f.op[i]));
    f.a[i] = i == 0 ? 0 : rand() % known;
    f.b[i] = f.op[i] >= kFirstBinary ? rand() % (known + 1) - 1 : 0;
    f.p0[i] = 0.5f;
    f.p1[i] = 1.5f;
  }
  jit_elementwise_create_frame create;
  memset(&create, 0, sizeof create);
  create.inputs = f.inputs;
  create.steps = f.steps;
  create.out_dtype = f.out_dtype;
  create.more = f.more;
  create.kept[0] = f.kept[0];
  create.more_dtypes[0] = f.more_dtypes[0];
  for (int k = 0; k < f.inputs; k++) {
    create.access[k] = f.strides[6 * k] == 0 ? JitAccess_channel : JitAccess_full;
    create.dtypes[k] = f.dtypes[k];
  }
  for (int i = 0; i < f.steps; i++) {
    create.ops[i] = f.op[i];
    create.a[i] = f.a[i];
    create.b[i] = f.b[i];
    create.p0[i] = f.p0[i];
    create.p1[i] = f.p1[i];
    create.p2[i] = 1;
  }
  CALL(jit_elementwise_create, create);
  return create.handle;
}

void release(int64_t handle) {
  if (handle == 0) return;
  jit_release_frame f;
  memset(&f, 0, sizeof f);
  f.handle = handle;
  CALL(jit_release, f);
}

// Whether steps consist of single operations: the bits of the functions depend on how the compiler contracts sums of products, and
// this build has not the flags of the library.
bool exact(const fused_frame& f) {
  for (int i = 0; i < f.steps; i++) {
    switch (f.op[i]) {
      case JitAlgorithm_relu:
      case JitAlgorithm_linear:
      case JitAlgorithm_clamp:
      case JitAlgorithm_abs:
      case JitAlgorithm_neg:
      case JitAlgorithm_sqrt:
      case JitAlgorithm_reciprocal:
      case JitAlgorithm_square: continue;
    }
    if (f.op[i] < kFirstBinary) return false;
  }
  return true;
}

bool same_bits(const float* a, const float* b, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (memcmp(a + i, b + i, 4) != 0 && !(isnan(a[i]) && isnan(b[i]))) return false;
  }
  return true;
}

void chains() {
  for (int round = 0; round < 400; round++) {
    const bool at_end = round % 2 == 0;
    const int64_t length = round < 136 ? round / 4 : rand() % 200, rows = 1 + rand() % 3;
    const int64_t count = length * rows;
    fused_frame f;
    memset(&f, 0, sizeof f);
    f.inputs = 1 + rand() % 3;
    f.steps = 1 + rand() % 6;
    f.ndim = 2;
    f.sizes[0] = length;
    f.sizes[1] = rows;
    Guarded first(count, at_end), third(rows, at_end), out(count, at_end), other(count, at_end);
    first.randomize(count);
    third.randomize(rows);
    f.out_dtype = f.dtypes[0] = f.dtypes[2] = PTLITE_FLOAT32;
    constexpr int32_t kDtypes[] = {PTLITE_FLOAT32, PTLITE_BFLOAT16, PTLITE_FLOAT16, PTLITE_BOOL};
    f.dtypes[1] = kDtypes[rand() % 4];
    // a result of the first step besides
    f.more = f.steps > 1 && rand() % 2 == 0 ? 1 : 0;
    f.more_dtypes[0] = kDtypes[rand() % 4];
    const int64_t bytes[] = {f.dtypes[1] == PTLITE_FLOAT32 ? 4 : f.dtypes[1] == PTLITE_BOOL ? 1 : 2,
                             f.more_dtypes[0] == PTLITE_FLOAT32 ? 4 : f.more_dtypes[0] == PTLITE_BOOL ? 1 : 2};
    Guarded narrow((length * bytes[0] + 3) / 4, at_end), more((count * bytes[1] + 3) / 4, at_end);
    narrow.randomize((length * bytes[0] + 3) / 4);
    f.more_out[0] = more.address();
    const Guarded* inputs[] = {&first, &narrow, &third};
    const int64_t strides[][2] = {{1, length}, {1, 0}, {0, 1}};
    for (int k = 0; k < f.inputs; k++) {
      f.in[k] = inputs[k]->address();
      for (int d = 0; d < 2; d++) f.strides[6 * k + d] = strides[k][d];
    }
    const int64_t handle = random_steps(f);
    const bool compare = exact(f);
    f.out = other.address();
    if (count > 0) expect(CALL(fused, f) == PTLITE_OK, "compiled steps");
    if (handle == 0) continue;
    f.code = handle;
    f.out = out.address();
    if (count > 0) expect(CALL(fused, f) == PTLITE_OK, "generated steps");
    expect(!compare || same_bits(out.data, other.data, count), "generated and compiled steps differ");
    // in place
    f.out = f.in[0];
    if (count > 0) expect(CALL(fused, f) == PTLITE_OK, "generated steps in place");
    expect(same_bits(first.data, out.data, count), "in place");
    release(handle);
  }
}

struct PostFrame {
  int32_t post_steps, post_inputs;
  int32_t post_op[8], post_a[8], post_b[8];
  float post_p0[8], post_p1[8];
  uint64_t post_in[4];
  int64_t post_batch[4], post_row[4], post_col[4];
  int64_t post_code;
};

void post_ops() {
  for (int round = 0; round < 100; round++) {
    const int64_t rows = 1 + rand() % 20, cols = 1 + rand() % 70;
    fused_frame f;
    memset(&f, 0, sizeof f);
    f.inputs = 3;
    f.steps = 1 + rand() % 4;
    f.strides[0] = f.strides[6] = 1;
    f.out_dtype = f.dtypes[0] = f.dtypes[1] = f.dtypes[2] = PTLITE_FLOAT32;
    const int64_t handle = random_steps(f);
    PostFrame post;
    memset(&post, 0, sizeof post);
    post.post_steps = f.steps;
    post.post_inputs = f.inputs;
    memcpy(post.post_op, f.op, sizeof post.post_op);
    memcpy(post.post_a, f.a, sizeof post.post_a);
    memcpy(post.post_b, f.b, sizeof post.post_b);
    memcpy(post.post_p0, f.p0, sizeof post.post_p0);
    memcpy(post.post_p1, f.p1, sizeof post.post_p1);
    Guarded residual(rows * cols), channel(rows), a(rows * cols), b(rows * cols);
    residual.randomize(rows * cols);
    channel.randomize(rows);
    a.randomize(rows * cols);
    memcpy(b.data, a.data, static_cast<size_t>(rows * cols) * 4);
    post.post_in[0] = residual.address();
    post.post_row[0] = cols;
    post.post_col[0] = 1;
    post.post_in[1] = channel.address();
    post.post_row[1] = 1;
    const ptlite::PostOps compiled(post);
    expect(compiled.valid(), "valid post-ops");
    compiled.apply(rows, cols, a.data, cols, 0, 0, 0);
    post.post_code = handle;
    // in blocks of three rows and of half of the columns
    const ptlite::PostOps generated(post);
    const int64_t half = (cols + 1) / 2;
    for (int64_t row = 0; row < rows; row += 3) {
      for (int64_t col = 0; col < cols; col += half) {
        const int64_t some = row + 3 < rows ? 3 : rows - row, wide = col + half < cols ? half : cols - col;
        float* block = b.data + row * cols + col;
        if (round % 2 == 0) {
          generated.apply(some, wide, block, cols, 0, row, col);
          continue;
        }
        Guarded tile(some * wide);
        for (int64_t r = 0; r < some; r++) memcpy(tile.data + r * wide, block + r * cols, static_cast<size_t>(wide) * 4);
        generated.apply(some, wide, tile.data, block, cols, 0, row, col);
      }
    }
    expect(!exact(f) || same_bits(a.data, b.data, rows * cols), "post-ops by blocks");
    release(handle);
  }
}

void sparse() {
  for (int round = 0; round < 160; round++) {
    const int64_t m = 1 + rand() % 70, n = 1 + rand() % 70, k = 1 + rand() % 70;
    const int zeros = rand() % 101;
    Guarded weight(n * k), x(m * k), bias(n), out(m * n), dense(n * k);
    weight.randomize(n * k);
    for (int64_t column = 0; column < n; column += 16) {
      for (int64_t i = 0; i < k; i++) {
        if (rand() % 100 >= zeros) continue;
        for (int64_t j = column; j < column + 16 && j < n; j++) weight.data[j * k + i] = 0;
      }
    }
    x.randomize(m * k);
    bias.randomize(n);
    sparse_gemm_create_frame create;
    memset(&create, 0, sizeof create);
    create.weight = weight.address();
    create.dtype = PTLITE_FLOAT32;
    create.n = n;
    create.k = k;
    create.n_stride = k;
    create.n_group = 16 * k;
    create.k_stride = 1;
    create.m = m;
    create.form = round % 4;
    create.has_bias = 1;
    create.post_ops = 1;
    create.ops[0] = JitAlgorithm_clamp;
    create.p0[0] = -10;
    create.p1[0] = 10;
    create.p2[0] = 1;
    CALL(sparse_gemm_create, create);
    if (create.handle == 0) continue;
    sparse_dense_frame back;
    memset(&back, 0, sizeof back);
    back.handle = create.handle;
    back.out = dense.address();
    CALL(sparse_dense, back);
    expect(memcmp(dense.data, weight.data, static_cast<size_t>(n * k) * 4) == 0, "weight and back");
    const bool channels = create.form == SparseForm_channels;
    sparse_gemm_frame run;
    memset(&run, 0, sizeof run);
    run.handle = create.handle;
    run.n = n;
    run.k = k;
    run.form = create.form;
    run.post_ops = create.post_ops;
    run.x = x.address();
    run.out = out.address();
    run.bias = bias.address();
    run.m = m;
    run.batch = 1;
    run.x_group = run.out_group = 16;
    run.x_stride = channels ? m : k;
    run.out_stride = channels ? m : n;
    expect(CALL(sparse_gemm, run) == PTLITE_OK, "sparse product");
    double worst = 0;
    for (int64_t r = 0; r < m; r++) {
      for (int64_t c = 0; c < n; c++) {
        double sum = bias.data[c];
        for (int64_t i = 0; i < k; i++) sum += static_cast<double>(channels ? x.data[i * m + r] : x.data[r * k + i]) * weight.data[c * k + i];
        const double want = fmin(fmax(sum, -10), 10);
        worst = fmax(worst, fabs((channels ? out.data[c * m + r] : out.data[r * n + c]) - want));
      }
    }
    expect(worst < 1e-3, "sparse and dense product differ");
    sparse_release_frame gone;
    memset(&gone, 0, sizeof gone);
    gone.handle = create.handle;
    CALL(sparse_release, gone);
  }
}

}  // namespace

int main() {
  srand(1);
  chains();
  post_ops();
  sparse();
  const ptlite::jit::Totals left = ptlite::jit::totals();
  expect(left.kernels == 0 && left.bytes == 0, "all code is freed");
  puts(failures == 0 ? "all good" : "failed");
  return failures == 0 ? 0 : 1;
}
