// Loads the kernel library with musl and uses it, on threads too. Prints "fine", or what is not.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct header {
  uint32_t kernel;
  int32_t detail;
  uint64_t host;
};
struct alloc {
  struct header header;
  int64_t bytes;
  uint64_t address;
};
struct fill {
  struct header header;
  uint64_t address;
  int64_t bytes;
  int32_t value;
};

static int32_t (*launch)(void* frame, void* host);
static uint32_t (*count)(void);
static const char* (*name_of)(uint32_t kernel);
static int32_t (*level)(void);

static void expect(int holds, const char* what) {
  if (holds) return;
  puts(what);
  exit(1);
}

static uint32_t kernel(const char* name) {
  for (uint32_t i = 0; i < count(); i++)
    if (strcmp(name_of(i), name) == 0) return i;
  puts(name);
  exit(1);
}

static const int64_t kBytes = 1 << 24;

/// A block of the thread's, which is filled and not given back.
static void* use(void* unused) {
  (void)unused;
  struct alloc alloc = {{kernel("mem_alloc"), 0, 0}, kBytes, 0};
  expect(launch(&alloc, NULL) == 0 && alloc.address % 64 == 0, "memory");
  struct fill fill = {{kernel("mem_fill"), 0, 0}, alloc.address, kBytes, 7};
  expect(launch(&fill, NULL) == 0, "a kernel");
  const uint8_t* const bytes = (const uint8_t*)alloc.address;
  expect(bytes[0] == 7 && bytes[kBytes - 1] == 7, "what a kernel writes");
  return (void*)alloc.address;
}

int main(int arguments, char** argument) {
  expect(arguments == 2, "the path of the library");
  void* const library = dlopen(argument[1], RTLD_NOW | RTLD_LOCAL);
  expect(library != NULL, library == NULL ? dlerror() : "");
  launch = (int32_t(*)(void*, void*))dlsym(library, "ptlite_launch");
  count = (uint32_t(*)(void))dlsym(library, "ptlite_kernel_count");
  name_of = (const char* (*)(uint32_t))dlsym(library, "ptlite_kernel_name");
  level = (int32_t(*)(void))dlsym(library, "ptlite_current_level");
  expect(launch && count && name_of && level && count() > 100 && level() >= 0, "the functions of the library");
  use(NULL);
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    void* block;
    expect(pthread_create(&thread, NULL, use, NULL) == 0 && pthread_join(thread, &block) == 0, "a thread");
    expect(msync(block, 4096, MS_ASYNC) != 0 && errno == ENOMEM, "that a thread's memory goes with it");
  }
  const pid_t child = fork();
  if (child == 0) {
    use(NULL);
    _exit(0);
  }
  int status;
  expect(waitpid(child, &status, 0) == child && status == 0, "a child process");
  puts("fine");
  return 0;
}
