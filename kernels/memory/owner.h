// What a thread has made and not given back: blocks, mappings, handles of generated code. It goes when the thread ends, however that comes
// about; a worker that is terminated runs no JavaScript any more. A thread that works for another gets its owner from that one, which may use
// what was made until it gives the owner up or ends itself. The main thread's goes with the process.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ptlite {

/// Gives back what is at `thing`; `bytes` as it was owned with.
using Destroy = void (*)(void* thing, size_t bytes);

/// The owner of the calling thread has `thing` from now on, once more where it has it already. False where there is no memory to note it.
bool own(void* thing, size_t bytes, Destroy destroy);

/// Destroys what the owner of the calling thread has at `thing`, once where it has it several times. False where it has nothing there.
bool give_up(void* thing);

/// An owner for a thread to come, which the calling thread's has: what that one makes stays until both the thread has ended and `give_up`
/// was called. nullptr where there is no memory.
void* create_owner();

/// The calling thread, which owns nothing yet, has this owner from now on. False where it owns something.
bool enter_owner(void* owner);

}  // namespace ptlite
