import { countBlocks } from '../../runtime/operators/cpu/support/sparse-weight.js'
import { cacheSizes } from '../../runtime/native/caches.js'
import { cpu } from '../../runtime/native/cpu.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { arch } from '../../runtime/platform.js'
import { BLOCK } from '../../runtime/shapes/blocks.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { callOnce } from '../graph/evaluate.js'
import { CASCADE_LAKE, costsOfLanes } from './costs.js'
import { estimate } from './sparse-products.js'
import type { FilterForm, Target } from './target.js'

/** The operators that pack filters. */
const PACKING: Readonly<Record<FilterForm, string>> = {
  direct: 'ptlite::blocked_filter',
  winograd: 'ptlite::winograd_filter',
  grouped: 'ptlite::blocked_grouped_filter',
}

/**
 * On x86 generated code leaves blocks of zeros out; what is compiled for levels without it does not reach dense products. On processors that
 * no code is generated for it is measured like everything else.
 */
function sparseProducts(): boolean {
  const { state } = kernels.jit_info()
  return state === kernels.JitState.ready || (state === kernels.JitState.no_instructions && arch !== 'x64')
}

/** This machine with the library that is loaded, at the level in use. */
export function hostTarget(): Target {
  return {
    blockWidth: BLOCK,
    caches: cacheSizes(),
    costs: arch === 'x64' ? CASCADE_LAKE : costsOfLanes(cpu.vectorLength(DType.float32)),
    capabilities: { blocks: true, winograd: true, sparse: sparseProducts(), tiles: cpu.levelsInUse().includes('AMX') },
    packFilter: (filter, form, groups) => callOnce(PACKING[form], form === 'grouped' ? [filter, groups] : [filter])[0] as Tensor,
    packImage: (image) => callOnce('ptlite::to_blocked', [image])[0] as Tensor,
    countBlocks,
    estimate,
  }
}
