// Functions of one byte through a table of all 256 values.
#include "frames/quantized.h"
#include "dispatch/kernel.h"
#include "pool/pool.h"
#include "primitives/byte_table.h"

namespace {

using ptlite::Table;

void look_up(const uint8_t* bytes, const uint8_t* in, uint8_t* out, int64_t n) {
  ptlite::parallel_for(n, ptlite::grain_for(1), [=](int64_t i, int64_t end) {
    const Table table(bytes);
    for (; i + Table::kBytes <= end; i += Table::kBytes) table.look_up(in + i, out + i);
    if (i < end) table.look_up(in + i, out + i, end - i);
  });
}

int32_t quantized_lookup(quantized_lookup_frame* f) {
  look_up(reinterpret_cast<const uint8_t*>(f->header.host), reinterpret_cast<const uint8_t*>(f->in), reinterpret_cast<uint8_t*>(f->out), f->n);
  return PTLITE_OK;
}

int32_t quantized_table(quantized_table_frame* f) {
  look_up(reinterpret_cast<const uint8_t*>(f->table), reinterpret_cast<const uint8_t*>(f->in), reinterpret_cast<uint8_t*>(f->out), f->n);
  return PTLITE_OK;
}

}  // namespace

PTLITE_KERNEL(quantized_lookup, quantized_lookup)
PTLITE_KERNEL(quantized_table, quantized_table)
