// The vector class lane by lane against plain C++, for every element type.
#include "lanes.h"

#include <stdint.h>
#include <string.h>

#include "check.h"
#include "vec/vec.h"

namespace {

using ptlite::Vec;

uint32_t state = 1;
uint32_t random_bits() { return state = state * 1664525 + 1013904223; }

// Small numbers, exact in every type, with both signs.
template <class T>
T random_number() {
  return static_cast<T>(static_cast<int32_t>(random_bits() >> 25) - 64);
}

// Loads and stores of every length at every alignment touch what they should and nothing else.
template <class T>
void memory(const char* type) {
  constexpr int size = Vec<T>::size;
  alignas(64) char in_bytes[3 * PTLITE_VEC_BYTES], out_bytes[3 * PTLITE_VEC_BYTES];
  for (int offset = 0; offset < PTLITE_VEC_BYTES; offset++) {
    for (int count = 0; count <= size + 1; count++) {
      for (char& b : in_bytes) b = static_cast<char>(random_bits() >> 24);
      memset(out_bytes, 0x5a, sizeof(out_bytes));
      const T* in = reinterpret_cast<const T*>(in_bytes + offset);
      T* out = reinterpret_cast<T*>(out_bytes + PTLITE_VEC_BYTES + offset % PTLITE_VEC_BYTES);
      const Vec<T> v = Vec<T>::load(in, count);
      char lanes[PTLITE_VEC_BYTES];
      memcpy(lanes, &v.v, sizeof(lanes));
      const size_t used = sizeof(T) * static_cast<size_t>(count < size ? count : size);
      CHECK(memcmp(lanes, in_bytes + offset, used) == 0, "load %s count %d offset %d", type, count, offset);
      for (size_t i = used; i < sizeof(lanes); i++) CHECK(lanes[i] == 0, "load %s count %d leaves lanes", type, count);
      v.store(out, count);
      CHECK(memcmp(out, lanes, used) == 0, "store %s count %d offset %d", type, count, offset);
      for (const char* p = out_bytes; p < out_bytes + sizeof(out_bytes); p++) {
        const bool inside = p >= reinterpret_cast<char*>(out) && p < reinterpret_cast<char*>(out) + used;
        CHECK(inside || *p == 0x5a, "store %s count %d writes beyond", type, count);
      }
    }
  }
}

template <class T>
void arithmetic(const char* type) {
  constexpr int size = Vec<T>::size;
  for (int round = 0; round < 200; round++) {
    T a[size], b[size], c[size];
    for (int i = 0; i < size; i++) {
      a[i] = random_number<T>();
      b[i] = random_number<T>();
      c[i] = random_number<T>();
    }
    const Vec<T> x = Vec<T>::load(a), y = Vec<T>::load(b), z = Vec<T>::load(c);
    const auto less = x < y, equal = x == y;
    T sum = T(0), top = a[0], bottom = a[0];
    bool any_less = false;
    for (int i = 0; i < size; i++) {
      CHECK((x + y)[i] == T(a[i] + b[i]), "%s add", type);
      CHECK((x - y)[i] == T(a[i] - b[i]), "%s sub", type);
      CHECK((x * y)[i] == T(a[i] * b[i]), "%s mul", type);
      CHECK((-x)[i] == T(-a[i]), "%s neg", type);
      CHECK(fma(x, y, z)[i] == T(a[i] * b[i] + c[i]), "%s fma", type);
      CHECK((less[i] != 0) == (a[i] < b[i]) && (equal[i] != 0) == (a[i] == b[i]), "%s compare", type);
      CHECK((less[i] == 0 || static_cast<uint64_t>(~less[i]) == 0), "%s a mask has all bits", type);
      CHECK(select(less, x, y)[i] == (a[i] < b[i] ? a[i] : b[i]), "%s select", type);
      CHECK(minimum(x, y)[i] == (a[i] < b[i] ? a[i] : b[i]) && maximum(x, y)[i] == (a[i] > b[i] ? a[i] : b[i]), "%s min max", type);
      CHECK(fast_min(x, y)[i] == minimum(x, y)[i] && fast_max(x, y)[i] == maximum(x, y)[i], "%s fast min max", type);
      CHECK(Vec<T>(a[0])[i] == a[0] && Vec<T>::zero()[i] == T(0), "%s every lane", type);
      CHECK(Vec<T>::iota(T(3))[i] == T(3 + i), "%s iota", type);
      sum = T(sum + a[i]);
      top = a[i] > top ? a[i] : top;
      bottom = a[i] < bottom ? a[i] : bottom;
      any_less |= a[i] < b[i];
    }
    CHECK(reduce_add(x) == sum && reduce_max(x) == top && reduce_min(x) == bottom, "%s reduce", type);
    CHECK(any(less) == any_less, "%s any", type);
  }
}

template <class T>
void integers(const char* type) {
  constexpr int size = Vec<T>::size;
  for (int round = 0; round < 200; round++) {
    T a[size], b[size];
    for (int i = 0; i < size; i++) {
      a[i] = static_cast<T>(random_bits() >> 3);
      b[i] = static_cast<T>(random_bits() >> 3);
    }
    const Vec<T> x = Vec<T>::load(a), y = Vec<T>::load(b);
    const int shift = round % static_cast<int>(8 * sizeof(T));
    for (int i = 0; i < size; i++) {
      CHECK((x & y)[i] == T(a[i] & b[i]) && (x | y)[i] == T(a[i] | b[i]) && (x ^ y)[i] == T(a[i] ^ b[i]) && (~x)[i] == T(~a[i]), "%s bits", type);
      CHECK((x >> shift)[i] == T(a[i] >> shift), "%s shift right", type);
    }
  }
}

// From and to other types, as static_cast.
template <class T, class S>
void conversion(const char* type) {
  constexpr int size = Vec<T>::size;
  S a[size], back[size];
  for (S& x : a) x = random_number<S>();
  const Vec<T> v = Vec<T>::load_from(a);
  v.store_to(back);
  for (int i = 0; i < size; i++) CHECK(v[i] == static_cast<T>(a[i]) && back[i] == static_cast<S>(v[i]), "%s conversion", type);
}

template <class T>
void nan_rules(const char* type) {
  const T nan = static_cast<T>(__builtin_nan(""));
  const Vec<T> x(nan), y(T(1));
  CHECK(any(is_nan(x)) && !any(is_nan(y)), "%s is_nan", type);
  CHECK(!any(x < y) && !any(x >= y) && any(x != x), "%s comparisons with NaN", type);
  for (int i = 0; i < Vec<T>::size; i++) {
    CHECK(minimum(x, y)[i] != minimum(x, y)[i] && maximum(y, x)[i] != maximum(y, x)[i], "%s NaN wins", type);
    CHECK(fast_min(x, y)[i] == T(1) && fast_max(x, y)[i] == T(1), "%s fast_min gives its second operand for NaN", type);
  }
  const T lanes[] = {T(-2.5), T(-1.5), T(-0.5), T(0.5), T(1.5), T(2.5), T(2.75), T(-2.25)};
  for (T lane : lanes) {
    const Vec<T> v(lane);
    CHECK(floor(v)[0] == __builtin_floor(lane) && ceil(v)[0] == __builtin_ceil(lane), "%s floor ceil of %g", type, double(lane));
    CHECK(trunc(v)[0] == __builtin_trunc(lane) && rint(v)[0] == __builtin_rint(lane), "%s trunc rint of %g", type, double(lane));
    CHECK(abs(v)[0] == __builtin_fabs(lane) && copysign(Vec<T>(T(3)), v)[0] == __builtin_copysign(3.0, lane), "%s sign of %g", type, double(lane));
    CHECK(sqrt(abs(v))[0] == static_cast<T>(__builtin_sqrt(__builtin_fabs(lane))) || sizeof(T) == 4, "%s sqrt", type);
  }
}

template <class T>
void every_type(const char* type) {
  memory<T>(type);
  arithmetic<T>(type);
}

}  // namespace

void check_lanes() {
  every_type<float>("float");
  every_type<double>("double");
  every_type<int32_t>("int32");
  every_type<int64_t>("int64");
  every_type<int16_t>("int16");
  every_type<int8_t>("int8");
  integers<int32_t>("int32");
  integers<int64_t>("int64");
  integers<int16_t>("int16");
  integers<int8_t>("int8");
  conversion<float, int32_t>("float from int32");
  conversion<float, int8_t>("float from int8");
  conversion<float, double>("float from double");
  conversion<double, float>("double from float");
  conversion<int32_t, int8_t>("int32 from int8");
  conversion<int32_t, uint8_t>("int32 from uint8");
  conversion<int32_t, float>("int32 from float");
  nan_rules<float>("float");
  nan_rules<double>("double");
}
