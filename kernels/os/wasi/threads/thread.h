// What the kernels know of a thread, which is a worker of JavaScript with an instance of its own on the same memory.
#pragma once

namespace ptlite {

struct Ending;

struct Thread {
  bool may_sleep;
  /// The first instance's, which ends with the memory.
  bool is_first;
  /// What is called when the thread ends, the last first.
  Ending* endings;
};
extern __thread Thread this_thread __attribute__((visibility("hidden")));

}  // namespace ptlite
