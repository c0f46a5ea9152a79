#include "os/windows/host_program.h"

#include "os/windows/system.h"

namespace ptlite {

void* find_in_host(const char* name) {
  // nullptr: the program itself
  static constexpr const wchar_t* places[] = {nullptr, L"node.dll", L"libnode.dll"};
  for (const wchar_t* place : places)
    if (void* const found = reinterpret_cast<void*>(function_of<void()>(place, name)); found != nullptr) return found;
  return nullptr;
}

}  // namespace ptlite
