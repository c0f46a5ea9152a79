import { writeOutExact } from '../support/write-out.js'
import type { CPU } from '../support/generated/interfaces.js'
import { adaptiveAverage, adaptiveMax, average, maxPoolNd, maxPoolWithIndices } from './pooling.js'

/** torch.max_pool1d and its kin: input [n, c, ...] or [c, ...]; an empty stride is the window. */
export const max_pool1d = maxPoolNd(1)
export const max_pool3d = maxPoolNd(3)
export const max_pool1d_with_indices = maxPoolWithIndices(1)
export const max_pool3d_with_indices = maxPoolWithIndices(3)

/** torch.avg_pool1d. */
export const avg_pool1d: CPU['avg_pool1d'] = (self, window, stride, padding, ceilMode, countIncludePad) =>
  average(1, self, window, stride, padding, ceilMode, countIncludePad, null)

/** torch.avg_pool3d. */
export const avg_pool3d: CPU['avg_pool3d'] = (self, window, stride, padding, ceilMode, countIncludePad, divisorOverride, out) =>
  writeOutExact(average(3, self, window, stride, padding, ceilMode, countIncludePad, divisorOverride), out, 'avg_pool3d')

/** Pooling to a given size: input [n, c, ...] or [c, ...]. */
export const adaptive_avg_pool1d = adaptiveAverage(1)
export const adaptive_avg_pool3d = adaptiveAverage(3)
export const adaptive_max_pool1d = adaptiveMax(1)
export const adaptive_max_pool3d = adaptiveMax(3)
