# macOS on 64-bit Arm.
set(PTLITE_DARWIN_PROCESSOR arm64)
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
