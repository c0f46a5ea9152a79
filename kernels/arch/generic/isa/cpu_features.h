// Features of the CPU that levels depend on: none.
#pragma once

#define PTLITE_FOR_EACH_FEATURE(X)
