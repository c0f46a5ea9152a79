// The heap of a selective build, in place of the C library's, which takes 11 kB: JavaScript keeps freed blocks of the usual sizes itself, so that
// this one sees few calls.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern "C" char __heap_base;

namespace {

/// What blocks are multiples of, and begin at: what tensors are aligned to.
constexpr uint32_t kUnit = 64;
constexpr uint32_t kPage = 65536;
constexpr uint32_t kUsed = 1;

/// In front of a block. Blocks follow each other without gaps; the last one is empty and in use.
struct Header {
  /// Bytes of the block before, its header included; 0 for the first.
  uint32_t before;
  /// Bytes up to the next header, and kUsed.
  uint32_t size;
};

/// Of a free block, in the list of its class.
struct Free : Header {
  Free* next;
  Free* previous;
};

/// A class for each power of two.
Free* lists[32];
uint32_t filled = 0;
Header* last = nullptr;

uint32_t class_of(uint32_t size) { return 31 - static_cast<uint32_t>(__builtin_clz(size)); }

Header* after(Header* block) { return reinterpret_cast<Header*>(reinterpret_cast<uintptr_t>(block) + (block->size & ~kUsed)); }

void insert(Header* block) {
  Free* const freed = static_cast<Free*>(block);
  const uint32_t at = class_of(block->size);
  freed->previous = nullptr;
  freed->next = lists[at];
  if (lists[at] != nullptr) lists[at]->previous = freed;
  lists[at] = freed;
  filled |= 1u << at;
}

void remove(Free* block) {
  const uint32_t at = class_of(block->size);
  if (block->next != nullptr) block->next->previous = block->previous;
  if (block->previous != nullptr)
    block->previous->next = block->next;
  else if ((lists[at] = block->next) == nullptr)
    filled &= ~(1u << at);
}

/// A block that is in no list becomes a free one, together with those beside it that are.
void give_back(Header* block) {
  Header* const next = after(block);
  if (!(next->size & kUsed)) {
    remove(static_cast<Free*>(next));
    block->size += next->size;
  }
  if (block->before != 0) {
    Header* const before = reinterpret_cast<Header*>(reinterpret_cast<uintptr_t>(block) - block->before);
    if (!(before->size & kUsed)) {
      remove(static_cast<Free*>(before));
      before->size += block->size;
      block = before;
    }
  }
  after(block)->before = block->size;
  insert(block);
}

/// Adds a free block of at least `size` bytes at the end. False where there is no more memory.
bool grow(uint32_t size) {
  const uint32_t pages = static_cast<uint32_t>((uint64_t{size} + 2 * kUnit + kPage - 1) / kPage);
  const size_t old = __builtin_wasm_memory_grow(0, pages);
  if (old == SIZE_MAX) return false;
  uintptr_t begin = static_cast<uintptr_t>(old * kPage);
  const uintptr_t end = static_cast<uintptr_t>((old + pages) * kPage) - sizeof(Header);
  if (last == nullptr) {
    // what is left of the pages that the module began with
    begin = (reinterpret_cast<uintptr_t>(&__heap_base) + sizeof(Header) + kUnit - 1) / kUnit * kUnit - sizeof(Header);
    last = reinterpret_cast<Header*>(begin);
    last->before = 0;
  } else if (begin - sizeof(Header) != reinterpret_cast<uintptr_t>(last)) {
    // pages between that others asked for stay in use
    const uintptr_t there = begin + kUnit - sizeof(Header);
    last->size = static_cast<uint32_t>(there - reinterpret_cast<uintptr_t>(last)) | kUsed;
    Header* const first = reinterpret_cast<Header*>(there);
    first->before = last->size & ~kUsed;
    last = first;
  }
  Header* const block = last;
  block->size = static_cast<uint32_t>(end - reinterpret_cast<uintptr_t>(block));
  last = reinterpret_cast<Header*>(end);
  last->size = kUsed;
  give_back(block);
  return true;
}

/// The first block in a class that is large enough, for any size of the class below.
Free* find(uint32_t size) {
  const uint32_t at = class_of(size);
  for (Free* block = lists[at]; block != nullptr; block = block->next)
    if (block->size >= size) return block;
  const uint32_t larger = at == 31 ? 0 : filled & (~0u << (at + 1));
  return larger == 0 ? nullptr : lists[__builtin_ctz(larger)];
}

Header* header_of(void* memory) { return reinterpret_cast<Header*>(memory) - 1; }

}  // namespace

extern "C" {

void* malloc(size_t bytes) {
  if (bytes > SIZE_MAX - kPage) return nullptr;
  const uint32_t size = (static_cast<uint32_t>(bytes) + sizeof(Header) + kUnit - 1) / kUnit * kUnit;
  Free* block = find(size);
  if (block == nullptr) {
    if (!grow(size)) {
      errno = ENOMEM;
      return nullptr;
    }
    block = find(size);
  }
  remove(block);
  const uint32_t rest = block->size - size;
  if (rest != 0) {
    block->size = size;
    Header* const other = after(block);
    other->before = size;
    other->size = rest;
    after(other)->before = rest;
    insert(other);
  }
  block->size |= kUsed;
  return static_cast<Header*>(block) + 1;
}

void free(void* memory) {
  if (memory == nullptr) return;
  Header* const block = header_of(memory);
  block->size &= ~kUsed;
  give_back(block);
}

void* calloc(size_t count, size_t bytes) {
  if (bytes != 0 && count > SIZE_MAX / bytes) return nullptr;
  void* const memory = malloc(count * bytes);
  return memory == nullptr ? nullptr : memset(memory, 0, count * bytes);
}

void* realloc(void* memory, size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  const size_t room = (header_of(memory)->size & ~kUsed) - sizeof(Header);
  if (bytes <= room) return memory;
  void* const larger = malloc(bytes);
  if (larger == nullptr) return nullptr;
  memcpy(larger, memory, room);
  free(memory);
  return larger;
}

void* aligned_alloc(size_t alignment, size_t bytes) { return alignment > kUnit ? nullptr : malloc(bytes); }

}  // extern "C"
