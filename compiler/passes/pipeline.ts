import type { Graph } from '../graph/graph.js'
import { activation } from './activation.js'
import { attention } from './attention.js'
import { batchNorm } from './batch-norm.js'
import { blockSparse } from './block-sparse.js'
import { bottlenecks } from './bottlenecks.js'
import { byteTables } from './byte-tables.js'
import { canonical } from './canonical/canonical.js'
import { composed } from './canonical/composed.js'
import { channelSteps } from './channel-steps.js'
import { constantFolding } from './constant-folding.js'
import { copies } from './copies.js'
import { deadCode } from './dead-code.js'
import { elementwise } from './elementwise.js'
import { functionalize } from './functionalize.js'
import { idleTaps } from './idle-taps.js'
import { identities } from './identities.js'
import { layerNorm } from './layer-norm.js'
import { linearRows } from './linear-rows.js'
import { linearLayers } from './linear.js'
import { layout } from './layout.js'
import { DEFAULT_OPTIONS, type Pass, type PassOptions } from './pass.js'
import { permutedSteps } from './permuted-steps.js'
import { postOps } from './post-ops.js'
import { prepacked } from './prepacked.js'
import { quantizedInput } from './quantized-input.js'
import { rmsNorm } from './rms-norm.js'
import { rotary } from './rotary.js'
import { rowMajor } from './row-major.js'
import { scaledFilters } from './scaled-filters.js'
import { signals } from './signals.js'
import { singleWindows } from './single-windows.js'
import { squeezeExcite } from './squeeze-excite.js'
import { stackedChains } from './stacked-chains.js'
import { stridedOperands } from './strided-operands.js'
import { views } from './views.js'

/** Every pass in the order it runs. */
export const PASSES: readonly Pass[] = [
  functionalize,
  deadCode,
  copies,
  constantFolding,
  canonical,
  views,
  identities,
  prepacked,
  constantFolding,
  byteTables,
  composed,
  linearLayers,
  linearRows,
  batchNorm,
  idleTaps,
  layerNorm,
  rmsNorm,
  rotary,
  attention,
  rowMajor,
  stridedOperands,
  permutedSteps,
  deadCode,
  quantizedInput,
  signals,
  channelSteps,
  layout,
  squeezeExcite,
  scaledFilters,
  activation,
  blockSparse,
  bottlenecks,
  elementwise,
  postOps,
  singleWindows,
  stackedChains,
]

/** Runs all passes; `after` sees the graph after each, changed or not. */
export function optimize(
  graph: Graph,
  after?: (pass: Pass, graph: Graph, changed: boolean) => void,
  options: PassOptions = DEFAULT_OPTIONS,
): Graph {
  let current = graph
  for (const pass of PASSES) {
    const next = pass.run(current, options)
    after?.(pass, next, next !== current)
    current = next
  }
  return current
}
