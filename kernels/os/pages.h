// Memory in pages of its own, and what the system knows of pages.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ptlite {

size_t page_size();

/// Bytes of the pages for a block of as many bytes.
size_t in_pages(size_t bytes);

/// Pages of their own for a block with undefined contents, as many bytes as `in_pages` says; of huge pages where the system has any: one page fault in place
/// of 512, when a network first runs or its weights are packed. nullptr where there are none.
void* map_pages(size_t bytes);
void unmap_pages(void* block, size_t bytes);

/// Tells the system that huge pages would be welcome where a range is as large as one.
void prefer_huge_pages(uint64_t address, size_t bytes);

/// The whole pages of a range lose their content, and the system gets their memory.
void forget_pages(uint64_t address, size_t bytes);

/// Gives back the pages of a private mapping of a file in a range that nobody has written to. The others stay.
void discard_clean_pages(uint64_t address, size_t bytes);

/// Gives the system what the C library keeps of freed memory.
void trim_heap();

/// A copy of machine code in pages that can be run from now on and not be written to; as many bytes as whole pages for it take. nullptr
/// where the system refuses.
void* map_code(const void* code, size_t size);

/// Addresses that fault; 0 where there are none left.
uintptr_t reserve_pages(size_t bytes);
/// Makes reserved pages memory, and pages of either kind addresses that fault. False where the system refuses.
bool open_pages(uintptr_t from, size_t bytes);
bool close_pages(uintptr_t from, size_t bytes);

}  // namespace ptlite
