// Windows' own declarations, without the macros that others' names would fall victim to.
#pragma once

#define WIN32_LEAN_AND_MEAN
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>

namespace ptlite {

/// A function of a library that the process has loaded, by name: for what older versions of Windows lack. nullptr where there is none.
template <class Function>
Function* function_of(const wchar_t* library, const char* name) {
  HMODULE const loaded = GetModuleHandleW(library);
  return loaded == nullptr ? nullptr : reinterpret_cast<Function*>(reinterpret_cast<void*>(GetProcAddress(loaded, name)));
}

/// The library stays in the process from now on: there are threads that run its code.
void stay_loaded();

}  // namespace ptlite
