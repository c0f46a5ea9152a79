# macOS, by Debian's clang and the linker of LLVM, for PTLITE_DARWIN_PROCESSOR. scripts/darwin-headers.sh brings the headers and the names of the system's
# functions; nothing of the system itself is linked.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR ${PTLITE_DARWIN_PROCESSOR})
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET ${PTLITE_DARWIN_PROCESSOR}-apple-macos11)
foreach(tool IN ITEMS AR NM RANLIB INSTALL_NAME_TOOL)
  string(TOLOWER ${tool} name)
  string(REPLACE "_" "-" name ${name})
  set(CMAKE_${tool} llvm-${name}-19)
endforeach()
set(headers ${CMAKE_CURRENT_LIST_DIR}/../../../build/darwin-headers)
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem ${headers}/libcxx/include -isystem ${headers}/libc/include/any-darwin-any")
# what a build of the C++ library would choose; with annotations it leaves to its headers what the oldest system lacks
foreach(setting IN ITEMS HARDENING_MODE_DEFAULT=2 HARDENING_MODE=2 ABI_VERSION=1 ABI_NAMESPACE=__1 HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1)
  string(APPEND CMAKE_CXX_FLAGS_INIT " -D_LIBCPP_${setting}")
endforeach()
foreach(feature IN ITEMS THREADS THREAD_API_PTHREAD MONOTONIC_CLOCK LOCALIZATION WIDE_CHARACTERS UNICODE TERMINAL FILESYSTEM RANDOM_DEVICE TIME_ZONE_DATABASE)
  string(APPEND CMAKE_CXX_FLAGS_INIT " -D_LIBCPP_HAS_${feature}=1")
endforeach()
# a signature that names no one, which the system asks of all code
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-fuse-ld=lld -nostdlib -Wl,-adhoc_codesign ${headers}/libc/darwin/libSystem.tbd ${CMAKE_CURRENT_LIST_DIR}/libc++.tbd")
# programs cannot be linked without what starts them
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
