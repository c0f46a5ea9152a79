// CPU features by the bits with which Linux reports them: X(name, vector, bit), vector 16 = AT_HWCAP, 26 = AT_HWCAP2; names as in /proc/cpuinfo.
// The order is the order in which they are listed to users.
#pragma once

#define PTLITE_FOR_EACH_FEATURE(X) \
  X(fp, 16, 0)                     \
  X(asimd, 16, 1)                  \
  X(aes, 16, 3)                    \
  X(pmull, 16, 4)                  \
  X(sha1, 16, 5)                   \
  X(sha2, 16, 6)                   \
  X(crc32, 16, 7)                  \
  X(atomics, 16, 8)                \
  X(fphp, 16, 9)                   \
  X(asimdhp, 16, 10)               \
  X(asimdrdm, 16, 12)              \
  X(asimddp, 16, 20)               \
  X(asimdfhm, 16, 23)              \
  X(sve, 16, 22)                   \
  X(sve2, 26, 1)                   \
  X(svei8mm, 26, 9)                \
  X(svebf16, 26, 12)               \
  X(i8mm, 26, 13)                  \
  X(bf16, 26, 14)                  \
  X(sme, 26, 23)
