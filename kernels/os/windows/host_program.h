// The program that has loaded the library. Nothing is linked to it, so that the library serves any that has the functions.
#pragma once

namespace ptlite {

/// The address of a function that the program has by this name, or the library that it is a shell of; nullptr where it has none.
void* find_in_host(const char* name);

}  // namespace ptlite
