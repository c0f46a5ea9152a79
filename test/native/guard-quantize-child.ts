import * as kernels from '../../runtime/native/generated/kernels.js'
import { allocate } from '../../runtime/native/memory.js'

/** Quantizes images of 1 to 5 channels, and of few and many pixels, into blocks of just their size. */
for (let channels = 1; channels <= 5; channels++)
  for (const pixels of [1, 2, 3, 15, 16, 17, 1023, 1024, 1025, 3000])
    for (const batch of [1, 2]) {
      const n = batch * channels * pixels
      const input = allocate(4 * n).address
      const out = allocate(n).address
      kernels.mem_fill({ address: input, bytes: 4 * n, value: 0 })
      kernels.quantize_channels_last({ batch, channels, pixels, dtype: 13, zero_point: 0, inv_scale: 1, in: input, out })
    }
console.log('done')
