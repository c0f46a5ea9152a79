// The library is to load with glibc 2.28: of functions that have newer versions it takes the oldest, which later ones keep. The newer mathematical
// ones leave out errno, which nobody asks for; the others stood in libraries of their own before. Included in front of every file.
#pragma once

#include <features.h>

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))

#if defined(__x86_64__)
#define PTLITE_OLDEST "GLIBC_2.2.5"
#else
#define PTLITE_OLDEST "GLIBC_2.17"
#endif
#define PTLITE_TAKE(name) __asm__(".symver " #name "," #name "@" PTLITE_OLDEST)

PTLITE_TAKE(exp);
PTLITE_TAKE(exp2);
PTLITE_TAKE(log);
PTLITE_TAKE(log2);
PTLITE_TAKE(pow);
PTLITE_TAKE(hypot);
PTLITE_TAKE(hypotf);
PTLITE_TAKE(dlerror);
PTLITE_TAKE(dlopen);
PTLITE_TAKE(dlsym);
PTLITE_TAKE(pthread_attr_setstacksize);
PTLITE_TAKE(pthread_create);
PTLITE_TAKE(pthread_once);

#undef PTLITE_TAKE
#undef PTLITE_OLDEST

#endif
