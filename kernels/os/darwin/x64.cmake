# macOS on x86-64.
set(PTLITE_DARWIN_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
