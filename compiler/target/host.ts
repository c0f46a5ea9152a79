import { countBlocks } from '../../runtime/backends/cpu/support/sparse-weight.js'
import { cacheSizes } from '../../runtime/native/caches.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { BLOCK } from '../../runtime/shapes/blocks.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOnce } from '../graph/evaluate.js'
import { CASCADE_LAKE } from './costs.js'
import { estimate } from './sparse-cost.js'
import type { FilterForm, Target } from './target.js'

/** The operators that pack filters. */
const PACKING: Readonly<Record<FilterForm, string>> = {
  direct: 'ptlite::blocked_filter',
  winograd: 'ptlite::winograd_filter',
  grouped: 'ptlite::blocked_grouped_filter',
}

/** This machine with the library that is loaded, at the level in use. */
export function hostTarget(): Target {
  return {
    blockWidth: BLOCK,
    caches: cacheSizes(),
    costs: CASCADE_LAKE,
    capabilities: { blocks: true, winograd: true, jit: kernels.jit_info().state === kernels.JitState.ready },
    packFilter: (filter, form, groups) => callOnce(PACKING[form], form === 'grouped' ? [filter, groups] : [filter])[0] as Tensor,
    packImage: (image) => callOnce('ptlite::to_blocked', [image])[0] as Tensor,
    countBlocks,
    estimate,
  }
}
