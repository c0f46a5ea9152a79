// No arithmetic on vectors of float16: kernels take the way through float32.
#pragma once
