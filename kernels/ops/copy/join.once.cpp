// Concatenation: every input is dense, so that its part of each output row is one block of bytes.
#include <string.h>

#include "frames/join.h"
#include "dispatch/kernel.h"

namespace {

// A part of `kBytes` bytes in every row: the compiler turns the copy into one load and one store.
template <int64_t kBytes>
void copy_narrow(char* out, int64_t row, const char* in, int64_t outer) {
  for (int64_t o = 0; o < outer; ++o) memcpy(out + o * row, in + o * kBytes, kBytes);
}

int32_t join_rows(join_rows_frame* f) {
  char* const out = reinterpret_cast<char*>(f->out);
  for (int32_t i = 0; i < f->count; ++i) {
    const char* in = reinterpret_cast<const char*>(f->in[i]);
    char* to = out + f->start[i];
    const int64_t length = f->length[i];
    switch (length) {
      case 0: break;
      case 1: copy_narrow<1>(to, f->row, in, f->outer); break;
      case 2: copy_narrow<2>(to, f->row, in, f->outer); break;
      case 4: copy_narrow<4>(to, f->row, in, f->outer); break;
      case 8: copy_narrow<8>(to, f->row, in, f->outer); break;
      case 16: copy_narrow<16>(to, f->row, in, f->outer); break;
      default:
        for (int64_t o = 0; o < f->outer; ++o) memcpy(to + o * f->row, in + o * length, static_cast<size_t>(length));
    }
  }
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(join_rows, join_rows)
