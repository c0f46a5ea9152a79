#include "owner.h"

#include <stdlib.h>

#include <atomic>
#include <new>

#include "os/lock.h"
#include "os/pages.h"
#include "os/threads.h"

namespace ptlite {
namespace {

struct Entry {
  void* thing;
  size_t bytes;
  Destroy destroy;
  int64_t count;
};

/// A hash table by address with linear probing, at most half full.
class Owner {
 public:
  bool add(void* thing, size_t bytes, Destroy destroy) {
    Lock lock(mutex_);
    if (2 * (used_ + 1) > capacity_ && !grow()) return false;
    Entry& entry = entries_[place_of(thing)];
    if (entry.thing == nullptr) {
      entry = {thing, bytes, destroy, 0};
      used_++;
    }
    entry.count++;
    return true;
  }

  bool remove(void* thing) {
    Entry found;
    {
      Lock lock(mutex_);
      if (capacity_ == 0) return false;
      Entry& entry = entries_[place_of(thing)];
      if (entry.thing == nullptr) return false;
      found = entry;
      if (--entry.count == 0) erase(static_cast<size_t>(&entry - entries_));
    }
    found.destroy(found.thing, found.bytes);
    return true;
  }

  bool empty() {
    Lock lock(mutex_);
    return used_ == 0;
  }

  void join() { users_.fetch_add(1, std::memory_order_relaxed); }

  /// The thread has ended, or the one that it worked for has no more use for what it made; the last one takes everything along.
  void leave() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    for (size_t i = 0; i < capacity_; i++) {
      const Entry& entry = entries_[i];
      for (int64_t n = 0; entry.thing != nullptr && n < entry.count; n++) entry.destroy(entry.thing, entry.bytes);
    }
    free(entries_);
    free(this);
  }

  static Owner* create() {
    void* const memory = malloc(sizeof(Owner));
    if (memory == nullptr) return nullptr;
    auto* const owner = new (memory) Owner;
    owner->join();
    return owner;
  }

 private:
  static constexpr size_t kFirstCapacity = 64;

  /// Where the search for an address begins: multiples of 64 spread over the table by the golden ratio.
  size_t home_of(const void* thing) const {
    return static_cast<size_t>((reinterpret_cast<uint64_t>(thing) * 0x9E3779B97F4A7C15) >> 32) & (capacity_ - 1);
  }

  /// Of the thing, or the free place where it would be.
  size_t place_of(const void* thing) const {
    size_t at = home_of(thing);
    while (entries_[at].thing != nullptr && entries_[at].thing != thing) at = (at + 1) & (capacity_ - 1);
    return at;
  }

  bool grow() {
    Entry* const old = entries_;
    const size_t count = capacity_;
    auto* larger = static_cast<Entry*>(calloc(count == 0 ? kFirstCapacity : 2 * count, sizeof(Entry)));
    if (larger == nullptr) return false;
    entries_ = larger;
    capacity_ = count == 0 ? kFirstCapacity : 2 * count;
    for (size_t i = 0; i < count; i++) {
      if (old[i].thing != nullptr) entries_[place_of(old[i].thing)] = old[i];
    }
    free(old);
    return true;
  }

  /// Entries behind the hole move up where the search for them would stop at it.
  void erase(size_t hole) {
    used_--;
    const size_t mask = capacity_ - 1;
    for (size_t at = (hole + 1) & mask; entries_[at].thing != nullptr; at = (at + 1) & mask) {
      const size_t from_home = (at - home_of(entries_[at].thing)) & mask, from_hole = (at - hole) & mask;
      if (from_home < from_hole) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
  }

  Mutex mutex_;
  std::atomic<int32_t> users_{0};
  Entry* entries_ = nullptr;
  size_t capacity_ = 0, used_ = 0;
};

struct Membership {
  Owner* owner = nullptr;
  ~Membership() {
    // while the process exits, other threads may still use what its main thread owns
    if (owner != nullptr && (!is_main_thread() || owner->empty())) {
      const bool keeps_pages = !owner->empty();
      owner->leave();
      // the C library keeps what was freed in arenas that other threads may never use
      if (keeps_pages) trim_heap();
    }
    owner = nullptr;
  }
};
thread_local Membership membership;

Owner* own_owner() {
  if (membership.owner == nullptr) membership.owner = Owner::create();
  return membership.owner;
}

}  // namespace

bool own(void* thing, size_t bytes, Destroy destroy) {
  Owner* const owner = own_owner();
  return owner != nullptr && owner->add(thing, bytes, destroy);
}

bool give_up(void* thing) { return membership.owner != nullptr && membership.owner->remove(thing); }

void* create_owner() {
  Owner* const owner = Owner::create();
  if (owner == nullptr || own(owner, 0, [](void* other, size_t) { static_cast<Owner*>(other)->leave(); })) return owner;
  owner->leave();
  return nullptr;
}

bool enter_owner(void* given) {
  auto* const owner = static_cast<Owner*>(given);
  if (membership.owner != nullptr) {
    if (!membership.owner->empty()) return false;
    membership.owner->leave();
  }
  owner->join();
  membership.owner = owner;
  return true;
}

}  // namespace ptlite
