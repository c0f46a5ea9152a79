// For the linker alone, in a library by the name of libdl.so.2. It would take this function from glibc's loader and note that the library needs a file of
// that name, which musl does not have; like this it is looked for among all functions of the process. Both C libraries know libdl.so.2.
extern "C" __attribute__((visibility("default"))) void* __tls_get_addr(void*) { return nullptr; }
