// Generated code, as threads know it: what is at an address for one is there for all.
#pragma once

namespace ptlite {

inline bool has_shared_code() { return true; }

// Whether code has come to where its address is kept.
inline bool is_there(void* const* start) { return *start != nullptr; }

}  // namespace ptlite
