#include "jit/generator.h"

#include <string.h>

#include "dispatch/levels.h"

namespace ptlite {
namespace jit {

using namespace Xbyak::util;

Isa current_isa() {
  const uint64_t features = level_info(highest_level(levels_of_thread())).features;
  const uint64_t avx2 = feature_bit(Feature_avx2) | feature_bit(Feature_fma);
  const uint64_t avx512 = feature_bit(Feature_avx512_f) | feature_bit(Feature_avx512_bw) | feature_bit(Feature_avx512_dq) |
                          feature_bit(Feature_avx512_vl);
  if ((features & avx512) == avx512) return Isa::avx512;
  return (features & avx2) == avx2 ? Isa::avx2 : Isa::none;
}

Generator::Generator(Isa isa, size_t capacity) : CodeGenerator(capacity, Xbyak::DontSetProtectRWE), isa_(isa) { Xbyak::ClearError(); }

Xbyak::Label& Generator::label_of(uint32_t bits) {
  for (Constant& known : constants_) {
    if (known.bits == bits) return known.label;
  }
  constants_.push_back({bits, Xbyak::Label()});
  return constants_.back().label;
}

Xbyak::Address Generator::constant_bits(uint32_t bits) {
  Xbyak::Label& label = label_of(bits);
  return wide() ? ptr_b[rip + label] : ptr[rip + label];
}

Xbyak::Address Generator::constant(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return constant_bits(bits);
}

void Generator::broadcast_bits(const Xbyak::Xmm& to, uint32_t bits) { vbroadcastss(to, dword[rip + label_of(bits)]); }

void Generator::broadcast(const Xbyak::Xmm& to, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  broadcast_bits(to, bits);
}

Xbyak::Label& Generator::table(const std::vector<uint32_t>& words) {
  for (Table& known : tables_) {
    if (known.words == words) return known.label;
  }
  tables_.push_back({words, Xbyak::Label()});
  return tables_.back().label;
}

Xbyak::Label& Generator::lane_masks() {
  if (lane_masks_ == nullptr) {
    std::vector<uint32_t> words(2 * lanes(), 0);
    for (int i = 0; i < lanes(); i++) words[i] = ~uint32_t{0};
    lane_masks_ = &table(words);
  }
  return *lane_masks_;
}

void Generator::write_constants() {
  if (written_) return;
  written_ = true;
  align(64, false);
  for (Table& table : tables_) {
    L(table.label);
    for (const uint32_t word : table.words) dd(word);
    align(32, false);
  }
  // without embedded broadcast, operands in memory are whole vectors
  const int copies = wide() ? 1 : lanes();
  for (Constant& constant : constants_) {
    L(constant.label);
    for (int i = 0; i < copies; i++) dd(constant.bits);
  }
}

void Generator::enter() {
  push(rbx);
  push(rbp);
  push(r12);
  push(r13);
  push(r14);
  push(r15);
}

void Generator::leave() {
  vzeroupper();
  pop(r15);
  pop(r14);
  pop(r13);
  pop(r12);
  pop(rbp);
  pop(rbx);
  ret();
}

Generated finish(Generator& generator) {
  generator.write_constants();
  if (Xbyak::GetError() != Xbyak::ERR_NONE || generator.hasUndefinedLabel()) return {};
  return {std::string(reinterpret_cast<const char*>(generator.getCode()), generator.getSize())};
}

}  // namespace jit
}  // namespace ptlite
