// A table of 256 bytes.
#pragma once

#include <stdint.h>

namespace ptlite {
inline namespace CPU_CAPABILITY {

class Table {
 public:
  static constexpr int64_t kBytes = 8;

  explicit Table(const uint8_t* bytes) : bytes_(bytes) {}

  void look_up(const uint8_t* in, uint8_t* out) const { look_up(in, out, kBytes); }

  void look_up(const uint8_t* in, uint8_t* out, int64_t count) const {
    for (int64_t i = 0; i < count; i++) out[i] = bytes_[in[i]];
  }

 private:
  const uint8_t* bytes_;
};

}  // namespace CPU_CAPABILITY
}  // namespace ptlite
